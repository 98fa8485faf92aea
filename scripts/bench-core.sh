#!/usr/bin/env bash
# Compares the core's speed with that of other libraries: the core writes the conversation for
# the comparison; the script checks that the XState chart takes the same path, measures the
# chart, and prints the table.
#
#   scripts/bench-core.sh FOLDER
#
# FOLDER/functions.txt is the output of `go test -bench` with the core and the Go libraries;
# FOLDER/core.json is written. The chart needs Node and the npm packages of bench/xstate.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(realpath "$1")

[[ -e $folder/functions.txt ]] || {
  echo "bench-core: $folder/functions.txt is missing; make bench writes it" >&2
  exit 1
}
[[ -e bench/xstate/node_modules/xstate ]] || {
  echo "bench-core: XState is not installed; run make bench, or npm ci in bench/xstate" >&2
  exit 1
}

export CONVERSATION=$folder/conversation.jsonl
go test -count 1 -run '^TestSharedConversationRoundTrip$' ./csm -conversation "$CONVERSATION" >"$folder/shared.txt" 2>&1 || {
  cat "$folder/shared.txt"
  exit 1
}
node --test bench/xstate/chart.test.mjs >"$folder/xstate-test.txt" 2>&1 || {
  cat "$folder/xstate-test.txt"
  echo "bench-core: the XState chart takes a different path than the core, so they cannot be compared" >&2
  exit 1
}
# With a young generation that never fills up during a conversation, its growth is the
# allocated memory, and garbage collection costs the chart as little as possible.
node --expose-gc --min-semi-space-size=64 --max-semi-space-size=64 bench/xstate/bench.mjs >"$folder/xstate.json"
node bench/table.mjs "$folder/functions.txt" "$folder/xstate.json" "$folder/core.json"
