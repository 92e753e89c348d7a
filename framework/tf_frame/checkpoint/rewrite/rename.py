"""Renames and drops variables in a copy of a checkpoint (`tf-frame checkpoint rename`).

A model with other variable names can restore the copy. The copy can leave out optimizer slots.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence

from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.checkpoint.rewrite.output import check_destination, write_checkpoint
from tf_frame.checkpoint.warm_start.rules import (
    parse_regex,
    parse_rules,
    rename,
    warn_about_unmatched,
)
from tf_frame.errors import ConfigError
from tf_frame.shell_text import shell_word
from tf_frame.text import indented, short


@dataclasses.dataclass(frozen=True)
class Rewriting:
    """The plan of a new checkpoint.

    Attributes:
      checkpoint: the source.
      destination: path prefix of the new checkpoint.
      renamed: old name -> new name, for all variables that are kept.
      dropped: names of the variables that are left out.
    """

    checkpoint: Checkpoint
    destination: str
    renamed: dict[str, str]
    dropped: Sequence[str]

    @property
    def changed(self) -> dict[str, str]:
        """Old name -> new name, where they differ."""
        return {old: new for old, new in self.renamed.items() if old != new}

    def write(self) -> None:
        """Writes the new checkpoint; values and types do not change.

        Raises:
          CheckpointError: the source cannot be read, or the new checkpoint not be written.
        """
        source = self.checkpoint
        ordered = sorted(self.renamed.items(), key=lambda item: item[1])
        tensors = ((new, source.dtype(old), source.read(old)) for old, new in ordered)
        write_checkpoint(self.destination, tensors)


def plan_rewriting(
    checkpoint: Checkpoint,
    path: str,
    *,
    rules: Sequence[str] = (),
    drop: Sequence[str] = (),
    overwrite: bool = False,
) -> Rewriting:
    """Finds the new names; writes nothing.

    Args:
      checkpoint, path, overwrite: the source; see `check_destination`.
      rules: texts `REGEX=REPLACEMENT`; the first rule that matches a whole name counts.
      drop: regular expressions; variables are left out if the whole name matches.

    Raises:
      ConfigError: a malformed rule, two variables with one new name, nothing to
        change, or nothing left; or `path` cannot be written.
    """
    prefix = check_destination(path, [checkpoint.path], overwrite=overwrite)
    parsed = parse_rules("--rule", rules)
    patterns = [(text, parse_regex("--drop", text)) for text in drop]
    dropped = [n for n in checkpoint.names if any(p.fullmatch(n) for _, p in patterns)]
    renamed = {n: rename(n, parsed) for n in checkpoint.names if n not in set(dropped)}
    warn_about_unmatched("--drop", patterns, checkpoint.names)
    warn_about_unmatched("--rule", [(rule.text, rule.pattern) for rule in parsed], checkpoint.names)
    rewriting = Rewriting(checkpoint, prefix, renamed, dropped)
    _check(rewriting)
    return rewriting


def _check(rewriting: Rewriting) -> None:
    path = rewriting.checkpoint.path
    if not rewriting.changed and not rewriting.dropped:
        raise ConfigError(
            f"nothing to change: no rule gives a variable of {short(path)} another name; tf-frame "
            f"checkpoint show {short(shell_word(path))} lists them"
        )
    if not rewriting.renamed:
        raise ConfigError(
            f"--drop leaves none of the {len(rewriting.dropped)} variables of {short(path)}"
        )
    old_names = collections.defaultdict(list)
    for old, new in rewriting.renamed.items():
        old_names[new].append(old)
    shared = [f"{new}: {', '.join(old)}" for new, old in old_names.items() if len(old) > 1]
    if shared:
        raise ConfigError(
            f"{len(shared)} new names would belong to several variables:\n{indented(shared)}\n"
            "change the --rule, or --drop all but one"
        )
