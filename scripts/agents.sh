#!/usr/bin/env bash
# Brings the coding agent that `make agents` drives: the native program of
# @zed-industries/codex-acp, from npm and pinned, into the user's cache folder (223 MB).
# What is there is left alone.
#
#   scripts/agents.sh          brings what is missing
#   scripts/agents.sh --where  prints the folder with the program, brings nothing
set -euo pipefail

version=0.16.0
sha256=23a9f2af247fc61aa9a895d5ee91a62a35d05a883bddc2c85d1dc6b2be697087

fail() {
  echo "agents: $*" >&2
  exit 1
}

[[ $(uname -s)-$(uname -m) == Linux-x86_64 ]] || fail "the agent is pinned for Linux on x86-64 only"
cache=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/agentvoice/agents
[[ $cache == /* ]] || fail "the cache folder must be an absolute path: check XDG_CACHE_HOME"
dir=$cache/codex-acp-$version

case ${1:-} in
  --where)
    echo "$dir"
    exit 0
    ;;
  '') ;;
  *)
    echo "agents: unknown argument $1; use --where or nothing" >&2
    exit 2
    ;;
esac

[[ ! -x $dir/codex-acp ]] || exit 0
command -v npm >/dev/null || fail "npm is missing: install Node.js, then run this again"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && npm pack --silent "@zed-industries/codex-acp-linux-x64@$version" >/dev/null) ||
  fail "npm could not fetch codex-acp $version: check the network and npm's settings"
tar -xzf "$scratch"/*.tgz -C "$scratch"
echo "$sha256  $scratch/package/bin/codex-acp" | sha256sum --check --quiet ||
  fail "the program of codex-acp $version is not the pinned one"
mkdir -p "$dir"
mv "$scratch/package/bin/codex-acp" "$dir/codex-acp.new"
chmod 755 "$dir/codex-acp.new"
mv "$dir/codex-acp.new" "$dir/codex-acp"
