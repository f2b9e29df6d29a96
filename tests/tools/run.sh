#!/bin/sh
# The tools that measure the tests, on a small tree made for the purpose: tools/mutants.py and tools/coverage.py.
cd "$(dirname "$0")/../.." || exit 1
for command in "${CC:-cc}" git python3 strip gcov; do
    command -v "${command##* }" >/dev/null || { echo "no $command here"; exit 77; }
done
. tests/tap.sh
tree=$work/tree
mkdir -p "$tree/src/base" "$tree/include" "$tree/tests" "$tree/layouts" "$tree/tools"
cp tools/mutant.h tools/mutant.c tools/mutants.py "$tree/tools"
touch "$tree/tests/file" "$tree/layouts/file"
git init -q "$tree"

cat >"$tree/src/base/small.c" <<'END_OF_C'
enum { SIZE = 1 + 1 }; /* not in a function: if (1 < 2) */

int sum(int n) {
    int size[SIZE + 1], total = 0;
    while (n > 0) {
        total += n;
        n--;
    }
    return total;
}

/* It keeps to itself what it does for a and b alike. */
int most(int a, int b) {
    if (a < b)
        return b;
    return a;
}

const char *unused(int a) {
    return a == 1 ? "add i64" : "";
}
END_OF_C
echo 'int most(int, int); int main(void) { return most(1, 2) != 2 || most(2, 1) != 2; }' >"$tree/tests/test_most.c"
echo 'int sum(int); int main(void) { return sum(3) != 6; }' >"$tree/tests/test_sum.c"
echo 'int main(void) { return 77; }' >"$tree/tests/test_skips.c"
cat >"$tree/Makefile" <<'END_OF_MAKE'
TESTS := $(patsubst tests/%.c,$(BUILD)/test/%,$(wildcard tests/*.c))
test-programs: $(TESTS)
$(BUILD)/test/%: tests/%.c $(INSIDE)
	@mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $^ -Wl,-rpath,'$$ORIGIN/../lib'
$(INSIDE): $(wildcard src/*/*.c)
	@mkdir -p $(@D) && $(CC) -shared $(CPPFLAGS) $(CFLAGS) -o $@ $^ -Wl,-soname,$(@F)
END_OF_MAKE

# mutants VERB ARGUMENTS..
mutants() { python3 "$tree/tools/mutants.py" "$@"; }

# One mutant a line, but for the line whose only one does not compile.
builds() {
    mutants build --into "$work/mutants" --count 100 --cc "${CC:-cc}" || return
    cut -f 2,3,6 "$work/mutants/run/mutants.list" >"$work/got"
    diff - "$work/got" <<'END_OF_LIST'
src/base/small.c:5	sum	while (n > 0) {
src/base/small.c:6	sum	total += n;
src/base/small.c:7	sum	n--;
src/base/small.c:9	sum	return total;
src/base/small.c:14	most	if (a < b)
src/base/small.c:15	most	return b;
src/base/small.c:16	most	return a;
src/base/small.c:20	unused	return a == 1 ? "add i64" : "";
END_OF_LIST
}

# The list's mutants again, with their numbers, in a file where the lines are others, one text is another, and one is chosen.
of_kind() { # LINE KIND BEFORE: a line of a list
    printf '%s\tsrc/base/small.c:1\t%s\t%s\t1\t%s\t\n' "$@"
}
chooses() {
    of_kind 30 sum '>' 'while (n > 0) {' >"$work/list"
    of_kind 31 sum 'statement left out' 'n--;' >>"$work/list"
    of_kind 32 most '<' 'if (a < b)' >>"$work/list"
    of_kind 33 most 'condition' 'if (a < b)' >>"$work/list"
    of_kind 34 unused '==' 'return a == 1 ? "add i64" : "";' >>"$work/list"
    of_kind 35 most '<' 'if (a < c)' >>"$work/list"
    of_kind 36 unused 'instruction' 'return a == 1 ? "add i64" : "";' >>"$work/list"
    sed -i '1i /* a line more */' "$tree/src/base/small.c"
    mutants build --into "$work/mutants" --list "$work/list" --cc "${CC:-cc}" >"$work/got" || return
    grep -q '^gone: 35 .*if (a < c)$' "$work/got" || return
    cut -f 1,2,7 "$work/mutants/run/mutants.list" >"$work/got"
    diff - "$work/got" <<'END_OF_LIST'
30	src/base/small.c:6	while (n > -mutant(30) + 0) {
31	src/base/small.c:8	mutant(31) ? (void)0 : (void)(n--);
32	src/base/small.c:15	if (a < mutant(32) + b)
33	src/base/small.c:15	if (mutant(33) != !!(a < b))
34	src/base/small.c:21	return a == mutant(34) + 1 ? "add i64" : "";
36	src/base/small.c:21	return a == 1 ? (mutant(36) ? "sub i64" : "add i64") : "";
END_OF_LIST
}

# Of a copy elsewhere. n > -1 adds a 0 to the sum, a loop without its step never ends, and a <= b gives the same.
judges() {
    rm -rf "$work/moved" && mv "$work/mutants/run" "$work/moved" || return
    mutants run --build "$work/moved" --jobs 2 --grace 1 >"$work/got" || return
    { grep -vP '^\d+\t' "$work/got" | sed 's/[0-9.]* s without/s without/' && grep -P '^\d+\t' "$work/got" | sort | cut -f 1,3-; } >"$work/sorted"
    diff - "$work/sorted" <<'END_OF_LIST'
left out: test_skips skips its tests here
2 of 3 programs, s without a mutant
2 caught, 2 survived, 2 not reached, 0 not run
30	survived	came by: test_sum
31	caught	test_sum: took too long
32	survived	came by: test_most
33	caught	test_most: status 1
34	not reached	
36	not reached	
END_OF_LIST
}

fails_without_a_mutant() {
    cp /bin/false "$work/moved/test/test_false"
    ! mutants run --build "$work/moved" >"$work/got" 2>&1 && grep -q '^test_false fails without a mutant: status 1' "$work/got"
}

# All of one function, and nothing of two.
covers() {
    here=$PWD
    mkdir -p "$work/covered/obj" && cd "$tree" || return
    ${CC:-cc} --coverage -O0 -c -o "$work/covered/obj/small.o" src/base/small.c &&
        ${CC:-cc} --coverage -O0 -o "$work/covered/test" tests/test_most.c "$work/covered/obj/small.o" &&
        "$work/covered/test" && python3 "$here/tools/coverage.py" "$work/covered" | tr -s ' ' >"$work/got"
    cd "$here" && grep -x 'base/small.c 4 of 12 33.33 % 2 of 6 33.33 %' "$work/got" &&
        grep -x 'base 4 of 12 33.33 % 2 of 6 33.33 %' "$work/got" &&
        grep -x 'src 4 of 12 33.33 % 2 of 6 33.33 %' "$work/got" || { cat "$work/got"; false; }
}

check 'mutants of a tree' builds
check 'mutants of a list' chooses
check 'what notices a mutant' judges
check 'a program that fails anyway' fails_without_a_mutant
check 'lines and branches that ran' covers
