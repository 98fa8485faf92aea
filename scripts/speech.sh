#!/usr/bin/env bash
# Downloads the recordings of internal/testutil/speechdata/recordings.tsv (human speech, coughs,
# backchannels, keys, music) for the benches, from Debian's packages to the user's cache folder (or the
# folder that AGENTVOICE_SPEECH names). The packages are unpacked there, not installed; the
# recordings are for local measurements and are not redistributed. Downloads about 325 MB and
# keeps 30 MB. It is safe to run repeatedly and keeps what is there.
#
#   scripts/speech.sh           downloads what is missing
#   scripts/speech.sh --check   lists what is missing, downloads nothing; exit status 1
#                               if anything is
#
# Two codecs need ffmpeg, which is installed with apt-get if missing.
set -euo pipefail
shopt -s inherit_errexit

say() { echo "speech: $*"; }
fail() {
  echo "speech: $*" >&2
  exit 1
}

check=false
for arg in "$@"; do
  case $arg in
    --check) check=true ;;
    *)
      echo "speech: unknown argument $arg; use --check or no argument" >&2
      exit 2
      ;;
  esac
done

table=$(dirname "${BASH_SOURCE[0]}")/../internal/testutil/speechdata/recordings.tsv
table=$(realpath "$table")
# The folder in which package speechdata looks.
dir=${AGENTVOICE_SPEECH:-${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/agentvoice/speech}
[[ $dir == /* ]] || fail "the folder for the recordings must be an absolute path: check AGENTVOICE_SPEECH and XDG_CACHE_HOME"

rows() { grep -v '^#' "$table"; }

# decoded FILE prints the name of the WAV file that package speechdata reads for it.
decoded() {
  case $1 in
    *.ogg | *.g722) echo "$1.decoded.wav" ;;
    *) echo "$1" ;;
  esac
}

# missing prints the packages with a recording that is missing or does not match its checksum.
missing() {
  local package path sum sums
  sums=$(mktemp)
  while IFS=$'\t' read -r _ package path sum _; do
    if [[ -f $dir/$package/$(decoded "$path") ]]; then
      echo "$sum  $dir/$package/$path" >>"$sums"
    else
      echo "$package"
    fi
  done < <(rows) >"$sums.packages"
  LC_ALL=C sha256sum --check --quiet "$sums" 2>/dev/null |
    sed -n "s|^$dir/\([^/]*\)/.*: FAILED.*|\1|p" >>"$sums.packages" || true
  sort -u "$sums.packages"
  rm -f "$sums" "$sums.packages"
}

# decode FILE writes its WAV file atomically.
decode() {
  local from=$1 to format=()
  to=$(decoded "$from")
  [[ $to != "$from" ]] || return 0
  [[ $from != *.g722 ]] || format=(-f g722)
  ffmpeg -v error -nostdin -y "${format[@]}" -i "$from" -ac 1 -c:a pcm_s16le -f wav "$to.part" ||
    fail "ffmpeg could not decode $from"
  mv -f "$to.part" "$to"
}

# bring PACKAGE unpacks its recordings, verifies each against the table, and decodes them.
bring() {
  local package=$1 path sum paths=()
  say "fetching $package"
  scratch=$(mktemp -d "$dir/.fetch.XXXXXX")
  (cd "$scratch" && apt-get -q download "$package" >/dev/null 2>"$scratch/err") || {
    cat "$scratch/err" >&2
    fail "apt-get could not download $package: run apt-get update, or check the package sources"
  }
  while IFS=$'\t' read -r _ _ path _; do paths+=("./$path"); done < <(rows | grep -F $'\t'"$package"$'\t')
  dpkg-deb --fsys-tarfile "$scratch"/*.deb | tar -x -C "$scratch" "${paths[@]}" ||
    fail "$package does not hold what internal/testutil/speechdata/recordings.tsv names; it is of another release of Debian"
  while IFS=$'\t' read -r _ _ path sum _; do
    echo "$sum  $scratch/$path" | sha256sum --check --quiet >/dev/null 2>&1 ||
      fail "$path of $package has not the checksum that is pinned in internal/testutil/speechdata/recordings.tsv; nothing of the package was kept"
    decode "$scratch/$path"
  done < <(rows | grep -F $'\t'"$package"$'\t')
  rm -rf "${dir:?}/$package"
  mkdir -p "$dir/$package"
  mv "$scratch/usr" "$dir/$package/usr"
  rm -rf "$scratch"
  scratch=
}

install_ffmpeg() {
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0)
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null || fail "ffmpeg is missing, and there is no sudo; as root, run: apt-get install --no-install-recommends ffmpeg"
    apt=(sudo "${apt[@]}")
  fi
  say "installing ffmpeg"
    # --no-remove: never remove a package that the user chose.
  "${apt[@]}" install -y --no-remove --no-install-recommends ffmpeg >/dev/null ||
    fail "apt-get could not install ffmpeg; install it, then run this again"
}

todo=$(missing)
if $check; then
  while read -r package; do
    [[ -z $package ]] || say "missing recordings of $package"
  done <<<"$todo"
  [[ -z $todo ]] || exit 1
  exit 0
fi
[[ -n $todo ]] || exit 0

command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
  fail "the recordings come from Debian's packages, and there is no apt-get here; run this on Debian or Ubuntu, and name the folder with AGENTVOICE_SPEECH"
mkdir -p "$dir"
# Of two concurrent runs, the second waits and then finds nothing to do.
exec 9>"$dir/.lock"
flock 9
scratch=
trap '[[ -z $scratch ]] || rm -rf "$scratch"' EXIT
todo=$(missing)
[[ -z $todo ]] || command -v ffmpeg >/dev/null || install_ffmpeg
apt-cache show hedgewars-data >/dev/null 2>&1 || { # a fresh system has no package lists
  if [[ $EUID -eq 0 ]]; then apt-get -q update >/dev/null; fi
}
while read -r package; do
  [[ -z $package ]] || bring "$package"
done <<<"$todo"
say "$(rows | wc -l) recordings are in $dir"
