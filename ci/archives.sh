#!/usr/bin/env bash
# Builds the source archive and the pure wheel into a folder, and checks them: ci/archives.sh DIST
set -euo pipefail
cd "$(dirname "$0")/.."
dist=${1:-dist}
python -m build --sdist --outdir "$dist"
LEXIRECALL_PURE=1 python -m build --wheel --outdir "$dist"
ls "$dist"/*-py3-none-any.whl > /dev/null
python -m twine check --strict "$dist"/*
