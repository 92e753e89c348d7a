"""The commands of tf-frame in the blocks of the documents, as words."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator

from documents.blocks import Block
from documents.output import commands as shown_commands

_ENDS = {"|", "&&", ";", "&"}


def commands(block: Block) -> Iterator[list[str]]:
    """Yields the words after `tf-frame` of each command in a block of a shell."""
    text = block.text if block.language == "sh" else shown_commands(block.text)
    for line in text.replace("\\\n", " ").splitlines():
        # Of commands within quotes and substitutions only the block as a whole can tell.
        if "tf-frame" not in line or "$(" in line or "sh -c" in line:
            continue
        words = shlex.split(line, comments=True)
        for number, word in enumerate(words):
            if word.endswith("tf-frame"):
                rest = words[number + 1 :]
                yield list(itertools.takewhile(lambda each: each not in _ENDS, rest))


def run_options(words: list[str]) -> list[str] | None:
    """Returns the options of a run in a command, also of one that other commands start, or None."""
    if words[:1] == ["run"]:
        return words[1:]
    if "--" in words:
        return run_options(words[words.index("--") + 1 :])
    return None
