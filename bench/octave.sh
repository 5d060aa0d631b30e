#!/bin/sh
# SPDX-License-Identifier: MIT
# octave.sh OUT.tar.xz: packs the installed GNU Octave without GUI (Debian: octave-cli), its libraries, the C library and its
# loader for a machine without Octave. There: tar xf OUT.tar.xz -C DIR; PATH=DIR/octave/bin:$PATH. It uses nothing of that
# machine but the kernel, so the version of its C library does not matter. Exit 4: Octave is not installed here.
out=${1:?usage: octave.sh OUT.tar.xz}
cli=$(command -v octave-cli) || { echo "octave.sh: octave-cli is not installed here: apt install octave" >&2 && exit 4; }
work=$(mktemp -d) && trap 'rm -r "$work"' EXIT || exit 2
to=$work/octave
says() { "$cli" --norc --quiet --eval "disp($1)" 2> /dev/null; } # some builds print a complaint at exit
home=$(says OCTAVE_HOME) version=$(says OCTAVE_VERSION)
mkdir -p "$to/bin" "$to/lib" "$to/share/octave/$version" || exit 2
cp "$(readlink -f "$cli")" "$to/bin/octave-cli" || exit 2
# Copies the libraries under the names that the loader asks for. ldd prints ld-linux in a line without an arrow.
ldd "$cli" | awk '$2 == "=>" { print $3 } $1 ~ /^\/.*ld-linux/ { print $1 }' | sort -u |
    while read -r library; do cp -L "$library" "$to/lib/" || exit 2; done || exit 2
cp -rL "$home/share/octave/$version/m" "$home/share/octave/$version/etc" "$to/share/octave/$version/" || exit 2
cat > "$to/bin/octave" << 'EOF'
#!/bin/sh
here=$(dirname "$(dirname "$(readlink -f "$0")")")
OCTAVE_HOME=$here OCTAVE_EXEC_HOME=$here
export OCTAVE_HOME OCTAVE_EXEC_HOME
[ "$1" != --no-gui ] || shift # octave-cli has no GUI and no such option
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/bin/octave-cli" "$@"
EOF
chmod +x "$to/bin/octave"
tar -C "$work" -cf - octave | xz -T0 -6 > "$out" && ls -l "$out"
