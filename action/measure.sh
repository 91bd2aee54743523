#!/usr/bin/env bash
# Runs the verb, repeats its warnings and errors as annotations, and notes the results that it has written. Builds and
# servers may print anything: until the verb has ended, the forge takes no line for a command.
set -euo pipefail
case "$VERB" in
  ab | run) ;;
  *) echo "error: verb must be ab or run, not '$VERB'" >&2; exit 2 ;;
esac
mapfile -t arguments < <(grep -v '^[[:space:]]*$' <<< "$ARGUMENTS" || true)

list() {
  mkdir -p "$RESULTS"
  find "$RESULTS" -mindepth 1 -maxdepth 1 -type d -print0 | LC_ALL=C sort -z
}

before=$(mktemp) said=$(mktemp) code=0
new="$RUNNER_TEMP/wirebench-new-results"
rm -f "$new"
list > "$before"
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
{ wirebench "$VERB" --output "$RESULTS" "${arguments[@]}" 2>&1 1>&3 | tee "$said"; } 3>&1 || code=$?
# The last line may have no end.
printf '\n::%s::\n' "$token"
while IFS= read -r line || [ -n "$line" ]; do
  case "$line" in
    "warning: "* | "error: "*) kind=${line%%:*} ;;
    *) continue ;;
  esac
  line=${line#"$kind: "} line=${line//'%'/%25}
  echo "::$kind::${line//$'\r'/%0D}"
done < "$said"
list | LC_ALL=C comm -z -13 "$before" - > "$new"

# The verdict of the conditions; without them, that of ab.
conclusion() {
  local of_conditions='/^  "gate": {$/,/^  }/{ /^    "verdict": /{ s/.*: "\(.*\)",$/\1/p; q } }' found
  found=$(sed -n "$of_conditions" "$1/report.json")
  if [ -n "$found" ]; then echo "$found"; else sed -n '/^  "verdict": /{ s/.*: "\(.*\)",$/\1/p; q }' "$1/report.json"; fi
}

case "$code" in
  0) result=passed ;;
  3) result=not-valid ;;
  4) result=violated ;;
  *) result=failed ;;
esac
while IFS= read -r -d '' folder; do
  if [ "$result" = passed ] && [ -f "$folder/report.json" ] && [ "$(conclusion "$folder")" = inconclusive ]; then
    result=inconclusive
  fi
done < "$new"
echo "result=$result" >> "$GITHUB_OUTPUT"
exit "$code"
