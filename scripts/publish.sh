#!/usr/bin/env bash
# Publishes the extension's packages of all platforms in both marketplaces:
#
#   scripts/publish.sh --dry-run FOLDER   checks the packages, and says what would be published
#   scripts/publish.sh FOLDER             publishes; VSCE_PAT and OVSX_PAT are the tokens
#
# A version whose second number is odd is a pre-release, as the editor's marketplace recommends.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ovsx=ovsx@1.4.0

fail() {
  echo "publish: $*" >&2
  exit 1
}

dry=false
if [[ ${1:-} == --dry-run ]]; then
  dry=true
  shift
fi
[[ $# -eq 1 && -d $1 ]] || fail "give the folder with the packages"
folder=$1
version=$(scripts/version.sh)
if [[ $version == *dev* ]]; then
  $dry || fail "this commit is no release: tag it v$(scripts/version.sh --plain)"
  version=$(scripts/version.sh --plain)
fi
pre=()
if scripts/version.sh --is-pre-release; then pre=(--pre-release); fi
if ! $dry; then
  [[ ${VSCE_PAT:-} ]] || fail "VSCE_PAT is not set: it is a token of the editor's marketplace"
  [[ ${OVSX_PAT:-} ]] || fail "OVSX_PAT is not set: it is a token of Open VSX"
fi

# Not Alpine: ONNX Runtime and sherpa-onnx are built for glibc only. Not Windows on Arm: sherpa-onnx has no library
# for it; the package for x64 runs there in emulation.
targets=(linux-x64 linux-arm64 darwin-x64 darwin-arm64 win32-x64)
missing=()
for target in "${targets[@]}"; do
  vsix=$folder/agent-voice-$target-$version.vsix
  if [[ ! -f $vsix ]]; then
    missing+=("$target")
    continue
  fi
  manifest=$(unzip -p "$vsix" extension.vsixmanifest) || fail "$vsix is no package"
  [[ $manifest == *" Version=\"$version\""* ]] || fail "$vsix has another version inside"
  [[ $manifest == *"TargetPlatform=\"$target\""* ]] || fail "$vsix is for another platform"
  if [[ $manifest == *Microsoft.VisualStudio.Code.PreRelease* ]]; then marked=1; else marked=0; fi
  ((marked == ${#pre[@]})) || fail "$vsix is not marked as version $version should be: package it again"
  echo "$target  $version${pre[*]:+  pre-release}  $(du -h "$vsix" | cut -f1)"
done
if ((${#missing[@]})); then
  $dry || fail "there is no package for ${missing[*]}"
  echo "missing here: ${missing[*]}"
fi
if $dry; then
  exit 0
fi
for target in "${targets[@]}"; do
  vsix=$folder/agent-voice-$target-$version.vsix
  extension/node_modules/.bin/vsce publish --skip-duplicate ${pre[@]+"${pre[@]}"} --packagePath "$vsix"
  npx --yes "$ovsx" publish --skip-duplicate ${pre[@]+"${pre[@]}"} --packagePath "$vsix"
done
