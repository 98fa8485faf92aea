#!/usr/bin/env bash
# Builds the libraries that Homebrew and MSYS2 do not have in the required version, from source,
# into a folder:
#
#   scripts/native-libraries.sh FOLDER
#
# For macOS and Windows; on Debian and Ubuntu scripts/setup.sh installs packages.
set -euo pipefail
prefix=$1
mkdir -p "$prefix"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# fetch URL: unpacks a source archive and changes to its folder.
fetch() {
  curl -fsSL --retry 3 "$1" -o source.tar
  mkdir source && tar -xf source.tar -C source --strip-components 1
  cd source
}
done_with() {
  cd "$work" && rm -rf source source.tar
}

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig:${PKG_CONFIG_PATH:-}

fetch https://freedesktop.org/software/pulseaudio/webrtc-audio-processing/webrtc-audio-processing-0.3.1.tar.xz
./configure --prefix="$prefix" --disable-static CXXFLAGS='-O2 -std=gnu++11'
make -j4 install
done_with

for name in sphinxbase pocketsphinx; do
  fetch "https://downloads.sourceforge.net/project/cmusphinx/$name/5prealpha/$name-5prealpha.tar.gz"
    # Current compilers reject code that older ones only warned about.
  ./configure --prefix="$prefix" --without-python --without-lapack CFLAGS='-O2 -fcommon -Wno-implicit-function-declaration -Wno-incompatible-pointer-types'
  make -j4 install
  done_with
done

case $(uname -s) in
  MINGW* | MSYS* | CYGWIN*)
    fetch https://github.com/festvox/flite/archive/refs/tags/v2.2.tar.gz
    ./configure --prefix="$prefix" --enable-shared
    make && make install # its makefiles do not bear -j
    done_with
    ;;
esac
