#!/usr/bin/env bash
# Names the sources that a build depends on, so that a cached program is used until one of them changes.
set -euo pipefail
cd "$GITHUB_ACTION_PATH/.."
digest=$(find Cargo.toml Cargo.lock crates entries suites -name target -prune -o -type f -print0 |
  LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)
echo "key=wirebench-$(uname -s)-$(uname -m)-$digest" >> "$GITHUB_OUTPUT"
