"""The fenced blocks of README.md, CONTRIBUTING.md, docs and the plugins' READMEs."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import source_tree
from source_tree import ROOT

_FENCE = re.compile(r" *```(.*)$")
_DIRECTIVE = "{"  # Of Sphinx, such as {toctree}.
_HEADING = re.compile(r"#+ (.*)")


@dataclass(frozen=True)
class Block:
    """Code in a document.

    Args:
      document: path from the root of the repository.
      name: the heading above as links have it, and the number of the block below it: `options 2`.
        Changes in other parts of the document leave it as it is.
      language: the word behind the fence; empty for none.
      line: of the fence, from 1 on.
      text: the code, without the indentation of the block.
    """

    document: str
    name: str
    language: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.document} {self.name}"

    @property
    def file(self) -> str | None:
        """The path in a first line such as `# src/my_digits/model.py`, or None."""
        found = re.match(r"# ([\w./-]+\.\w+)\n", self.text)
        return found[1] if found and self.language in ("python", "toml", "yaml") else None


def documents() -> list[str]:
    """Returns the documents with code, in the order of their paths."""
    return [path for path in source_tree.documents() if blocks(path)]


def blocks(document: str) -> list[Block]:
    """Returns the blocks of a document, in its order."""
    return list(blocks_of_text(document, (ROOT / document).read_text(encoding="utf-8")))


def blocks_of_text(document: str, text: str) -> Iterator[Block]:
    """Yields the blocks of a document with this text; directives of Sphinx are none."""
    heading, counts, opened, inside = "", Counter[str](), None, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is not None and fence:
            if not opened[0].startswith(_DIRECTIVE):
                counts[heading] += 1
                name = f"{heading} {counts[heading]}"
                yield Block(document, name, opened[0], opened[1], _code(inside))
            opened = None
        elif fence:
            opened, inside = (fence[1], number), []
        elif opened is not None:
            inside.append(line)
        elif found := _HEADING.match(line):
            heading = anchor(found[1])


def _code(lines: list[str]) -> str:
    return textwrap.dedent("".join(f"{line}\n" for line in lines))


def anchor(heading: str) -> str:
    """Returns a heading as GitHub writes it into links."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")
