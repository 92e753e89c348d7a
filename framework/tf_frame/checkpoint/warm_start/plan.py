"""Warm start: initial values from another model's checkpoint, such as a pretrained backbone.

    warm_start = plan_warm_start(config, candidate_variables())
    scaffold = tf.compat.v1.train.Scaffold(init_fn=warm_start.init_fn)

TensorFlow calls `init_fn` only if no checkpoint of the run itself was restored.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.path import resolve_checkpoint
from tf_frame.checkpoint.find.reader import (
    INPUT_POSITION,
    READ_ERRORS,
    Checkpoint,
    unreadable_error,
)
from tf_frame.checkpoint.warm_start.rows import (
    Outcome,
    Row,
    check_rows,
    format_rows,
    match_variables,
)
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame.errors import ConfigError
from tf_frame.text import indented

_SHOWN = 8


@dataclasses.dataclass(frozen=True)
class WarmStart:
    """The plan of a warm start.

    Attributes:
      path: path prefix of the checkpoint.
      rows: outcome for each variable of the graph.
      unused: names in the checkpoint that are not restored.
      savers: savers that restore; usually one.
      then: ops that `init_fn` runs after restoring, such as the assignment of moving averages.
    """

    path: str
    rows: Sequence[Row]
    unused: Sequence[str]
    savers: Sequence[Any] = ()
    then: Sequence[Any] = ()

    def init_fn(self, scaffold: Any, session: Any) -> None:
        """Restores the variables; for `tf.compat.v1.train.Scaffold`.

        Raises:
          CheckpointError: the data of the checkpoint is damaged.
        """
        del scaffold
        try:
            for saver in self.savers:
                saver.restore(session, self.path)
        except (tf.errors.AbortedError, tf.errors.UnavailableError):
            raise  # A worker or parameter server was lost; TensorFlow creates a new session.
        except READ_ERRORS as error:
            raise unreadable_error(self.path, error) from error
        session.run(list(self.then))

    def table(self) -> str:
        """A line for each variable of the graph, and the summary."""
        return f"{format_rows(self.rows)}\n{self.summary()}"

    def short_table(self) -> str:
        """The summary, and the variables that are not restored, or their first scopes."""
        left_out = [row for row in self.rows if row.outcome != Outcome.RESTORED]
        lines = [" ".join(row.cells()[:3]) for row in left_out]
        if len(left_out) > _SHOWN:
            scopes = collections.Counter(
                f"{row.outcome.value} {row.name.partition('/')[0]}/..." for row in left_out
            )
            lines = [f"{scope}: {count} variables" for scope, count in scopes.items()]
        return "\n".join([self.summary(), *([indented(lines, _SHOWN)] if lines else [])])

    def summary(self) -> str:
        """A line with the numbers of variables restored, skipped, or unused in the file."""
        counts = collections.Counter(row.outcome for row in self.rows)
        restored = counts.pop(Outcome.RESTORED, 0)
        counted = ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in sorted(counts))
        text = f"warm start from {self.path}: {restored} of {len(self.rows)} variables restored"
        text += f" ({counted})" if counted else ""
        return text + (f"; {self._unused()}" if self.unused else "")

    def _unused(self) -> str:
        """Counts unused variables by the last part of their names, which optimizer slots share."""
        kinds = collections.Counter(name.rpartition("/")[2] for name in self.unused)
        shown = [f"{count} {kind}" for kind, count in kinds.most_common(4)]
        shown += ["..."] if len(kinds) > 4 else []
        return f"{len(self.unused)} in the checkpoint not used: {', '.join(shown)}"


def candidate_variables() -> list[Any]:
    """Returns the variables of the default graph that belong to its model.

    These are the trainable variables and the collection `MODEL_VARIABLES`, as in slim: no
    slots of optimizers, no moving averages of variables, no counters; in the order of
    their creation.
    """
    variables = {v.ref(): v for v in [*tf.trainable_variables(), *tf.model_variables()]}
    made = {v.ref(): number for number, v in enumerate(tf.global_variables())}
    return [variables[ref] for ref in sorted(variables, key=lambda ref: made.get(ref, len(made)))]


def plan_warm_start(
    config: WarmStartOptions,
    variables: Iterable[Any],
    *,
    then: Sequence[Any] = (),
    allow_nothing: bool = False,
) -> WarmStart | None:
    """Finds the variables that can be restored, and adds the ops to the default graph.

    `--warm_start_global_step` decides about the global step, in or outside of `variables`.

    Args:
      variables: candidates, such as `candidate_variables()`.
      then: further ops to run after restoring and after setting moving averages.
      allow_nothing: whether it is no error if no variable is restored.

    Returns:
      The plan; None without `--warm_start_from`.

    Raises:
      CheckpointError: the checkpoint cannot be read, or the options do not allow that variables
        are missing or have another shape or type.
      ConfigError: an option is malformed, or there is no such checkpoint.
    """
    if not config.warm_start_from:
        return None
    checkpoint = Checkpoint(resolve_warm_start(config.warm_start_from))
    step = tf.train.get_global_step()
    considered = [variable for variable in variables if variable is not step]
    if config.warm_start_global_step and step is not None:
        considered.append(step)
    rows = match_variables(config, considered, checkpoint)
    check_rows(config, rows, checkpoint, allow_nothing=allow_nothing)
    restored = [row for row in rows if row.outcome == Outcome.RESTORED]
    used = {row.source for row in restored}
    unused = [n for n in checkpoint.names if n not in used and not n.startswith(INPUT_POSITION)]
    ops = [*_assign_averages(restored), *then]
    return WarmStart(checkpoint.path, rows, unused, _savers(restored), ops)


def resolve_warm_start(path: str) -> str:
    """Returns the path prefix for `--warm_start_from`; a ConfigError without a checkpoint."""
    try:
        return resolve_checkpoint(path)
    except ConfigError as error:
        raise ConfigError(f"--warm_start_from: {error}") from None


def _savers(rows: Sequence[Row]) -> Sequence[Any]:
    """Returns savers for the rows.

    A saver can use a name in the checkpoint once. There are several savers if a map gives
    several variables the same source.
    """
    groups: list[dict[str, Any]] = []
    for row in rows:
        group = next((group for group in groups if row.source not in group), None)
        if group is None:
            groups.append(group := {})
        first = row.parts[0]
        group[row.source] = list(row.parts) if first._get_save_slice_info() else first
    return [tf.train.Saver(group, name="warm_start") for group in groups]


def _assign_averages(rows: Sequence[Row]) -> Sequence[Any]:
    """Returns ops that set moving averages to the restored values.

    Averages begin with the initial values; with a decay of 0.9999 these would have an influence
    for tens of thousands of steps.
    """
    by_name = {variable.op.name: variable for variable in tf.global_variables()}
    pairs = [
        (average, part)
        for row in rows
        for part in row.parts
        if (average := by_name.get(part.op.name + "/ExponentialMovingAverage")) is not None
    ]
    return [average.assign(part.read_value()).op for average, part in pairs]
