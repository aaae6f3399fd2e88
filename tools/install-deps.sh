#!/bin/sh
# Install what building Flexor needs, and only what is missing. Debian 12 and its relatives; elsewhere it says what to get.
#   tools/install-deps.sh         to build and test
#   tools/install-deps.sh --ci    also the second compiler
set -eu

packages="build-essential cmake ninja-build pkg-config libopenblas-dev liblapacke-dev libmetis-dev libhdf5-dev
libyaml-dev libpng-dev libcmocka-dev python3"
[ "${1:-}" = "--ci" ] && packages="$packages clang libclang-rt-14-dev libsuitesparse-dev" # CHOLMOD is an oracle of one test

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "install-deps: this is no Debian; these packages (or yours of the same meaning) are needed:" $packages >&2
    exit 0 # cmake says what it does not find
fi

missing=""
for package in $packages; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

root=""
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "install-deps: run as root: apt-get install$missing" >&2
        exit 1
    fi
    root="sudo"
fi

echo "install-deps: installing$missing" >&2
install() { $root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing </dev/null; }
# fresh lists first: those of a new system are empty, those of an old one name files that are gone
$root apt-get update </dev/null || echo "install-deps: apt-get update failed; trying with the lists there are" >&2
install
