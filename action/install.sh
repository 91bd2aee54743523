#!/usr/bin/env bash
# Installs the program that PROGRAM names, a file or a URL, or builds this repository unless wirebench is in PATH.
set -euo pipefail
# An earlier use in the same job left its own.
rm -f "$RUNNER_TEMP/wirebench-new-results" "$RUNNER_TEMP/wirebench-report.md"
if [ -z "${PROGRAM:-}" ]; then
  command -v wirebench || cargo install --locked --path "$GITHUB_ACTION_PATH/../crates/cli"
  exit
fi
folder="$RUNNER_TEMP/wirebench-program"
mkdir -p "$folder"
case "$PROGRAM" in
  https://*)
    curl --proto =https --proto-redir =https --tlsv1.2 --fail --silent --show-error --location \
      --output "$folder/wirebench" "$PROGRAM"
    ;;
  *) cp "$PROGRAM" "$folder/wirebench" ;;
esac
if [ -n "${PROGRAM_SHA256:-}" ]; then
  echo "$PROGRAM_SHA256  $folder/wirebench" | sha256sum --check --status || {
    echo "::error::$PROGRAM has another SHA-256 than the input program-sha256"
    exit 1
  }
fi
chmod +x "$folder/wirebench"
echo "$folder" >> "$GITHUB_PATH"
"$folder/wirebench" --version
