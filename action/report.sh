#!/usr/bin/env bash
# Puts the report of each result of this job into the job's summary, and the sentence and the verdict of the last into
# outputs.
set -euo pipefail
# The step that comments has another summary.
all="$RUNNER_TEMP/wirebench-report.md"
: > "$all"
# Results that were there before are not this job's.
new="$RUNNER_TEMP/wirebench-new-results"
if [ ! -f "$new" ]; then exit; fi

# The verdict of ab; of a run that of its conditions.
find_verdict='
  /^  "verdict": /{ s/.*: "\(.*\)",$/\1/p; q }
  /^  "gate": {$/,/^  }/{ /^    "verdict": /{ s/.*: "\(.*\)",$/\1/p; q } }
'

while IFS= read -r -d '' result; do
  if [ ! -f "$result/runs.jsonl" ]; then continue; fi
  # Only the file that the verb wrote has the result of its conditions.
  report=$(cat "$result/report.md" 2> /dev/null || wirebench report "$result" --format markdown) || continue
  printf '%s\n' "$report" | tee -a "$all" >> "$GITHUB_STEP_SUMMARY"
  sentence=$(head -n 1 <<< "$report" | sed 's/^# *//; s/\*\*//g')
  verdict=$(sed -n "$find_verdict" "$result/report.json" 2> /dev/null || true)
  { echo "sentence=$sentence"; echo "verdict=$verdict"; } >> "$GITHUB_OUTPUT"
done < "$new"
