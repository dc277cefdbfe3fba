#!/usr/bin/env bash
# Builds the image, and tries it: docker where there is an engine, else podman, else buildah.
#   docker/image.sh build   the image $IMAGE (pyearthdof:latest)
#   docker/image.sh test    builds it, then runs inside it, as its own user and with a read-only root:
#                           doctor, a fit of a mounted CSV, T-ozone, and the fast tests (arguments go to pytest)
# PLATFORM=linux/arm64 or linux/amd64 takes another architecture than this machine's, where the engine can run it.
# BASE=docker.io/library/debian:bookworm-slim@sha256:... takes that base, as published images do.
# buildah cannot make the root read-only; there the root is merely owned by somebody else.
set -euo pipefail
cd "$(dirname "$0")/.."
image=${IMAGE:-pyearthdof:latest}
platform=${PLATFORM:-linux/$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')}
test_image=${image%:*}:test
settings=(--platform "$platform" --file docker/Dockerfile)
[ -z "${BASE:-}" ] || settings+=(--build-arg "BASE=$BASE")

say() { printf 'image: %s\n' "$*"; }
fail() { printf 'image: %s\n' "$*" >&2; exit 1; }

find_engine() {
  local engine
  for engine in docker podman; do
    if "$engine" info >/dev/null 2>&1; then echo "$engine"; return; fi
  done
  if command -v buildah >/dev/null; then echo buildah; return; fi
  fail "there is no docker engine that answers, and neither podman nor buildah; install one, e.g. sudo apt-get install buildah"
}

# build TARGET TAG
build() {
  say "building the stage $1 as $2 with $engine"
  case $engine in
    docker) DOCKER_BUILDKIT=1 docker build "${settings[@]}" --target "$1" --tag "$2" . ;;
    podman) podman build --format docker --layers "${settings[@]}" --target "$1" --tag "$2" . ;;
    buildah) buildah bud --isolation chroot --network host --format docker --layers "${settings[@]}" --target "$1" --tag "$2" . ;;
  esac
}

# run TAG "HERE:THERE ..." PROGRAM [ARGUMENT...]
run() {
  local tag=$1 mounts=() mount container status=0
  for mount in $2; do mounts+=(--volume "$mount"); done
  shift 2
  if [ "$engine" != buildah ]; then
    "$engine" run --rm --platform "$platform" --init --read-only --tmpfs /tmp "${mounts[@]}" --entrypoint "$1" "$tag" "${@:2}"
    return
  fi
  container=$(buildah from "$tag")
  # buildah mounts the image's own volume over ours now and then: 1 time in 25
  buildah config --volume /results- "$container"
  buildah run --isolation chroot "${mounts[@]}" "$container" -- "$@" || status=$?
  buildah rm "$container" >/dev/null
  return "$status"
}

try() {
  local folder
  folder=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$folder'" EXIT
  mkdir "$folder/data" "$folder/results"
  chmod 755 "$folder" "$folder/data"
  chmod 777 "$folder/results"
  awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) print i "," (i > 25 ? i - 25 : 0) }' >"$folder/data/hinge.csv"

  say "doctor"
  run "$image" "" pyearthdof doctor --require r
  say "a fit of a mounted CSV"
  run "$image" "$folder/data:/data:ro $folder/results:/results" \
    pyearthdof fit /data/hinge.csv --target y --save /results/model.json
  [ -s "$folder/results/model.json" ] || fail "the fit left no model in the mounted folder"
  say "T-ozone"
  run "$image" "$folder/results:/results" pyearthdof reproduce T-ozone --size paper
  [ -s "$folder/results/report.html" ] || fail "the results are not in the mounted folder itself"
  say "the fast tests"
  run "$test_image" "" pytest -p no:cacheprovider -q "$@"
  say "all of it works in $image"
}

engine=$(find_engine)
case ${1:-} in
  build) build runtime "$image" ;;
  test)
    build runtime "$image"
    build test "$test_image"
    try "${@:2}"
    ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
