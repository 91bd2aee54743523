#!/usr/bin/env bash
# Names the sources that a build depends on, so that a cached program is used until one of them changes.
set -euo pipefail
cd "$GITHUB_ACTION_PATH/.."
# Modules may be called `target` too.
digest=$(find Cargo.toml Cargo.lock crates entries suites -name target -not -path '*/src/*' -prune -o -type f -print0 |
  LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)
# A program needs the C library of the image that it was built on.
image=$(. /etc/os-release && echo "$ID$VERSION_ID")
echo "key=wirebench-$image-$(uname -m)-$digest" >> "$GITHUB_OUTPUT"
