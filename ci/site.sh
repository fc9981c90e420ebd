#!/usr/bin/env bash
# Builds the documentation of this tree into site/, and of every release into site/VERSION: ci/site.sh
set -euo pipefail
cd "$(dirname "$0")/.."
make docs PYTHON=python
work=$(mktemp -d)
trap 'git worktree prune; rm -rf "$work"' EXIT
git tag --list 'v*' | while read -r tag; do
  git worktree add --quiet --detach "$work/$tag" "$tag"
  python -m venv "$work/$tag-environment"
  "$work/$tag-environment/bin/pip" install --quiet "$work/${tag}[docs]"
  make -C "$work/$tag" docs PYTHON="$work/$tag-environment/bin/python"
  cp -r "$work/$tag/site" "site/${tag#v}"
done
python docs/versions.py site
