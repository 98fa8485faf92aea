#!/usr/bin/env bash
# Puts the core's speed beside that of its rivals: has the core write the
# conversation that all are compared over, checks that the XState chart goes the
# same way, measures the chart, and prints the table.
#
#   scripts/bench-core.sh FOLDER
#
# FOLDER/functions.txt is the output of `go test -bench` with the core and the
# rivals in Go; FOLDER/core.json is written. The chart needs Node and the npm
# packages of bench/xstate.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(realpath "$1")

[[ -e $folder/functions.txt ]] || {
  echo "bench-core: $folder/functions.txt is not there; make bench writes it" >&2
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
  echo "bench-core: the XState chart does not go the way of the core, so there is nothing to compare" >&2
  exit 1
}
# A young generation that is never full within a conversation: its growth is what
# was allocated, and collecting costs the chart as little as it can.
node --expose-gc --min-semi-space-size=64 --max-semi-space-size=64 bench/xstate/bench.mjs >"$folder/xstate.json"
node bench/table.mjs "$folder/functions.txt" "$folder/xstate.json" "$folder/core.json"
