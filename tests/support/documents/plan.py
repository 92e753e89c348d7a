"""The needs of each block of the documents, from `plan.yaml`.

The file has a section for each document that needs anything, with the name of a block and what it
needs, and under `page` what all of them need. See `Needs` for the keys.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from documents.blocks import Block

PLAN = Path(__file__).with_name("plan.yaml")


@dataclass(frozen=True)
class Needs:
    """The needs of a block that is run as it is written.

    Args:
      skip: why it is not run.
      shown: why output is not compared, of a block without a language; or what YAML is that is no
        configuration.
      data: names of functions of `data`, which make files in the folder before the block.
      setup: commands before the block, such as those that the text around it supposes.
      quick: command of tf-frame -> words that are added to it, so that it takes seconds.
      stand_ins: programs of a cluster that scripts of `stand_ins/` replace.
      before: Python before a block, with the names that it takes from its surroundings.
      after: what has to be true after it, in Python, or in the shell for other blocks.
      inside: Python around it, with `BLOCK` in its place.
      file: where a reader saves a Python block.
      module: the name under which `after` imports a Python block; else both are one script.
      prints: patterns that the output has to have.
      of: the block whose output this one shows; without it, the last one that ran.
      numbers: largest difference of a number from the one shown, as a share; None: any number.
      lines: of the output shown, patterns of the lines to compare; others vary.
      light: whether the default suite runs it, because it needs no TensorFlow.
      packages: without which it is left out; `tox -e docs-test` has all of them.
      secs: longest time.
    """

    skip: str = ""
    shown: str = ""
    data: tuple[str, ...] = ()
    setup: str = ""
    quick: Mapping[str, str] = field(default_factory=dict)
    stand_ins: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    inside: str = "BLOCK"
    file: str = ""
    module: str = ""
    prints: tuple[str, ...] = ()
    of: str = ""
    numbers: float | None = None
    lines: tuple[str, ...] = ()
    light: bool = False
    packages: tuple[str, ...] = ()
    secs: float = 240


@functools.cache
def plan() -> dict[str, dict[str, dict[str, Any]]]:
    """Returns the sections of the file: document -> block -> what it needs."""
    return yaml.safe_load(PLAN.read_text(encoding="utf-8"))


def needs(block: Block) -> Needs:
    """Returns what a block needs; its own entry wins over that of its page."""
    section = plan().get(block.document, {})
    entry = {**section.get("page", {}), **section.get(block.name, {})}
    return Needs(**{key: tuple(v) if isinstance(v, list) else v for key, v in entry.items()})


def status(block: Block) -> str:
    """Returns what a test does with a block: one of skipped, shown, compared, file, read, run."""
    need = needs(block)
    if need.skip:
        return "skipped"
    if block.language == "":
        return "shown" if need.shown else "compared"
    if block.language == "yaml":
        return "read"
    if block.file or need.file:
        return "file"
    return "run"
