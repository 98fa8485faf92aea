#!/usr/bin/env bash
# Prints the version of what is built: that of extension/package.json, with the commit where no tag of it is here.
#
#   scripts/version.sh           1.2.3, or 1.2.3-dev+39237831d084
#   scripts/version.sh --plain   1.2.3, for packages whose versions are numbers only
#   scripts/version.sh --is-pre-release   succeeds if it is one: the second number is odd
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' extension/package.json)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || {
  echo "version: extension/package.json has no version of three numbers" >&2
  exit 1
}
tag=$(git tag --points-at HEAD --list 'v*' 2>/dev/null | head -n 1)
if [[ -n $tag && $tag != "v$version" ]]; then
  echo "version: the tag is $tag and extension/package.json has $version: make them equal" >&2
  exit 1
fi
if [[ ${1:-} == --is-pre-release ]]; then
  [[ $version =~ ^[0-9]+\.[0-9]*[13579]\. ]]
elif [[ ${1:-} == --plain || -n $tag ]]; then
  echo "$version"
else
  echo "$version-dev+$(git rev-parse --short=12 HEAD)"
fi
