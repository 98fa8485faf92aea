#!/usr/bin/env bash
# Runs what takes too long for `make test` and `make conformance`: the property tests with many
# more random cases under the race detector, each fuzz target for a while, the exploration of
# each world with larger bounds and of every pair of worlds, the other coding agents, ten
# minutes of dictation, ten questions in one breath, five minutes of speech in each mode, every
# automatic mutant, and the benchmarks. A passed case leaves a stamp in the folder given as the first argument, and does not
# run again until the folder is removed or the code changes. The second argument is the binary that
# explores.
#
#   scripts/full.sh out/full bin/agentvoice-daemon
#
# CHECKS (random cases per property, default 3000), FUZZTIME (default 10m) and DEEPTIME (per
# world and pair, default 20m) set the duration.
set -euo pipefail
stamps=${1:?names no folder for the stamps}
daemon=${2:?names no binary that explores}
deeptime=${DEEPTIME:-20m}
checks=${CHECKS:-3000}
fuzztime=${FUZZTIME:-10m}

# The state of the code: a stamp is valid for one commit with one set of changes.
code=$( { git rev-parse HEAD; git diff HEAD; } | sha256sum | cut -c 1-12)
stamps=$stamps/$code
mkdir -p "$stamps"

passed=0 failed=0 skipped=0
# run NAME COMMAND...: one case.
run() {
  local name=$1 log
  shift
  log=$stamps/${name//\//_}
  if [[ -e $log.ok ]]; then
    skipped=$((skipped + 1))
    return
  fi
  echo "full: $name"
  if "$@" >"$log.log" 2>&1; then
    passed=$((passed + 1))
    touch "$log.ok"
  else
    failed=$((failed + 1))
    tail -n 40 "$log.log"
  fi
}

while read -r pkg; do
  run "properties $pkg" go test -race -count=1 -timeout 60m "$pkg" -rapid.checks="$checks" -rapid.seed=0 -rapid.nofailfile
  if grep -q '^//go:build.*!race' "$pkg"/*_test.go; then
    run "properties $pkg without race" go test -count=1 -timeout 60m "$pkg" -rapid.checks="$checks" -rapid.seed=0 -rapid.nofailfile
  fi
done < <(grep -rl --include='*_test.go' '"pgregory.net/rapid"' . | xargs -n 1 dirname | sort -u)

while read -r package target; do
  run "fuzz $package $target" env FUZZTIME="$fuzztime" scripts/fuzz.sh "$package" "$target"
done < <(scripts/fuzz.sh --list)

for world in $("$daemon" explore --budget 1ns --json | grep -o '"name":"[a-z-]*"' | cut -d '"' -f 4); do
  run "explore deep $world" "$daemon" explore --deep --world "$world" --budget "$deeptime" --out "$stamps"
done

for pair in $("$daemon" explore --pairs --budget 1ns --json | grep -o '"name":"[a-z+-]*"' | cut -d '"' -f 4); do
  run "explore pair $pair" "$daemon" explore --world "$pair" --budget "$deeptime" --out "$stamps"
done

# agent NAME TESTS drives a coding agent from npm against a scripted model.
agent() {
  scripts/agents.sh "$1"
  AGENTVOICE_AGENTS=$(scripts/agents.sh --where "$1") \
    go test -tags nolibopusfile,agents -count=1 -timeout 10m -run "$2" ./cmd/agentvoice-daemon
}
run "agent gemini" agent gemini '^TestGemini'
run "agent opencode" agent opencode '^TestOpencode'
run "agent kilo" agent kilo '^TestKilo'

run "ten minutes of dictation" go test -count=1 -timeout 20m -run '^TestLongDictation$' ./cmd/agentvoice-daemon -dictation 10m
run "ten questions in one breath" go test -count=1 -timeout 20m -v -run '^TestQuestionsInOneBreath$|^TestThePhraseAloneAsksNothing$' ./cmd/agentvoice-daemon -breaths 10
run "five minutes of speech in each mode" go test -count=1 -timeout 20m -run '^TestSpeechIsWhole$' ./cmd/agentvoice-daemon -spoken 5m

# Resumes after the last mutant that was run.
run "mutants of the core" go run ./internal/prove mutants run -all
run "mutants of the handlers" go run ./internal/prove mutants run -of handlers -all

run "benchmarks" make bench
[[ ! -e $stamps/benchmarks.ok ]] || cat "$stamps/benchmarks.log"

echo "make full: $passed passed, $failed failed, $skipped passed earlier"
((failed == 0))
