#!/usr/bin/env python3
"""coverage.py BUILD - the share of the lines and branches of src/ that ran, of each file, each layer, and all together.

BUILD was compiled with --coverage, and every program that ran since has added its counts to the .gcda files there. gcov turns
them into JSON. A line of a header is compiled into many objects; it ran if it ran in one of them, and so for its branches,
which are told apart by their function and order. Code that never ran counts too."""
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys


def counts_of(notes):
    """What gcov says of one object: (place, count) of its lines, and of its branches. A place is a tuple, its file first."""
    command = [os.environ.get('GCOV', 'gcov'), '--branch-probabilities', '--json-format', '--stdout', notes]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit('%s: %s' % (notes, result.stderr))
    lines, branches = [], []
    for file in json.loads(result.stdout)['files']:
        name = os.path.relpath(file['file'])
        if not name.startswith('src/'):
            continue
        for line in file['lines']:
            place = name, line['line_number']
            lines.append((place, line['count']))
            for i, branch in enumerate(line['branches']):
                branches.append((place + (line.get('function_name'), i), branch['count']))
    return lines, branches


def summed(pairs):
    total = collections.Counter()
    for place, count in pairs:
        total[place] += count
    return total


def row(name, lines, branches):
    shares = ('%6d of %6d %6.2f %%' % (ran, count, 100 * ran / max(count, 1)) for ran, count in (lines, branches))
    return '%-28s %s   %s' % (name, *shares)


def table(title, tallies, name_of):
    """A row for each name that name_of gives a file. tallies: of lines and of branches, counts by place."""
    groups = [collections.defaultdict(lambda: [0, 0]) for _ in tallies]
    for group, tally in zip(groups, tallies):
        for place, count in tally.items():
            group[name_of(place[0])][0] += count > 0
            group[name_of(place[0])][1] += 1
    print('%-28s %25s   %25s' % (title, 'lines', 'branches'))
    for name in sorted(groups[0]):
        print(row(name, groups[0][name], groups[1][name]))
    print()


def main():
    # The objects of the library, which the oracles run, and those that the unit tests link.
    notes = sorted(note for folder in ('obj', 'test/inside')
                   for note in glob.glob(os.path.join(sys.argv[1], folder, '**', '*.gcno'), recursive=True))
    if not notes:
        sys.exit('%s has no objects that were compiled with --coverage' % sys.argv[1])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(counts_of, notes))
    tallies = [summed(pair for one in found for pair in one[k]) for k in (0, 1)]
    table('file', tallies, lambda file: file[len('src/'):])
    table('layer', tallies, lambda file: file.split('/')[1])
    table('all', tallies, lambda file: 'src')


if __name__ == '__main__':
    main()
