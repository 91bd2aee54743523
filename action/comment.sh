#!/usr/bin/env bash
# Writes the report into one comment of the pull request, which later runs replace, also if they have no report. A token
# without the right to write, as in a pull request from a fork, is a warning.
set -euo pipefail
marker="<!-- wirebench: $ARTIFACT -->"
report="$RUNNER_TEMP/wirebench-report.md"
if [ -z "${PULL_REQUEST:-}" ]; then
  echo "no pull request: no comment"
  exit
fi
log="${GITHUB_SERVER_URL:-}/$GITHUB_REPOSITORY/actions/runs/${GITHUB_RUN_ID:-}"
body=$(mktemp)
echo "$marker" > "$body"
# A comment has at most 65 536 characters. A space without width after each @ keeps servers from mentioning people.
if [ -s "$report" ]; then head -c 60000 "$report"; else echo "**${RESULT:-failed}**, without a report: [log]($log)"; fi |
  sed 's/@/@\xe2\x80\x8b/g' >> "$body"

comment() {
  local comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments" author known
  # Anyone can write a comment that begins with the marker.
  author=$(gh api graphql --raw-field "query={viewer{login}}" --jq .data.viewer.login) || return
  known=$(gh api --paginate "$comments" \
    --jq ".[] | select(.user.login == \"$author\" and (.body | startswith(\"$marker\"))) | .id") || return
  known=${known%%$'\n'*}
  if [ -n "$known" ]; then
    gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" --field "body=@$body"
  else
    gh api --silent --method POST "$comments" --field "body=@$body"
  fi
}

comment || echo "::warning::cannot comment on the pull request: does the job have the permission pull-requests: write?"
