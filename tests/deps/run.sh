#!/bin/sh
# The groups of `make deps`, which make starts at once: only one of them installs at a time. Nothing is installed: what stands
# in for apt-get fails, as dpkg does, while another one runs.
cd "$(dirname "$0")/../.." || exit 1
command -v make >/dev/null || { echo "no make here"; exit 77; }
. tests/tap.sh

mkdir -p "$work/bin" "$work/deps/venv/bin"
cat >"$work/bin/apt-get" <<'END'
#!/bin/sh
mkdir "$WORK/locked" || { echo "Unable to acquire the dpkg frontend lock"; exit 100; }
sleep 0.3
rmdir "$WORK/locked"
echo "$@" >>"$WORK/installed"
END
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
printf '#!/bin/sh\nexit 0\n' >"$work/deps/venv/bin/python" # a Python that has NumPy
chmod +x "$work/bin/apt-get" "$work/bin/sudo" "$work/deps/venv/bin/python"

# With a compiler that finds no header every group has something to install.
at_once() {
    PATH=$work/bin:$PATH WORK=$work make -s -j3 deps DEPS="$work/deps" BUILD="$work/build" CC=false &&
        [ "$(wc -l <"$work/installed")" = 3 ] && grep libcmocka-dev "$work/installed"
}

check 'three groups at once' at_once
echo "1..$n"
