#!/usr/bin/env bash
# Downloads the environment of `make e2e`: VS Code as code-server, with the matching Node, both
# from npm and pinned, to the user's cache folder. Chromium and the sound server are Debian
# packages (scripts/setup.sh --e2e). It is safe to run repeatedly and keeps what is there.
#
#   scripts/e2e.sh          downloads what is missing (about 3 minutes and 850 MB)
#   scripts/e2e.sh --where  prints the folder, downloads nothing
#
# The folder contains node/bin/node and code-server/out/node/entry.js.
set -euo pipefail

node_version=24.21.0
code_server_version=4.139.1 # VS Code 1.139

say() { echo "e2e: $*"; }
fail() {
  echo "e2e: $*" >&2
  exit 1
}

cache=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/agentvoice/e2e
[[ $cache == /* ]] || fail "the cache folder must be an absolute path: check XDG_CACHE_HOME"
dir=$cache/code-server-$code_server_version-node-$node_version

case ${1:-} in
  --where)
    echo "$dir"
    exit 0
    ;;
  '') ;;
  *)
    echo "e2e: unknown argument $1; use --where or no argument" >&2
    exit 2
    ;;
esac

[[ ! -e $dir/complete ]] || exit 0
command -v npm >/dev/null || fail "npm is missing: install Node.js, then run this again"

# Of two concurrent runs, the second waits and then finds nothing to do.
mkdir -p "$cache"
exec 9>"$cache/.lock"
flock 9
[[ ! -e $dir/complete ]] || exit 0

rm -rf "$dir"
# Two folders, so that the Node in use is not reinstalled meanwhile. npm requires a list of
# packages whose install scripts may run.
mkdir -p "$dir/npm-node" "$dir/npm"
echo '{"private": true, "allowScripts": {"node": true}}' >"$dir/npm-node/package.json"
echo '{"private": true, "allowScripts": {"code-server": true, "argon2": true}}' >"$dir/npm/package.json"

say "fetching Node $node_version"
(cd "$dir/npm-node" && npm install --silent --no-audit --no-fund "node@$node_version") ||
  fail "npm could not fetch node@$node_version: check the network and npm's settings"
runtime=$(dirname "$(dirname "$(find "$dir/npm-node/node_modules" -path '*/node-*/bin/node' -type f | head -n 1)")")
[[ -x $runtime/bin/node ]] || fail "the npm package node@$node_version holds no Node for this machine"
ln -s "$runtime" "$dir/node"

# Its native modules are compiled against the headers of that Node, so that node-gyp downloads
# nothing.
say "fetching code-server $code_server_version and compiling its native modules; this takes minutes"
cd "$dir/npm"
if ! PATH=$dir/node/bin:$PATH npm_config_nodedir=$runtime \
  npm install --no-audit --no-fund "code-server@$code_server_version" >"$dir/npm.log" 2>&1; then
  tail -n 30 "$dir/npm.log" >&2
  fail "code-server could not be installed; the whole log is $dir/npm.log"
fi
ln -s "$dir/npm/node_modules/code-server" "$dir/code-server"
"$dir/node/bin/node" "$dir/code-server/out/node/entry.js" --config "$dir/config.yaml" --version >/dev/null 2>&1 ||
  fail "code-server was installed, but does not run; the log is $dir/npm.log"
touch "$dir/complete"
say "code-server $code_server_version is in $dir"
