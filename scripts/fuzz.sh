#!/usr/bin/env bash
# Runs a part of the fuzz targets, each for a while. Which part depends on the commit, so that
# all of them have their turn.
#
#   scripts/fuzz.sh           # COUNT targets (default 2) for FUZZTIME each (default 30s)
#   scripts/fuzz.sh --list    # all targets, as package and name
set -euo pipefail
count=${COUNT:-2}
fuzztime=${FUZZTIME:-30s}

mapfile -t targets < <(git grep -o '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go' | sed -E 's|/[^/]*:func | |; s|^|./|' | sort)
if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${targets[@]}"
  exit
fi

first=$((16#$(git rev-parse HEAD | cut -c 1-8) % ${#targets[@]}))
for ((i = 0; i < count && i < ${#targets[@]}; i++)); do
  read -r package target <<<"${targets[(first + i) % ${#targets[@]}]}"
  echo "fuzz $package $target for $fuzztime"
  go test -vet=off -run '^$' -fuzz "^$target\$" -fuzztime "$fuzztime" "$package"
done
