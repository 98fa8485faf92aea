#!/usr/bin/env bash
# Puts a daemon, and what it needs beside it, into a folder from which it runs on a
# machine where nothing was installed:
#
#   scripts/bundle-daemon.sh DAEMON FOLDER
#
# FOLDER/
#   agentvoice-daemon   with its search path for libraries set to the next two
#   lib/                libraries that are always ours
#   lib/system/         those that belong to the sound server of the machine: ours
#                       are only used where the machine has none. That of JACK is
#                       empty: it says that there is no server
#   licenses/           under which the libraries and models are given on
#   assets/             the voice detector and its runtime, and the model of the
#                       local recognition (pocketsphinx/); a configuration for ALSA
#
# On macOS and Windows the libraries are found by otool and by dumpbin; see below.
set -euo pipefail
daemon=$1 folder=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
  echo "bundle: $*" >&2
  exit 1
}

mkdir -p "$folder/lib" "$folder/assets" "$folder/licenses"
exe=$folder/$(basename "$daemon")
cp "$daemon" "$exe"

# What every Linux has, and has to have of its own: the C library and its loader.
theirs='^(ld-linux.*|linux-vdso|libc|libm|libpthread|libdl|librt|libresolv)\.so'
# Of the sound server: a library of another version may not reach it.
alsa='^libasound\.so' jack='^(libjack|libdb-5\.3)\.so'

# empty_library NAME PREFIX: a library with the functions of that prefix that
# PortAudio calls; each does nothing and returns nothing.
empty_library() {
  nm -D --undefined-only "$(ldconfig -p | awk '$1 == "libportaudio.so.2" { print $NF; exit }')" |
    awk -v prefix="$2" 'index($NF, prefix) == 1 { print "void *" $NF "(void) { return 0; }" }' |
    gcc -shared -fPIC -Os -s -Wl,-soname,"$1" -x c - -o "$folder/lib/system/$1"
}

# licence_of LIBRARY: the words under which its package is given on.
licence_of() {
  command -v dpkg-query >/dev/null || return 0
  local package
  package=$(dpkg-query -S "*/$(basename "$(readlink -f "$1")")" 2>/dev/null | head -n 1 | cut -d: -f1)
  [[ -z $package ]] || cp -L "/usr/share/doc/$package/copyright" "$folder/licenses/$package.txt"
}

bundle_linux() {
  command -v patchelf >/dev/null || fail "patchelf is missing: install it, for example with apt-get install patchelf"
  local name path
  mkdir -p "$folder/lib/system"
  while read -r name path; do
    [[ $name =~ $theirs ]] && continue
    [[ -n $path ]] || fail "$name is not on this machine: run make deps"
    if [[ $name =~ $jack ]]; then
      [[ $name != libjack* ]] || empty_library "$name" jack_
      continue
    fi
    licence_of "$path"
    if [[ $name =~ $alsa ]]; then
      cp -L "$path" "$folder/lib/system/$name"
    else
      cp -L "$path" "$folder/lib/$name"
    fi
  done < <(ldd "$daemon" | awk '/=>/ { print $1, ($3 ~ /^\//) ? $3 : "" } /^[[:space:]]*\/.*ld-linux/ { next }' | sort -u)
  chmod 644 "$folder"/lib/*.so* "$folder"/lib/system/*.so*
  # An old-style search path of the program holds for the libraries of its libraries
  # too. Between ours and the stand-ins for the sound server come the system's.
  # The library of ALSA stops the process where it has no configuration.
  mkdir -p "$folder/assets/alsa"
  cp -L /usr/share/alsa/alsa.conf "$folder/assets/alsa/"
  local system="/usr/lib/$(gcc -print-multiarch):/lib/$(gcc -print-multiarch):/usr/lib64:/lib64:/usr/lib:/lib"
  patchelf --force-rpath --set-rpath "\$ORIGIN/lib:$system:\$ORIGIN/lib/system" "$exe"
  local lib
  for lib in "$folder"/lib/*.so* "$folder"/lib/system/*.so*; do
    patchelf --remove-rpath "$lib"
  done
}

# Copies what a Mach-O file needs from Homebrew beside the daemon, and has it looked
# for there; what was copied needs the same.
bundle_darwin() {
  local file=$1 path name
  otool -L "$file" | awk 'NR > 1 { print $1 }' | while read -r path; do
    [[ $path == /usr/lib/* || $path == /System/* || $path == @* ]] && continue
    name=$(basename "$path")
    if [[ ! -e $folder/lib/$name ]]; then
      cp -L "$path" "$folder/lib/$name"
      chmod 644 "$folder/lib/$name"
      install_name_tool -id "@rpath/$name" "$folder/lib/$name"
      bundle_darwin "$folder/lib/$name"
    fi
    install_name_tool -change "$path" "@rpath/$name" "$file"
  done
  codesign --force --sign - "$file"
}

# Windows looks for libraries beside the program.
bundle_windows() {
  local path
  ldd "$daemon" | awk '$3 ~ /^\/(mingw|ucrt|clang)/ { print $3 }' | sort -u | while read -r path; do
    cp "$path" "$folder/"
  done
  rmdir "$folder/lib"
}

case $(uname -s) in
  Linux) bundle_linux ;;
  Darwin)
    install_name_tool -add_rpath @executable_path/lib "$exe"
    bundle_darwin "$exe"
    ;;
  MINGW* | MSYS* | CYGWIN*) bundle_windows ;;
  *) fail "there is no package for $(uname -s)" ;;
esac

# The assets that setup.sh fetched and checked.
cp "$("$here/setup.sh" --where)"/{silero_vad_v6.onnx,*onnxruntime.*} "$folder/assets/"

# The stock English model of PocketSphinx, of the system's package.
cp internal/vocab/common.LICENSE.txt "$folder/licenses/scowl.txt"
models=$(pkg-config --variable=modeldir pocketsphinx 2>/dev/null || true)
if [[ -n $models && -d $models/en-us ]]; then
  mkdir -p "$folder/assets/pocketsphinx/en-us"
  cp -r "$models"/en-us/{en-us,en-us.lm.bin,cmudict-en-us.dict} "$folder/assets/pocketsphinx/en-us/"
  [[ ! -e /usr/share/doc/pocketsphinx-en-us/copyright ]] || cp -L /usr/share/doc/pocketsphinx-en-us/copyright "$folder/licenses/pocketsphinx-en-us.txt"
fi
