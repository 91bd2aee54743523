#!/usr/bin/env bash
# Runs the verb, and repeats its warnings and errors as annotations.
set -euo pipefail
case "$VERB" in
  ab | run) ;;
  *) echo "error: verb must be ab or run, not '$VERB'" >&2; exit 2 ;;
esac
mapfile -t arguments < <(grep -v '^[[:space:]]*$' <<< "$ARGUMENTS" || true)

annotate() {
  local line
  while IFS= read -r line; do
    echo "$line"
    case "$line" in
      "warning: "*) line=${line#warning: }; echo "::warning::${line//%/%25}" ;;
      "error: "*) line=${line#error: }; echo "::error::${line//%/%25}" ;;
    esac
  done
}

code=0
{ wirebench "$VERB" --output "$RESULTS" "${arguments[@]}" 2>&1 1>&3 | annotate >&2; } 3>&1 || code=$?
case "$code" in
  0) result=passed ;;
  3) result=not-valid ;;
  4) result=violated ;;
  *) result=failed ;;
esac
echo "result=$result" >> "$GITHUB_OUTPUT"
exit "$code"
