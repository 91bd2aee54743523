#!/usr/bin/env bash
# Writes the report into one comment of the pull request, which later runs replace. A token without the right to write,
# as in a pull request from a fork, is a warning.
set -euo pipefail
marker="<!-- wirebench: $ARTIFACT -->"
report="$RUNNER_TEMP/wirebench-report.md"
if [ -z "${PULL_REQUEST:-}" ] || [ ! -s "$report" ]; then
  echo "no pull request or no report: no comment"
  exit
fi
body=$(mktemp)
# A comment has at most 65 536 characters.
{ echo "$marker"; head -c 60000 "$report"; } > "$body"

comment() {
  local comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments" known
  known=$(gh api --paginate "$comments" --jq ".[] | select(.body | startswith(\"$marker\")) | .id") || return
  known=${known%%$'\n'*}
  if [ -n "$known" ]; then
    gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" --field "body=@$body"
  else
    gh api --silent --method POST "$comments" --field "body=@$body"
  fi
}

comment || echo "::warning::cannot comment on the pull request: the job needs the permission pull-requests: write"
