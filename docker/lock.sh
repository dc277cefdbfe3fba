#!/usr/bin/env bash
# Makes the lock files from pyproject.toml, with hashes: bash docker/lock.sh
# Pins that still fit stay as they are; bash docker/lock.sh --upgrade takes the newest of everything.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools/venv"
"$tools/venv/bin/pip" install --quiet --disable-pip-version-check uv

# lock FILE SOURCES...: the index is left out, so that the file says what, and never from where.
lock() {
  local file=docker/$1
  shift
  "$tools/venv/bin/uv" pip compile --quiet --no-config --python-version 3.11 --python-platform linux \
    --generate-hashes --no-emit-index-url --no-emit-find-links \
    --custom-compile-command 'bash docker/lock.sh' "${upgrade[@]}" --output-file "$file" "$@" >/dev/null
}

upgrade=("$@")
# rpy2-rinterface 3.6.6 and later need R >= 4.5; Debian 12 has R 4.2.2.
printf '%s\n' 'rpy2<=3.6.6' 'rpy2-rinterface<=3.6.5' 'rpy2-robjects<=3.6.6' |
  lock requirements.lock --extra r --extra plots pyproject.toml -
# What turns sources into wheels: rpy2-rinterface (setuptools, cffi) and the package itself (the group build).
printf '%s\n' 'pip>=25.1' 'setuptools>=77' wheel cffi |
  lock requirements-build.lock --constraint docker/requirements.lock --group build -
lock requirements-test.lock --constraint docker/requirements.lock \
  --constraint docker/requirements-build.lock --group test
printf '%s\n' jupyterlab ipykernel |
  lock requirements-notebook.lock --constraint docker/requirements.lock -
