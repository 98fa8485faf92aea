#!/usr/bin/env bash
# Downloads a coding agent that the tests drive, unmodified and pinned, from npm to the user's
# cache folder. Does nothing if it is there.
#
#   scripts/agents.sh [codex-acp|gemini]          downloads what is missing
#   scripts/agents.sh --where [codex-acp|gemini]  prints the folder with the program, downloads nothing
#
# The default is codex-acp (223 MB, native, for `make agents`); gemini (100 MB, needs
# Node.js) is for `make full`.
set -euo pipefail

fail() {
  echo "agents: $*" >&2
  exit 1
}

where=
if [[ ${1:-} == --where ]]; then
  where=yes
  shift
fi
agent=${1:-codex-acp}
case $agent in
  codex-acp)
    package=@zed-industries/codex-acp-linux-x64 version=0.16.0 program=package/bin/codex-acp
    sha256=9acfd7576986dc571a35479cbbf72790df40c90b9b89b436bc82500372918ee8
    ;;
  gemini)
    package=@google/gemini-cli version=0.61.0 program=package/bundle/gemini.js
    sha256=bc4efa5c925c4430105b552820ed3164bbeffa9dc227990fc922f954733bcd7d
    ;;
  *)
    echo "agents: unknown argument $agent; use codex-acp or gemini" >&2
    exit 2
    ;;
esac

[[ $(uname -s)-$(uname -m) == Linux-x86_64 ]] || fail "the agents are pinned for Linux on x86-64 only"
cache=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/agentvoice/agents
[[ $cache == /* ]] || fail "the cache folder must be an absolute path: check XDG_CACHE_HOME"
dir=$cache/$agent-$version
if [[ $where ]]; then
  echo "$dir"
  exit 0
fi

[[ ! -x $dir/$agent ]] || exit 0
command -v npm >/dev/null || fail "npm is missing: install Node.js, then run this again"
mkdir -p "$cache"
scratch=$(mktemp -d "$cache/new.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && npm pack --silent "$package@$version" >/dev/null) ||
  fail "npm could not fetch $agent $version: check the network and npm's settings"
echo "$sha256  $(echo "$scratch"/*.tgz)" | sha256sum --check --quiet ||
  fail "the package of $agent $version is not the pinned one"
tar -xzf "$scratch"/*.tgz -C "$scratch"
rm "$scratch"/*.tgz
chmod 755 "$scratch" "$scratch/$program"
ln -s "$program" "$scratch/$agent"
rm -rf "$dir"
mv "$scratch" "$dir"
