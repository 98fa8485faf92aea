#!/usr/bin/env bash
# Runs a part of the fuzz targets, each for a while. Which part depends on the commit, so that
# all of them have their turn. A target that takes more than 300 MB fails. Go's mutator has a
# buffer of 100 MB for each process that runs a target, and makes another with a new process;
# GOMEMLIMIT has the old one collected. What a target holds still counts. Making an input smaller ends
# after a number of runs, because Go ends the process after a time.
#
#   scripts/fuzz.sh                     # COUNT targets (default 2) for FUZZTIME each (default 1m)
#   scripts/fuzz.sh --list              # all targets, as package and name
#   scripts/fuzz.sh ./protocol FuzzX    # one of them
set -euo pipefail
count=${COUNT:-2}
fuzztime=${FUZZTIME:-1m}
root=$PWD
cache=$(go env GOCACHE)/fuzz
limit=300 # MB

# ended_in_time says whether a run failed only because Go's fuzzer took its own deadline for a failure,
# which it does when it is told of the end before its workers are.
ended_in_time() {
  grep -q '^    context deadline exceeded$' "$1" && ! grep -q 'Failing input\|panic:\|more than' "$1" &&
    (($(sed -n 's/^memory: \([0-9]*\) MB$/\1/p' "$1") <= limit))
}

fuzz() {
  local package=$1 target=$2 log=$root/out/fuzz/log
  echo "fuzz $package $target for $fuzztime"
  mkdir -p out/fuzz
  go test -c -vet=off -fuzz "^$target\$" -o out/fuzz/target.test "$package"
  (cd "$package" && GOMEMLIMIT=200MiB "$root/out/tools/peak" -limit "$limit" -- "$root/out/fuzz/target.test" -test.run '^$' \
    -test.fuzz "^$target\$" -test.fuzztime "$fuzztime" -test.fuzzminimizetime 1000x -test.fuzzcachedir "$cache/$package") 2>&1 |
    tee "$log" || ended_in_time "$log"
}

if (($# == 2)); then
  fuzz "$1" "$2"
  exit
fi
mapfile -t targets < <(git grep -o '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go' | sed -E 's|/[^/]*:func | |; s|^|./|' | sort)
if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${targets[@]}"
  exit
fi

first=$((16#$(git rev-parse HEAD | cut -c 1-8) % ${#targets[@]}))
for ((i = 0; i < count && i < ${#targets[@]}; i++)); do
  read -r package target <<<"${targets[(first + i) % ${#targets[@]}]}"
  fuzz "$package" "$target"
done
