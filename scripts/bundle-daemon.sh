#!/usr/bin/env bash
# Puts the daemon, and what it needs beside it, into a folder:
#
#   scripts/bundle-daemon.sh FOLDER [.exe]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$1 exe=${2:-}
mkdir -p "$folder"
cp "bin/agentvoice-daemon$exe" "$folder/"
