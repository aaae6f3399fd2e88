#!/bin/sh
# Installs the build into a folder of its own and uses it from outside, shared and static, by CMake and by pkg-config.
#   run.sh BUILD_FOLDER CMAKE C_COMPILER
set -eu
build=$1 cmake=$2 compiler=$3
here=$(cd "$(dirname "$0")" && pwd)
work="$build/consumer"
rm -rf "$work"
mkdir -p "$work"

"$cmake" --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix" # an installed tree may be moved
prefix="$work/prefix"

echo "files:"
for file in include/flexor/flexor.h bin/flexor; do
    [ -f "$prefix/$file" ] || { echo "$file is missing"; exit 1; }
done
library=$(find "$prefix" -name libflexor.so.0)
[ -n "$library" ] || { echo "libflexor.so.0 is missing"; exit 1; }
libraries=$(dirname "$library")
"$prefix/bin/flexor" --version

echo "exported symbols: the public ones only"
if nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^flx_[a-z0-9]'; then
    echo "these should not be visible"
    exit 1
fi

for static in OFF ON; do
    echo "find_package, static $static:"
    "$cmake" -G Ninja -S "$here/find_package" -B "$work/cmake-$static" -DCMAKE_PREFIX_PATH="$prefix" -DSTATIC=$static \
        -DCMAKE_C_COMPILER="$compiler" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$cmake" --build "$work/cmake-$static" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$work/cmake-$static/consumer"
done

export PKG_CONFIG_PATH="$libraries/pkgconfig"
echo "pkg-config, shared:"
"$compiler" "$here/consumer.c" $(pkg-config --cflags --libs flexor) -o "$work/shared"
LD_LIBRARY_PATH="$libraries" "$work/shared"
LD_LIBRARY_PATH="$libraries" ldd "$work/shared" | grep -q 'libflexor.so.0' || { echo "not linked with libflexor.so.0"; exit 1; }

echo "pkg-config, static:"
flags=$(pkg-config --static --cflags --libs flexor | sed 's/-lflexor/-l:libflexor.a/')
"$compiler" "$here/consumer.c" $flags -o "$work/static"
"$work/static"
if ldd "$work/static" | grep libflexor; then echo "should be static"; exit 1; fi
[ "$(pkg-config --modversion flexor)" = "$("$prefix/bin/flexor" --version | cut -d' ' -f2)" ]
