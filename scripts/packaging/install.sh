#!/bin/sh
# Installs Agent Voice for the current user, without a compiler and without root:
#
#   sh install.sh                     the newest release
#   sh install.sh --version 1.2.3     this one, also to go back
#   sh install.sh --from FOLDER       from a folder with the archive and SHA256SUMS, without a network
#   sh install.sh --uninstall         removes the program; your record, settings and models stay
#
# The program goes to $XDG_DATA_HOME/agentvoice-app (~/.local/share/agentvoice-app), and a link to ~/.local/bin.
set -eu

releases=https://github.com/agentvoice/agentvoice-daemon/releases
app=${XDG_DATA_HOME:-${HOME:?is not set}/.local/share}/agentvoice-app
bin=$HOME/.local/bin
version='' from='' uninstall=''

fail() {
  echo "install: $*" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --version | --from)
      [ $# -gt 1 ] || fail "$1 needs a value"
      if [ "$1" = --from ]; then from=$2; else version=${2#v}; fi
      shift
      ;;
    --uninstall) uninstall=yes ;;
    *) fail "unknown argument $1; use --version, --from or --uninstall" ;;
  esac
  shift
done

# ours reports whether a link is one that this script made.
ours() { [ -L "$1" ] && case $(readlink "$1") in "$app"/*) true ;; *) false ;; esac; }

if [ "$uninstall" ]; then
  for name in agentvoice agentvoice-daemon; do
    if ours "$bin/$name"; then rm "$bin/$name"; fi
  done
  rm -rf "$app"
  echo "Agent Voice is removed. Your record, settings and models are kept; docs/privacy.md says where they are."
  exit 0
fi

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "there is no archive for $(uname -s); on Windows use install.ps1" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no archive for $(uname -m); docs/install.md says how to build from source" ;;
esac

for link in agentvoice agentvoice-daemon; do
  if [ -e "$bin/$link" ] && ! ours "$bin/$link"; then
    fail "$bin/$link is something else: remove it, then run this again"
  fi
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
command -v sha256sum >/dev/null || command -v shasum >/dev/null || fail "sha256sum is missing: install coreutils"
[ "$from" ] || command -v curl >/dev/null || fail "curl is missing: install it, or give --from"
get() {
  if [ "$from" ]; then
    cp "$from/$1" "$scratch/$1" || fail "$from has no $1"
  else
    curl -fsSL --proto '=https' -o "$scratch/$1" "$url/$1" || fail "$url/$1 cannot be fetched: check the network, or give --from"
  fi
}
url=$releases/latest/download
[ -z "$version" ] || url=$releases/download/v$version

get SHA256SUMS
archive=$(sed -n "s/^[0-9a-f]*  \(agentvoice-${version:-[0-9][0-9A-Za-z.+-]*}-$os-$arch\.tar\.gz\)\$/\1/p" "$scratch/SHA256SUMS" | tail -n 1)
[ "$archive" ] || fail "there is no archive ${version:+of version $version }for $os-$arch"
get "$archive"
(
  cd "$scratch"
  grep "  $archive\$" SHA256SUMS >wanted
  if command -v sha256sum >/dev/null; then sha256sum -c wanted; else shasum -a 256 -c wanted; fi >/dev/null 2>&1
) || fail "$archive is damaged: fetch it again"

mkdir -p "$app" "$bin"
name=${archive%.tar.gz}
tar -xzf "$scratch/$archive" -C "$scratch"
"$scratch/$name/agentvoice-daemon" version >/dev/null || fail "the program does not start on this machine; nothing was changed"
rm -rf "${app:?}/$name"
mv "$scratch/$name" "$app/$name"
for link in agentvoice agentvoice-daemon; do
  ln -sf "$app/$name/agentvoice-daemon" "$bin/$link.new" && mv -f "$bin/$link.new" "$bin/$link"
done
for old in "$app"/agentvoice-*; do
  [ "$old" = "$app/$name" ] || rm -rf "$old"
done
echo "Agent Voice ${name#agentvoice-} is installed: agentvoice talk"
case :$PATH: in *:"$bin":*) ;; *) echo "Add $bin to your PATH, or run $bin/agentvoice talk" ;; esac
