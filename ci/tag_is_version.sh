#!/usr/bin/env bash
# Fails unless the tag v1.2.3 is the version that the code, the citation and the changelog name: ci/tag_is_version.sh v1.2.3
set -euo pipefail
cd "$(dirname "$0")/.."
tag=$1
version=$(sed -n 's/^VERSION = "\(.*\)"$/\1/p' src/lexirecall/version.py)
[ "$tag" = "v$version" ] || { echo "the tag is $tag, but the version is $version"; exit 1; }
grep -qx "version: $version" CITATION.cff || { echo "CITATION.cff names another version"; exit 1; }
grep -q "^date-released: " CITATION.cff || { echo "CITATION.cff has no date-released"; exit 1; }
grep -q "^## $version (20" CHANGELOG.md || { echo "CHANGELOG.md has no date for $version"; exit 1; }
