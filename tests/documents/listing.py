"""Lists every block of code in the documents, with what the tests do with it, and why.

PYTHONPATH=tests/support python tests/documents/listing.py [DOCUMENT ...]
"""

import sys
from collections import Counter

from documents.blocks import blocks, documents
from documents.commands import commands, run_options
from documents.plan import needs, status


def remarks(block):
    """The differences from a reader's own run, with reasons."""
    need, words = needs(block), []
    if status(block) in ("run", "compared"):
        # The words that are added to a command of the block.
        given = {key for each in commands(block) for key in (each[0], run_options(each) and "run")}
        words = [f"{key} ... {value}" for key, value in sorted(need.quick.items()) if key in given]
        words += [f"{name} has a stand-in" for name in need.stand_ins]
    return "; ".join([*filter(None, (need.skip, need.shown)), *words])


def print_listing(names):
    """Prints a line for each block, and the numbers of each status."""
    counts = Counter()
    for document in names or documents():
        for block in blocks(document):
            state, language = status(block), block.language or "plain"
            counts[language, state] += 1
            where = f"{document}:{block.line}"
            print(f"{where:45} {language:7} {state:9} {remarks(block)}".rstrip())
    for (language, state), count in sorted(counts.items()):
        print(f"{language:7} {state:9} {count:4}")


if __name__ == "__main__":
    print_listing(sys.argv[1:])
