#!/usr/bin/env bash
# Packages the extension with the daemon for this platform:
#
#   scripts/vsix.sh DAEMON     with this daemon; prints the package's name
#   scripts/vsix.sh --thin     without a daemon: agentvoice.daemon.path must be set
#
# The package's content is assembled in out/vsix/TARGET. The daemon is bundled for the platform
# that the script runs on: it has parts in C, which are not cross-compiled here.
# .github/workflows/package.yml runs the script on each platform.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "${OUT:-out}/vsix"
out=$(cd "${OUT:-out}/vsix" && pwd)
root=$PWD

thin=false daemon=${1:-}
case $daemon in
  --thin) thin=true ;;
  '' | -*)
    echo "vsix: give the daemon, or --thin" >&2
    exit 2
    ;;
esac

os=$(uname -s)
case $os in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  MINGW* | MSYS* | CYGWIN*) os=win32 ;;
  *)
    echo "vsix: $os is not supported" >&2
    exit 1
    ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *)
    echo "vsix: $(uname -m) is not supported" >&2
    exit 1
    ;;
esac
target=$os-$arch
stage=$out/$target

rm -rf "$stage"
mkdir -p "$stage"
(cd extension && node manifest.mjs --check && node esbuild.mjs --production)
mkdir "$stage/dist"
cp extension/dist/{extension,keeper,window,panel}.js extension/dist/{panel.css,licenses.txt} "$stage/dist"
cp -r extension/{package.json,package.nls*.json,l10n,media,README.md} "$stage"
cp LICENSE CHANGELOG.md THIRD_PARTY.md "$stage"
# The checkout's npm scripts do not belong in the package.
node -e '
  const fs = require("node:fs"), file = process.argv[1], m = JSON.parse(fs.readFileSync(file, "utf8"));
  delete m.scripts; delete m.devDependencies; delete m.dependencies;
  fs.writeFileSync(file, JSON.stringify(m, null, 2) + "\n");
' "$stage/package.json"
$thin || scripts/bundle-daemon.sh "$daemon" "$stage/bin"

version=$(node -p 'require("./extension/package.json").version')
vsix=$out/agent-voice-$target-$version.vsix
pre=
if scripts/version.sh --is-pre-release; then pre=--pre-release; fi
(cd "$stage" && "$root/extension/node_modules/.bin/vsce" package --no-dependencies ${pre:+"$pre"} --allow-unused-files-pattern --target "$target" --out "$vsix.new") >"$out/package.log" 2>&1 || {
  cat "$out/package.log" >&2
  exit 1
}
mv "$vsix.new" "$vsix" # in one step: who reads it has the old one or the new one
if ! $thin; then
  (cd extension && AGENTVOICE_VSIX=$vsix npm run --silent test:vsix) >"$out/test.log" 2>&1 || {
    cat "$out/test.log" >&2
    echo "vsix: the package was built but fails its tests" >&2
    exit 1
  }
fi
echo "${vsix#"$root/"}"
