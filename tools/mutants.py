#!/usr/bin/env python3
"""mutants.py - how much of what the code says the tests notice: small faults are seeded in src/ and the unit programs are run.

Method: mutant schemata. `build` copies the tree, chooses mutants of lines in functions of src/ (not src/cmd), as many in each
layer as its share of the lines, and writes each as an expression that changes nothing unless the environment variable
UF_MUTANT holds the mutant's number: `a < b` becomes `a < mutant(17) + b`. So library and tests are compiled once. What does
not compile is dropped and another line chosen. `run` first runs every program without a mutant, to learn how long it takes
and which mutants' places it comes by; then, for each mutant, the programs that come by it, quick ones first, until one
notices: it fails, crashes, or takes more than 5 times as long as without and 10 seconds.

    mutants.py build --into DIR [--count N] [--seed N] [--list FILE]
    mutants.py run --build DIR/run [--jobs N] [--only N,N-M,..] [--minutes N]

DIR/run may be moved to another machine: it needs Python there and what the library opens at run time (LLVM), no compiler.
DIR/run/mutants.list has a line for each mutant. A mutant is known by its file, function, line of text and kind, so that
unchanged sources give the same ones; --list takes those of an earlier list, with their numbers, and says which are gone."""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

# ---- Kinds of mutants ----

# Binary operators: what is inserted behind one. @ stands for mutant(N), which is 0 or 1.
BEHIND_OPERATOR = {
    '<': ' @ +', '<=': ' -@ +', '>': ' -@ +', '>=': ' @ +', '==': ' @ +', '!=': ' @ +',
    '&&': ' !@ &&', '||': ' @ ||', '&': ' (@ - 1) &', '|': ' -@ |',
    '+': ' @ +', '-': ' @ -', '*': ' (1 + @) *', '+=': ' @ +', '-=': ' @ +',
}

# `return x;`: what comes in front of x and behind it, by the function's type.
INTEGERS = 'int|long|unsigned|size_t|ptrdiff_t|u?int(8|16|32|64)_t'
AROUND_RETURNED = [('bool', '@ != !!(', ')'), ('uf_status', '!@ * (', ')'), (INTEGERS, '@ + (', ')')]

AROUND_CONDITION = {'if': ('@ != !!(', ')'), 'while': ('!@ && (', ')')}

# Generated code: an instruction at the beginning of a text, and another in its place.
INSTRUCTIONS = [('slt', 'sle'), ('sle', 'slt'), ('sgt', 'sge'), ('sge', 'sgt'), ('ult', 'ule'), ('ule', 'ult'), ('eq', 'ne'),
                ('ne', 'eq'), ('add', 'sub'), ('sub', 'add'), ('mul', 'add'), ('and', 'or'), ('or', 'and'), ('zext', 'sext'),
                ('sext', 'zext'), ('lshr', 'ashr'), ('udiv', 'urem'), ('urem', 'udiv')]
INSTRUCTION = re.compile(r'"(icmp )?(%s) ' % '|'.join(name for name, _ in INSTRUCTIONS))

# A left out call of these is seen by the sanitizers only; that of an unlock is a test that waits for ever.
CLEANUP = re.compile(r'\w*(free|destroy|unlock|close|release|va_end)\(|\(void\)')

# ---- Reading C ----

TOKEN = re.compile(r'''(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:\\\n|[^\n])*)|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<word>\w+)|(?P<mark><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||[^\s\w])''', re.S | re.M | re.X)
KEYWORDS = {'return', 'case', 'goto', 'break', 'continue', 'if', 'else', 'for', 'while', 'do', 'switch', 'default', 'static',
            'const', 'enum', 'struct', 'union', 'typedef', 'sizeof'}

Token = collections.namedtuple('Token', 'text at end kind')
Edit = collections.namedtuple('Edit', 'at text')  # inserted at this offset of the file


class Mutant:
    def __init__(self, file, line, function, kind, before, edits):
        self.file, self.line, self.function, self.kind, self.before, self.edits = file, line, function, kind, before, edits
        self.nth = 1  # of those that are alike in all that follows
        self.number = 0

    def identity(self):
        return self.file, self.function, self.kind, self.before, self.nth


def tokens_of(text):
    return [Token(m.group(), m.start(), m.end(), m.lastgroup) for m in TOKEN.finditer(text) if m.lastgroup != 'skip']


def partners(tokens):
    """Where the parenthesis, bracket or brace ends that begins at a token, and the reverse."""
    open_at, partner = [], {}
    for i, token in enumerate(tokens):
        if token.text in '([{' and token.kind == 'mark':
            open_at.append(i)
        elif token.text in ')]}' and token.kind == 'mark':
            partner[i] = open_at.pop()
            partner[partner[i]] = i
    return partner


def functions(tokens, partner):
    """(name, words of the type, first token of the body, last token) of each function."""
    i = begin = 0
    while i < len(tokens):
        if tokens[i].text == '{':
            if tokens[i - 1].text == ')':
                name = partner[i - 1] - 1
                yield tokens[name].text, [t.text for t in tokens[begin:name]], i, partner[i]
                begin = partner[i] + 1
            i = partner[i]
        elif tokens[i].text == ';':
            begin = i + 1
        i += 1


def operator_mutant(text, tokens, i):
    t = tokens[i]
    binary = text[t.at - 1] == ' ' and text[t.end].isspace()
    return [Edit(t.end, BEHIND_OPERATOR[t.text])] if binary and t.text in BEHIND_OPERATOR else None


def condition_mutant(tokens, partner, i):
    before, behind = AROUND_CONDITION[tokens[i].text]
    return [Edit(tokens[i + 1].end, before), Edit(tokens[partner[i + 1]].at, behind)]


def return_mutant(text, type_words, tokens, i):
    begin, end = tokens[i + 1].at, text.index(';', tokens[i].end)
    for pattern, before, behind in AROUND_RETURNED:
        if re.fullmatch(pattern, type_words[-1]) and text[begin:end] not in ('', 'UF_OK'):
            return [Edit(begin, before), Edit(end, behind)]
    return None


def instruction_mutant(tokens, i):
    found = INSTRUCTION.match(tokens[i].text)
    if not found:
        return None
    other = dict(INSTRUCTIONS)[found.group(2)]
    changed = tokens[i].text[:found.start(2)] + other + tokens[i].text[found.end(2):]
    return [Edit(tokens[i].at, '(@ ? %s : ' % changed), Edit(tokens[i].end, ')')]


def statement_mutant(text, tokens, i):
    """A call or an assignment that is left out. Declarations of pointers look alike; they do not compile."""
    first, end = tokens[i], text.find(';', tokens[i].at)
    line_begin = text.rindex('\n', 0, first.at) + 1
    if text[line_begin:first.at].strip() or text[end + 1] != '\n' or CLEANUP.match(text, first.at):
        return None
    if tokens[i - 1].text not in ('{', '}', ';', ')', 'else') or first.text in KEYWORDS:
        return None
    if first.kind == tokens[i + 1].kind == 'word':
        return None
    if first.text.isupper():  # a macro, which may be a statement
        return [Edit(first.at, 'if (!@) ')]
    if first.kind == 'word' or first.text in ('*', '++', '--'):
        return [Edit(first.at, '@ ? (void)0 : (void)('), Edit(end, ')')]
    return None


def candidates_at(text, tokens, partner, type_words, i):
    """(kind, edits) of the mutants that a token gives rise to."""
    t = tokens[i]
    yield 'statement left out', statement_mutant(text, tokens, i)
    if t.text in AROUND_CONDITION and tokens[i + 1].text == '(':
        yield 'condition', condition_mutant(tokens, partner, i)
    elif t.text == 'return':
        yield 'returned value', return_mutant(text, type_words, tokens, i)
    elif t.kind == 'mark':
        yield t.text, operator_mutant(text, tokens, i)
    elif t.kind == 'text':
        yield 'instruction', instruction_mutant(tokens, i)


def candidates(root, file):
    """All mutants of a file, in order. Those that reach over the end of a line are left out."""
    with open(os.path.join(root, file)) as f:
        text = f.read()
    tokens, found, alike = tokens_of(text), [], collections.Counter()
    partner = partners(tokens)
    for name, type_words, first, last in functions(tokens, partner):
        for i in range(first + 1, last):
            for kind, edits in candidates_at(text, tokens, partner, type_words, i):
                if not edits or '\n' in text[edits[0].at:edits[-1].at]:
                    continue
                begin, end = text.rindex('\n', 0, edits[0].at) + 1, text.index('\n', edits[0].at)
                mutant = Mutant(file, text.count('\n', 0, begin) + 1, name, kind, text[begin:end].strip(), edits)
                alike[mutant.identity()] += 1
                mutant.nth = alike[mutant.identity()]
                found.append(mutant)
    return found


# ---- Choosing ----

def sources(root):
    files = glob.glob('src/**/*.c', root_dir=root, recursive=True)
    return sorted(f for f in files if not f.startswith('src/cmd/'))


def shares(root, files, count):
    """How many mutants each layer gets: in proportion to its lines, the largest remainders rounded up."""
    lines = collections.Counter()
    for file in files:
        with open(os.path.join(root, file)) as f:
            lines[file.split('/')[1]] += sum(1 for _ in f)
    exact = {layer: count * n / sum(lines.values()) for layer, n in lines.items()}
    share = {layer: int(x) for layer, x in exact.items()}
    for layer in sorted(exact, key=lambda k: share[k] - exact[k])[:count - sum(share.values())]:
        share[layer] += 1
    return share


def drawn(root, files, count, seed):
    """For each layer, how many mutants are wanted, and the mutants in the order in which they are tried: one a line."""
    queues = {}
    for layer, share in sorted(shares(root, files, count).items()):
        generator = random.Random('%d %s' % (seed, layer))
        by_line = collections.defaultdict(list)
        for file in (f for f in files if f.split('/')[1] == layer):
            for mutant in candidates(root, file):
                by_line[file, mutant.line].append(mutant)
        lines = sorted(by_line)
        generator.shuffle(lines)
        queues[layer] = share, [generator.choice(by_line[line]) for line in lines]
    return queues


def listed(root, files, path):
    """The mutants of a list, as far as they are there."""
    there = {mutant.identity(): mutant for file in files for mutant in candidates(root, file)}
    mutants = []
    with open(path) as f:
        for line in f:
            number, place, function, kind, nth, before, _ = line.rstrip('\n').split('\t')
            mutant = there.get((place.rsplit(':', 1)[0], function, kind, before, int(nth)))
            if mutant:
                mutant.number = int(number)
                mutants.append(mutant)
            else:
                print('gone: %s %s: %s' % (number, place, before))
    return mutants


# ---- Writing the copy ----

def mutated(text, mutants):
    edits = sorted(((e, m.number) for m in mutants for e in m.edits), key=lambda pair: pair[0].at, reverse=True)
    for edit, number in edits:
        text = text[:edit.at] + edit.text.replace('@', 'mutant(%d)' % number) + text[edit.at:]
    return text


def write_files(root, tree, mutants, files):
    for file in files:
        with open(os.path.join(root, file)) as f:
            text = mutated(f.read(), [m for m in mutants if m.file == file])
        with open(os.path.join(tree, file), 'w') as f:
            f.write(text)


# Errors for what changes the meaning of the code around a mutant: an array's size that is no constant any more, an `else`
# that finds another `if`, a number where a pointer was.
STRICT = ['-Werror=vla', '-Werror=dangling-else', '-Werror=int-conversion', '-Werror=incompatible-pointer-types']


def refused(compiler, tree, file, mutants):
    """The mutants of a file that do not compile: the compiler's line has one, or the next one above it has."""
    command = compiler + ['-std=c11', '-D_GNU_SOURCE', '-fsyntax-only', '-Iinclude', '-Isrc', '-include', 'tools/mutant.h']
    result = subprocess.run(command + STRICT + [file], cwd=tree, capture_output=True, text=True, check=False)
    lines = [int(n) for n in re.findall(r'^%s:(\d+):\d+: (?:error|note: in expansion)' % re.escape(file), result.stderr, re.M)]
    blamed = {max((m for m in mutants if m.line <= line), key=lambda m: m.line, default=None) for line in lines} - {None}
    if result.returncode and not blamed:
        sys.exit('%s does not compile, and no mutant is to blame:\n%s' % (file, result.stderr))
    return blamed


def drop_refused(root, tree, compiler, mutants, files):
    """Writes the files, compiles them, and gives back the mutants that compile."""
    while files:
        write_files(root, tree, mutants, files)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda f: refused(compiler, tree, f, [m for m in mutants if m.file == f]), files)
        bad = set().union(*found)
        mutants = [m for m in mutants if m not in bad]
        files = sorted({m.file for m in bad})
    return mutants


def choose(root, tree, compiler, queues):
    """The first mutants of each list that compile, as many as are wanted. They are numbered in the order of the sources."""
    chosen, tried = [], collections.Counter()
    while True:
        fresh = []
        for layer, (share, queue) in queues.items():
            missing = share - sum(m.file.split('/')[1] == layer for m in chosen)
            fresh += queue[tried[layer]:tried[layer] + missing]
            tried[layer] += missing
        if not fresh:
            return chosen
        chosen = sorted(chosen + fresh, key=lambda m: (m.file, m.line))
        for number, mutant in enumerate(chosen, 1):
            mutant.number = number
        chosen = drop_refused(root, tree, compiler, chosen, sorted({m.file for m in chosen} | {m.file for m in fresh}))


def changed_line(mutant, text):
    """The mutant's line as it is in the copy."""
    return mutated(text, [mutant]).splitlines()[mutant.line - 1].strip()


def write_list(root, path, mutants):
    with open(path, 'w') as out:
        for m in mutants:
            with open(os.path.join(root, m.file)) as f:
                after = changed_line(m, f.read())
            print(m.number, '%s:%d' % (m.file, m.line), m.function, m.kind, m.nth, m.before, after, sep='\t', file=out)


# ---- Building ----

def copy_tree(root, tree):
    names = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '-z'], cwd=root, capture_output=True, check=True)
    for name in filter(None, names.stdout.decode().split('\0')):
        if os.path.isfile(os.path.join(root, name)):
            os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
            shutil.copy2(os.path.join(root, name), os.path.join(tree, name))


def make_programs(tree, objects, given):
    environment = {name: value for name, value in os.environ.items() if name not in ('MAKEFLAGS', 'MAKELEVEL')}
    subprocess.run(['make', '-C', tree, '-s', '-j%d' % os.cpu_count(), 'test-programs', 'BUILD=' + objects, 'EXAMPLES=',
                    'INSIDE=%s/lib/libinside.so' % objects, 'CFLAGS=-O2 -fPIC -w',
                    'CPPFLAGS=-include %s/tools/mutant.h' % tree] + given, env=environment, check=True)


def gather(tree, objects, run):
    """What the programs need where they run: themselves, their libraries, the files that they read."""
    for folder in ('test', 'lib'):
        os.makedirs(os.path.join(run, folder))
    for path in glob.glob(objects + '/test/test_*') + glob.glob(objects + '/test/*.so') + glob.glob(objects + '/lib/*.so*'):
        copy = os.path.join(run, os.path.relpath(path, objects))
        subprocess.run(['strip', '-o', copy, path], check=True)
    for folder in ('tests', 'layouts'):
        shutil.copytree(os.path.join(tree, folder), os.path.join(run, 'files', folder))


def build(options):
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    into = os.path.abspath(options.into)
    tree, objects, run = (os.path.join(into, name) for name in ('src', 'build', 'run'))
    compiler = shlex.split(options.cc)
    for folder in (tree, objects, run):
        shutil.rmtree(folder, ignore_errors=True)
    copy_tree(root, tree)
    files = sources(root)
    if options.list:
        mutants = drop_refused(root, tree, compiler, listed(root, files, options.list), files)
    else:
        mutants = choose(root, tree, compiler, drawn(root, files, options.count, options.seed))
    shutil.copy2(os.path.join(tree, 'tools/mutant.c'), os.path.join(tree, 'src/base'))
    make_programs(tree, objects, ['CC=' + options.cc] + options.make)
    gather(tree, objects, run)
    write_list(root, os.path.join(run, 'mutants.list'), mutants)
    print('%d mutants: %s/mutants.list' % (len(mutants), run))


# ---- Running ----

Result = collections.namedtuple('Result', 'status wall cpu complaint')

LIMITS = 'ulimit -S -c 0 && ulimit -S -f 2097152 && ulimit -S -v %d && ulimit -S -t %d && exec "$0"'  # files end at 1 GiB


def run_program(program, environment, most_memory, most_cpu, timeout):
    """Runs a program in a folder of its own with a copy of the files that tests read. A mutant may do anything: the program
    and its children are ended after `timeout` seconds, and have a limited memory (KiB) and seconds of a processor. status
    None: it was ended."""
    folder = os.path.dirname(os.path.dirname(program))
    with tempfile.TemporaryDirectory(prefix='mutant.') as work:
        shutil.copytree(os.path.join(folder, 'files'), work, dirs_exist_ok=True)
        os.mkdir(os.path.join(work, 'tmp'))
        variables = dict(os.environ, CMOCKA_MESSAGE_OUTPUT='TAP', OPENBLAS_NUM_THREADS='1', UF_SEED='1',
                         TMPDIR=os.path.join(work, 'tmp'), **environment)
        with open(os.path.join(work, 'log'), 'w+b') as log:
            began = time.monotonic()
            child = subprocess.Popen(['sh', '-c', LIMITS % (most_memory, most_cpu), program], cwd=work, env=variables,
                                     stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
            ended = threading.Event()
            timer = threading.Timer(timeout, lambda: (ended.set(), end_group(child.pid)))
            timer.start()
            _, status, usage = os.wait4(child.pid, 0)
            timer.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
            end_group(child.pid)
            wall = time.monotonic() - began
            log.seek(0)
            complaint = next((line for line in log if line.startswith(b'not ok')), b'').decode(errors='replace').strip()
    return Result(None if ended.is_set() else child.returncode, wall, usage.ru_utime + usage.ru_stime, complaint)


def end_group(process):
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def measure(program, count, most_memory, most_seconds):
    """A run without a mutant, and the numbers of the mutants that it came by."""
    with tempfile.NamedTemporaryFile(prefix='reached.') as table:
        table.truncate(count + 1)
        result = run_program(program, {'UF_MUTANT_REACHED': table.name}, most_memory, most_seconds + 1, 1800)
        with open(table.name, 'rb') as f:
            reached = [n for n, byte in enumerate(f.read()) if byte]
    return result, reached


def usable(program, result, most_seconds):
    """Whether a program's verdict counts; a program that fails without a mutant is an error."""
    name = os.path.basename(program)
    if result.status == 77:
        print('left out: %s skips its tests here' % name)
    elif result.cpu > most_seconds:
        print('left out: %s needs more than %d s of a processor' % (name, most_seconds))
    elif result.status != 0:
        sys.exit('%s fails without a mutant: status %s, %s' % (name, result.status, result.complaint))
    else:
        return True
    return False


def why_caught(result):
    if result.status is None:
        return 'took too long'
    return result.complaint or ('killed by signal %d' % -result.status if result.status < 0 else 'status %d' % result.status)


def hunt(number, programs, most_memory, grace):
    """programs: (path, its run without a mutant), in order. The verdict on a mutant."""
    for program, usual in programs:
        result = run_program(program, {'UF_MUTANT': str(number)}, most_memory, 600, 5 * usual.wall + grace)
        if result.status != 0:
            return 'caught', '%s: %s' % (os.path.basename(program), why_caught(result))
    return ('survived', 'came by: %s' % ' '.join(os.path.basename(p) for p, _ in programs)) if programs else ('not reached', '')


def chosen_numbers(text):
    for part in text.split(','):
        first, _, last = part.partition('-')
        yield from range(int(first), int(last or first) + 1)


def run(options):
    folder = os.path.abspath(options.build)
    with open(os.path.join(folder, 'mutants.list')) as f:
        places = {int(line.split('\t')[0]): line.split('\t')[1] for line in f}
    wanted = sorted(set(chosen_numbers(options.only)) & set(places)) if options.only else sorted(places)
    random.Random(1).shuffle(wanted)  # those that --minutes leaves time for are spread over the layers
    memory = int(options.memory * 1048576)
    deadline = time.monotonic() + 60 * options.minutes
    programs = sorted(glob.glob(folder + '/test/test_*'))
    if not programs:
        sys.exit('%s has no test programs' % folder)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        measured = list(pool.map(lambda p: measure(p, max(places), memory, options.most_seconds), programs))
        used = [(p, result, set(reached)) for p, (result, reached) in zip(programs, measured)
                if usable(p, result, options.most_seconds)]
        used.sort(key=lambda entry: entry[1].cpu)
        print('%d of %d programs, %.1f s without a mutant' % (len(used), len(programs), sum(r.cpu for _, r, _ in used)),
              flush=True)
        totals = collections.Counter()

        def verdict(number):
            if time.monotonic() > deadline:
                return 'not run', 'no time was left'
            return hunt(number, [(p, result) for p, result, reached in used if number in reached], memory, options.grace)

        for number, (word, what) in zip(wanted, pool.map(verdict, wanted)):
            totals[word] += 1
            print(number, places[number], word, what, sep='\t', flush=True)
    print(', '.join('%d %s' % (totals[word], word) for word in ('caught', 'survived', 'not reached', 'not run')))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    made = verbs.add_parser('build', help='make the copy with the mutants, and compile it')
    made.set_defaults(verb=build)
    made.add_argument('--into', required=True, help='a folder to write to')
    made.add_argument('--count', type=int, default=240, help='how many mutants')
    made.add_argument('--seed', type=int, default=1, help='of the choice')
    made.add_argument('--list', help='take the mutants of this file instead of choosing')
    made.add_argument('--cc', default='cc', help='the compiler')
    made.add_argument('make', nargs='*', help='arguments of make, such as DEPS=DIR')
    hunted = verbs.add_parser('run', help='run the programs on each mutant')
    hunted.set_defaults(verb=run)
    hunted.add_argument('--build', required=True, help='the folder `run` that `build` wrote')
    hunted.add_argument('--jobs', type=int, default=os.cpu_count(), help='programs at a time')
    hunted.add_argument('--most-seconds', type=int, default=8, help='programs that need more of a processor are left out')
    hunted.add_argument('--grace', type=float, default=10, help='seconds that a program may take beyond 5 times its usual ones')
    hunted.add_argument('--memory', type=float, default=8, help='GiB that a program may map')
    hunted.add_argument('--minutes', type=float, default=1e9, help='mutants whose turn comes later are not run')
    hunted.add_argument('--only', help='numbers of mutants, such as 1-20,37')
    options = parser.parse_args()
    options.verb(options)


if __name__ == '__main__':
    main()
