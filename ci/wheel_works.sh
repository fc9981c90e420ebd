#!/usr/bin/env bash
# Installs each archive into an empty environment and tries it: ci/wheel_works.sh PYTHON ARCHIVE...
set -euo pipefail
python=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
for archive in "$@"; do
  environment=$(mktemp -d)
  "$python" -m venv "$environment"
  own="$environment/bin/python"
  if [ ! -e "$own" ]; then own="$environment/Scripts/python.exe"; fi
  reader=native
  case $archive in *-none-any.whl) reader=python ;; esac
  echo "== $("$own" --version): ${archive##*/}"
  "$own" -m pip install --quiet --disable-pip-version-check "$archive" 'pytest>=8.2' 'hypothesis>=6.100'
  "$own" "$here/wheel_works.py" "$reader"
  rm -rf "$environment"
done
