#!/usr/bin/env bash
# Downloads a coding agent that the tests drive, unmodified and pinned, from npm to the user's
# cache folder. Does nothing if it is there.
#
#   scripts/agents.sh [AGENT]          downloads what is missing
#   scripts/agents.sh --where [AGENT]  prints the folder with the program, downloads nothing
#
# The default is codex-acp (460 MB, for `make agents`); gemini (100 MB), opencode (180 MB) and kilo
# (230 MB) are for `make full`. All need Node.js, whose npm downloads them. codex-acp consists of many
# packages: scripts/agents/codex-acp pins each by its hash. opencode and kilo are native programs:
# the packages that users install bring the same package for Linux and link its program.
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
    package=@agentclientprotocol/codex-acp version=2.6.0 program=node_modules/@agentclientprotocol/codex-acp/dist/index.js
    sha256=
    ;;
  gemini)
    package=@google/gemini-cli version=0.61.0 program=package/bundle/gemini.js
    sha256=bc4efa5c925c4430105b552820ed3164bbeffa9dc227990fc922f954733bcd7d
    ;;
  opencode)
    package=opencode-linux-x64 version=1.18.33 program=package/bin/opencode
    sha256=149a676b59224b196626abda2fdbd34c8329ac326b57c4891ba3de446f3ca3c1
    ;;
  kilo)
    package=@kilocode/cli-linux-x64 version=7.7.9 program=package/bin/kilo
    sha256=01cdbf6efd4742b4ecaada7cf11259cd7520f21ab58013bb1ac7df7e25df28e3
    ;;
  *)
    echo "agents: unknown argument $agent; use codex-acp, gemini, opencode or kilo" >&2
    exit 2
    ;;
esac

[[ $(uname -s)-$(uname -m) == Linux-x86_64 ]] || fail "the agents are tested on Linux on x86-64 only"
lock=$(cd "$(dirname "$0")" && pwd)/agents/$agent
cache=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/agentvoice/agents
[[ $cache == /* ]] || fail "the cache folder must be an absolute path: check XDG_CACHE_HOME"
dir=$cache/$agent-$version
if [[ $where ]]; then
  echo "$dir"
  exit 0
fi

if [[ -x $dir/$agent ]]; then
  if [[ $sha256 ]] || cmp -s "$lock/package-lock.json" "$dir/package-lock.json"; then exit 0; fi
fi
command -v npm >/dev/null || fail "npm is missing: install Node.js, then run this again"
mkdir -p "$cache"
scratch=$(mktemp -d "$cache/new.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
lost="npm could not fetch $agent $version: check the network and npm's settings"
if [[ $sha256 ]]; then
  (cd "$scratch" && npm pack --silent "$package@$version" >/dev/null) || fail "$lost"
  echo "$sha256  $(echo "$scratch"/*.tgz)" | sha256sum --check --quiet ||
    fail "the package of $agent $version is not the pinned one"
  tar -xzf "$scratch"/*.tgz -C "$scratch"
  rm "$scratch"/*.tgz
else
  cp "$lock"/package*.json "$scratch"
  (cd "$scratch" && npm ci --silent --ignore-scripts --no-audit --no-fund) || fail "$lost"
fi
chmod 755 "$scratch" "$scratch/$program"
ln -s "$program" "$scratch/$agent"
rm -rf "$dir"
mv "$scratch" "$dir"
