#!/usr/bin/env bash
# Condenses the output of `go test -bench` to a short table: name, time, bytes and allocations
# per operation, and the custom metrics. Any other output is printed unchanged if it is a
# failure.
set -euo pipefail
awk '
  /^pkg: / { n = split($2, path, "/"); package = path[n]; next }
  /^Benchmark/ {
    sub(/^Benchmark/, "", $1); sub(/-[0-9]+$/, "", $1)
    time = bytes = allocs = more = ""
    for (i = 3; i < NF; i += 2) {
      unit = $(i + 1)
      if (unit == "ns/op") time = duration($i)
      else if (unit == "B/op") bytes = $i
      else if (unit == "allocs/op") allocs = $i
      else { sub(/\.0+$/, "", $i); more = more "  " $i " " unit }
    }
    if (!rows++) printf "%-44s %12s %10s %8s\n", "benchmark", "time", "bytes", "allocs"
    printf "%-44s %12s %10s %8s%s\n", package "." $1, time, bytes, allocs, more
    next
  }
  /^(FAIL|---|panic)/ { failed = 1 }
  !/^(goos|goarch|cpu|PASS|ok|\?)/ { print }
  END { exit failed || !rows }
  function duration(ns) {
    if (ns >= 1e9) return sprintf("%.2f s", ns / 1e9)
    if (ns >= 1e6) return sprintf("%.2f ms", ns / 1e6)
    if (ns >= 1e3) return sprintf("%.2f us", ns / 1e3)
    return sprintf("%.1f ns", ns)
  }
'
