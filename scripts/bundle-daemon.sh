#!/usr/bin/env bash
# Bundles a daemon with its dependencies in a folder from which it runs on a machine where
# nothing was installed:
#
#   scripts/bundle-daemon.sh DAEMON FOLDER
#
# FOLDER/
#   agentvoice-daemon   with its search path for libraries set to the next two
#   lib/                libraries that we always ship
#   lib/system/         libraries that belong to the machine's sound server: ours
#                       are used only if the machine has none. That of JACK is a
#                       stub that reports that there is no server
#   licenses/           licences of the libraries, models and Go modules
#   assets/             the voice detector, the recogniser (moonshine-tiny-en/), the
#                       voice (kokoro-82m-int8/) and their runtime; the engine for
#                       other models (sherpa-onnx) with its own; the model of the
#                       recogniser of last resort (pocketsphinx/); a configuration
#                       for ALSA
#
# On macOS and Windows otool and dumpbin find the libraries; see below.
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

# What every Linux system must provide itself: the C library and its loader.
theirs='^(ld-linux.*|linux-vdso|libc|libm|libpthread|libdl|librt|libresolv)\.so'
# Libraries of the sound server: another version may not be able to connect to it.
alsa='^libasound\.so' jack='^(libjack|libdb-5\.3)\.so'

# empty_library NAME PREFIX: builds a library with the functions of that prefix that PortAudio
# calls; each does nothing and returns 0.
empty_library() {
  nm -D --undefined-only "$(ldconfig -p | awk '$1 == "libportaudio.so.2" { print $NF; exit }')" |
    awk -v prefix="$2" 'index($NF, prefix) == 1 { print "void *" $NF "(void) { return 0; }" }' |
    gcc -shared -fPIC -Os -s -Wl,-soname,"$1" -x c - -o "$folder/lib/system/$1"
}

# licence_of LIBRARY: prints the licence text of its package.
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
    # For systems that have no configuration of ALSA.
  mkdir -p "$folder/assets/alsa"
  cp -L /usr/share/alsa/alsa.conf "$folder/assets/alsa/"
    # An old-style search path (RPATH) of the program also applies to libraries of its libraries.
    # The system's libraries come between ours and the fallbacks for the sound server.
  local system="/usr/lib/$(gcc -print-multiarch):/lib/$(gcc -print-multiarch):/usr/lib64:/lib64:/usr/lib:/lib"
  patchelf --force-rpath --set-rpath "\$ORIGIN/lib:$system:\$ORIGIN/lib/system" "$exe"
  local lib
  for lib in "$folder"/lib/*.so* "$folder"/lib/system/*.so*; do
    patchelf --remove-rpath "$lib"
  done
}

# Copies a Mach-O file's Homebrew dependencies next to the daemon, and changes the file to load
# them from there; recursively for the copies.
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

# Windows looks for libraries next to the program.
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

# The assets that setup.sh has downloaded and verified.
assets=$("$here/setup.sh" --where)
cp "$assets"/{silero_vad_v6.onnx,*onnxruntime*1.32.0*} "$folder/assets/"
for model in moonshine-tiny-en kokoro-82m-int8; do
  [[ ! -f $assets/$model/model.json ]] || cp -r "$assets/$model" "$folder/assets/"
  [[ ! -f $assets/$model/LICENSE.txt ]] || cp "$assets/$model/LICENSE.txt" "$folder/licenses/$model.txt"
done
[[ ! -d $assets/onnxruntime ]] || cp -r "$assets/onnxruntime" "$folder/licenses/"
# The engine for models that users install, with its own runtime.
for library in "$assets"/*sherpa-onnx-c-api.* "$assets"/*onnxruntime.{so,dylib,dll}; do
  [[ ! -f $library ]] || cp "$library" "$folder/assets/"
done
# Apache-2.0, like Kokoro; its package has no copy of it.
[[ ! -f $assets/kokoro-82m-int8/LICENSE.txt ]] || cp "$assets/kokoro-82m-int8/LICENSE.txt" "$folder/licenses/sherpa-onnx.txt"

cp internal/assets/silero.LICENSE.txt "$folder/licenses/silero.txt"
cp internal/vocab/common.LICENSE.txt "$folder/licenses/scowl.txt"
cp internal/vocab/letters.LICENSE.txt "$folder/licenses/cmudict.txt"
# The echo canceller of builds without WebRTC's library.
if go list -deps ./cmd/agentvoice-daemon | grep /audio/aec3$ >/dev/null; then
  cp audio/aec3/aec3.LICENSE.txt "$folder/licenses/aec3.txt"
fi
cp "$(go env GOROOT)/LICENSE" "$folder/licenses/go.txt"
# The modules in the daemon.
while read -r module source; do
  mkdir -p "$folder/licenses/$(dirname "$module")"
  find "$source" -maxdepth 1 -type f -iname 'licen[cs]e*' -exec cat {} + >"$folder/licenses/$module.txt"
  [[ -s $folder/licenses/$module.txt ]] || fail "$module has no licence"
done < <(go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}' ./cmd/agentvoice-daemon | sort -u)

# The stock English model of PocketSphinx, from the system's package.
models=$(pkg-config --variable=modeldir pocketsphinx 2>/dev/null || true)
if [[ -n $models && -d $models/en-us ]]; then
  mkdir -p "$folder/assets/pocketsphinx/en-us"
  cp -r "$models"/en-us/{en-us,en-us.lm.bin,cmudict-en-us.dict} "$folder/assets/pocketsphinx/en-us/"
  [[ ! -e /usr/share/doc/pocketsphinx-en-us/copyright ]] || cp -L /usr/share/doc/pocketsphinx-en-us/copyright "$folder/licenses/pocketsphinx-en-us.txt"
fi

# Other users may run it, whatever the rights of the files that were copied.
chmod -R a+rX "$folder"
