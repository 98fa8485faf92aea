#!/usr/bin/env bash
# Builds what people install, for this platform, in out/packages: an archive, on Linux a Debian package, the packages
# of npm, the installers, an SBOM, and SHA256SUMS of all of them.
#
#   scripts/packages.sh DAEMON              builds everything around a daemon
#   scripts/packages.sh --manifests FOLDER  writes the manifests of Homebrew, Scoop and winget for the archives in a
#                                           folder, which have to be those of a release
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Pinned; each is run, and nothing of it is in a package.
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0
cyclonedx=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

fail() {
  echo "packages: $*" >&2
  exit 1
}

# sum_of FILE: prints its SHA-256.
sum_of() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1; }

manifests() {
  local folder=$1 version template target archive
  version=$(scripts/version.sh)
  [[ $version != *dev* ]] || fail "manifests are for releases: tag this commit v$(scripts/version.sh --plain)"
  for template in scripts/packaging/manifests/*; do
    local text name
    text=$(<"$template")
    text=${text//@VERSION@/$version}
    for target in linux-x64 linux-arm64 darwin-x64 darwin-arm64 win32-x64; do
      archive=$folder/agentvoice-$version-$target.tar.gz
      [[ $target != win32-* ]] || archive=$folder/agentvoice-$version-$target.zip
      if [[ $text == *"@SHA256 $target@"* ]]; then
        [[ -f $archive ]] || fail "$archive is missing: put the archives of all platforms into $folder"
        text=${text//"@SHA256 $target@"/$(sum_of "$archive")}
      fi
    done
    name=$(basename "$template")
    printf '%s\n' "$text" >"$folder/$name"
  done
}

if [[ ${1:-} == --manifests ]]; then
  manifests "${2:?needs a folder}"
  exit
fi
daemon=${1:?needs the daemon}
out=${OUT:-out}/packages
mkdir -p "$out"
out=$(cd "$out" && pwd)

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  MINGW* | MSYS* | CYGWIN*) os=win32 ;;
  *) fail "there are no packages for $(uname -s)" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=x64 goarch=amd64 ;;
  aarch64 | arm64) arch=arm64 goarch=arm64 ;;
  *) fail "there are no packages for $(uname -m)" ;;
esac
version=$(scripts/version.sh)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) # of the files in the packages
export SOURCE_DATE_EPOCH
name=agentvoice-$version-$os-$arch
stage=$out/$name

rm -rf "${out:?}"/*
mkdir -p "$stage"
scripts/bundle-daemon.sh "$daemon" "$stage"
cp LICENSE THIRD_PARTY.md CHANGELOG.md "$stage"

echo "packages: the SBOM"
go run "$cyclonedx" app -json -licenses -std=false -main cmd/agentvoice-daemon -output "$out/modules.json" . 2>"$out/sbom.log" || {
  cat "$out/sbom.log" >&2
  exit 1
}
node scripts/packaging/sbom.mjs "$out/modules.json" "$stage" "$version" "$stage/sbom.cdx.json"
cp "$stage/sbom.cdx.json" "$out/$name.cdx.json"
rm "$out/modules.json" "$out/sbom.log"

echo "packages: the archive"
tar=tar
[[ $os != darwin ]] || tar=gtar # that of the system lacks the options
if [[ $os == win32 ]]; then
  (cd "$out" && zip -qr "$name.zip" "$name")
else
  # The same files make the same archive.
  (cd "$out" && find "$name" -print0 | LC_ALL=C sort -z |
    $tar --no-recursion --null -T - --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - | gzip -n >"$name.tar.gz")
fi

if [[ $os == linux ]]; then
  echo "packages: the Debian package"
  glibc=$(find "$stage" -type f \( -name '*.so*' -o -name agentvoice-daemon \) -exec objdump -T {} + 2>/dev/null |
    grep -o 'GLIBC_2\.[0-9]*' | cut -d_ -f2 | sort -uV | tail -n 1)
  PACKAGE_STAGE=$stage PACKAGE_ARCH=$goarch PACKAGE_VERSION=$version PACKAGE_GLIBC=$glibc GOFLAGS='' \
    go run "$nfpm" package --config scripts/packaging/nfpm.yaml --packager deb --target "$out/" >/dev/null
fi

echo "packages: npm"
npm_pack() { (cd "$1" && npm pack --silent --pack-destination "$out" >/dev/null); }
mkdir -p "$out/npm"
cp -r scripts/packaging/npm "$out/npm/agentvoice"
cp LICENSE "$out/npm/agentvoice"
mv "$stage" "$out/npm/$os-$arch"
node -e '
  const fs = require("node:fs"), [version, os, cpu, out] = process.argv.slice(1);
  const main = JSON.parse(fs.readFileSync(`${out}/npm/agentvoice/package.json`, "utf8"));
  const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];
  main.version = version;
  main.optionalDependencies = Object.fromEntries(platforms.map((p) => [`@agentvoice/${p}`, version]));
  fs.writeFileSync(`${out}/npm/agentvoice/package.json`, JSON.stringify(main, null, 2) + "\n");
  const { license, homepage, repository } = main;
  const one = { name: `@agentvoice/${os}-${cpu}`, version, description: `Agent Voice for ${os} on ${cpu}`, license, homepage, repository, os: [os], cpu: [cpu], preferUnplugged: true };
  fs.writeFileSync(`${out}/npm/${os}-${cpu}/package.json`, JSON.stringify(one, null, 2) + "\n");
' "$version" "$os" "$arch" "$out"
npm_pack "$out/npm/agentvoice"
npm_pack "$out/npm/$os-$arch"
rm -rf "$out/npm"

cp scripts/packaging/install.sh scripts/packaging/install.ps1 "$out"
(cd "$out" && for file in *; do [[ $file == SHA256SUMS* ]] || echo "$(sum_of "$file")  $file"; done >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
(cd "$out" && ls -l | awk 'NR > 1 { printf "%8.1f MB  %s\n", $5 / 1e6, $NF }')
