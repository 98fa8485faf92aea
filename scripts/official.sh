#!/usr/bin/env bash
# Compares what is sent to OpenAI, and the table of its models, with OpenAI's own library, and looks whether a
# default model ends soon: with the newest library and as of today, or with --pinned as of the last commit.
set -euo pipefail
if [[ ${1:-} == --pinned ]]; then
  cd internal/official
  exec go test ./...
fi
mod=$PWD/out/official/go.mod
mkdir -p out/official
cp internal/official/go.mod internal/official/go.sum out/official/
cd internal/official
go get -modfile="$mod" github.com/openai/openai-go/v3@latest
go list -modfile="$mod" -m github.com/openai/openai-go/v3
go test -modfile="$mod" ./...
cd ../..
go test ./cmd/agentvoice-daemon -count=1 -run '^TestNoDefaultEndsSoon$' -args -today
