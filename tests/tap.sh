# tap.sh - for tests in shell, which source it: a folder $work that goes away with them, and check.
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
n=0

# check NAME COMMAND..: one test; what the command says is shown if it fails.
check() {
    n=$((n + 1))
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        sed 's/^/# /' "$work/log"
    fi
}

sanitized() { nm -D "$BUILD/libufunc.so" | grep -Eq '__(a|t)san_'; }
