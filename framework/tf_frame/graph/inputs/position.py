"""Position in the input: iterator state as tensors of a checkpoint, so that resuming is exact.

    position = make_input_position(source, config)   # after the clones are built
    position.tensors                                 # saved together with the variables
    position.restore(session, "runs/first/model.ckpt-120")

The position counts the batches that the clones took, and includes shuffled, mapped and prefetched
elements, so that a restored run continues with the next batch. Until 2.15 TensorFlow had
`tf.data.experimental.CheckpointInputPipelineHook` for this purpose.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import read_step
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.cluster.status import run_command
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError, ConfigError, DataError, short_reason
from tf_frame.graph.graph_edits import switch_branches
from tf_frame.graph.inputs.replay import (
    count_runs,
    describe_exactness,
    stateful_remedies,
    take_again,
)
from tf_frame.graph.inputs.streams import iterator_initializers, streams_without_position
from tf_frame.plugin import Mode
from tf_frame.side_files import as_object
from tf_frame.text_file import parse_json

_LOG = logging.getLogger("tf_frame")
_SCOPE = "input_position"
_FINGERPRINT = "fingerprint"
_STEP = "step"
_TENSORFLOW = "TensorFlow"
_WORKERS = "workers"
# SerializationContext::ExternalStatePolicy::kFail, tensorflow/core/framework/dataset.h.
_FAIL = 2
_NEW_PASS = "--allow_inexact_resume resumes with a new pass over the data"
_READ = "return a data set of tf.data, without an iterator"


class InputPosition:
    """Saves and restores the iterators of the default graph; made by `make_input_position`.

    The sessions of the methods have initialised iterators.

    Args:
      fingerprint: the values that must be equal for a position to fit.
      parts: numbers of the parts of the data that this worker reads, usually its own number; each
        part has its own names in the checkpoint.
      lockstep: whether all workers make every step together.

    Attributes:
      tensors: name in the checkpoint -> scalar string tensor; evaluate them between two steps.
      initializers: operations that begin a new pass over the data.
    """

    def __init__(
        self, fingerprint: Mapping[str, Any], *, parts: Sequence[int] = (0,), lockstep: bool = False
    ) -> None:
        self._fingerprint = dict(fingerprint)
        self._step_names = [step_name(part) for part in parts] if lockstep else []
        self._fingerprint_name = _saved_name(_FINGERPRINT, parts[0])
        self._reasons = streams_without_position()
        self._runs_per_step = 0
        self.initializers = iterator_initializers()
        with tf.name_scope(_SCOPE), tf.device(None):
            # A local variable, so that a checkpoint fits with and without a saved position.
            self._saved = tf.Variable(
                True, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="saved"
            )
            self._leave_out = tf.assign(self._saved, False).op
            per_part = len(self.initializers) // len(parts)
            self._kinds = [_FINGERPRINT, *map(str, range(per_part))]
            names = [_saved_name(kind, part) for part in parts for kind in self._kinds[1:]]
            inputs = [op.inputs[1] for op in self.initializers]
            handles = dict(zip(names, inputs, strict=True))
            fingerprint_text = tf.constant(json.dumps(self._fingerprint))
            self._serialized = [_serialized(handle) for handle in handles.values()]
            self._fed = {name: tf.placeholder(tf.string, []) for name in handles}
            self._restored = [_deserialized(h, self._fed[name]) for name, h in handles.items()]
            self.tensors: dict[str, Any] = {
                **{_saved_name(_FINGERPRINT, part): fingerprint_text for part in parts},
                **{name: self._if_saved(handle) for name, handle in handles.items()},
            }

    def position_names(self, parts: Sequence[int]) -> list[str]:
        """Returns the names in the checkpoint of the positions in other parts of the data."""
        return [_saved_name(kind, part) for part in parts for kind in self._kinds]

    def check(self, session: Any) -> None:
        """Checks that the position can be saved, by evaluating it.

        Raises:
          DataError: the position cannot be saved; the first line of the message is the reason,
            the next lines are advice.
        """
        reasons = list(self._reasons)
        try:
            session.run(self._serialized)
        except (tf.errors.FailedPreconditionError, tf.errors.UnimplementedError) as error:
            reasons.append(short_reason(error).rstrip("."))
        if reasons:
            raise DataError(
                f"the position in the input cannot be saved: {'; '.join(reasons)}\nA resumed run "
                "would not read the examples that an uninterrupted one reads. To make it exact, "
                f"{self._remedy()}; or give --allow_inexact_resume: then a resumed run begins a "
                "new pass over the data, as the class of an input may also declare by "
                "exact_resume = False"
            )

    @property
    def counted_advice(self) -> str:
        """Says how an input whose batches are counted can be resumed at once."""
        return (
            f"to resume at once, and exactly, {self._remedy()}; or declare exact_resume = False in "
            "the class of the input, or give --allow_inexact_resume: then a resumed run begins a "
            "new pass; --strict refuses this input"
        )

    def _remedy(self) -> str:
        """Returns the changes of the input that let its position be saved."""
        queues = [_READ] if self._reasons else []
        return ", and ".join([*queues, *stateful_remedies(self.initializers)]) or _READ

    def leave_out(self, session: Any) -> None:
        """Makes `tensors` empty strings in this session, for an input that cannot be saved."""
        session.run(self._leave_out)

    @property
    def is_countable(self) -> bool:
        """True if the batches of the input can be counted, so that `count` may be called."""
        return not self._reasons

    def count(self, session: Any, *, runs_per_step: int, interrupted: Callable[[], object]) -> str:
        """Leaves the position out; `restore` then takes the batches of all earlier steps again.

        Args:
          session: the session.
          runs_per_step: runs of the train op in a global step.
          interrupted: whether a signal asks this process to end, which ends `restore`.

        Returns:
          A text for the user: how exact a resumed run is.
        """
        self.leave_out(session)
        self._runs_per_step, self._interrupted = runs_per_step, interrupted
        exactness = describe_exactness(self.initializers)
        return f"a resumed run reads the input again up to its step, {exactness}"

    def restore(self, session: Any, path: str, *, report: Callable[[str], None]) -> None:
        """Restores the position from the checkpoint of the variables; `report` takes lines.

        Raises:
          CheckpointError: the checkpoint has no position, or a damaged one.
          ConfigError: the position belongs to another input or batch size. The first line of the
            messages is the reason, the next lines are advice.
        """
        checkpoint = Checkpoint(path)
        self._check_fingerprint(checkpoint, report)
        if self._runs_per_step:
            runs = count_runs(checkpoint, runs_per_step=self._runs_per_step)
            if runs:
                report(f"reading the input of {read_step(path)} steps again")
            session.run(self.initializers)
            take_again(session, self.initializers, runs, interrupted=self._interrupted)
            return
        self._check_step(checkpoint, report)
        try:
            self.put(session, {name: _read(checkpoint, name) for name in self._fed})
        except (tf.errors.AbortedError, tf.errors.UnavailableError):
            raise  # A lost worker: TensorFlow makes a new session.
        except tf.errors.OpError as error:
            session.run(self.initializers)
            raise CheckpointError(
                f"the position in the input that {path} holds does not fit the input of this run: "
                f"{short_reason(error)}\nRun the versions of its package and of TensorFlow that "
                f"wrote it; or {_NEW_PASS}"
            ) from error

    def put(self, session: Any, values: Mapping[str, bytes]) -> None:
        """Restores the position from the values of `tensors`, by their names in the checkpoint.

        Raises:
          tf.errors.OpError: the values belong to another input.
        """
        # Ends threads that read ahead. They would draw from the seeds of a shuffled data set, which
        # they share with the restored iterator (TensorFlow 2.21).
        session.run(self.initializers)
        session.run(self._restored, {fed: values[name] for name, fed in self._fed.items()})

    def _if_saved(self, handle: Any) -> Any:
        with switch_branches():
            return tf.cond(
                tf.identity(self._saved), lambda: _serialized(handle), lambda: tf.constant("")
            )

    def _check_step(self, checkpoint: Checkpoint, report: Callable[[str], None]) -> None:
        steps = {int(checkpoint.read(name)) for name in self._step_names if name in checkpoint}
        step = min(steps, default=read_step(checkpoint.path))
        if step != (reached := read_step(checkpoint.path)) and reached:
            report(
                f"warning: {checkpoint.path} holds the position of this worker in the input at "
                f"step {step}; the examples since then are read again"
            )

    def _check_fingerprint(self, checkpoint: Checkpoint, report: Callable[[str], None]) -> None:
        # For a worker without a position in the checkpoint, the chief's fingerprint differs in the
        # number of workers, which the message then names.
        is_saved = self._fingerprint_name in checkpoint
        name = self._fingerprint_name if is_saved else _saved_name(_FINGERPRINT, 0)
        try:
            saved = as_object(parse_json(_read(checkpoint, name).decode()))
        except ValueError as error:
            raise CheckpointError(
                f"the position in the input that {checkpoint.path} holds is damaged: {error}\n"
                f"{_NEW_PASS}"
            ) from None
        changed = {
            name: f"{name} {_shown(saved.get(name))} -> {_shown(self._fingerprint.get(name))}"
            for name in {**saved, **self._fingerprint}
            if saved.get(name) != self._fingerprint.get(name)
        }
        version = changed.pop(_TENSORFLOW, None)
        if version:
            report(f"warning: the position in the input was saved by another {version}")
        if changed:
            raise ConfigError(
                f"the position in the input that {checkpoint.path} holds is not one of this run: "
                f"{', '.join(changed.values())}\n{_advice(checkpoint.path, saved, changed)}; or "
                f"{_NEW_PASS}"
            )


def make_input_position(source: Any, config: RunOptions) -> InputPosition | None:
    """Makes the ops that save and restore the position of the default graph's input.

    Args:
      source: the input plugin, after its batches were made.
      config: batch size, seed, number of workers.

    Returns:
      The position; None if an update aggregates several gradients of a worker, because no
      checkpoint holds pending gradients.
    """
    if config.aggregated_replicas > config.worker_replicas:
        _LOG.info("the position in the input is not saved: no checkpoint holds pending gradients")
        return None
    return InputPosition(
        _fingerprint(source, config),
        parts=config.input_shards(config.task),
        lockstep=config.makes_steps_together,
    )


def _shown(value: Any) -> str:
    # A number of workers is not recorded for one.
    return "none" if value is None else repr(value)


def _advice(path: str, saved: Mapping[str, Any], changed: Mapping[str, str]) -> str:
    """Returns how to read the input again as the run did that saved a position."""
    if set(changed) != {_WORKERS}:
        return "Give the same values again"
    folder = os.path.dirname(path)
    command = run_command(folder, ["--model_dir", folder], num_workers=saved.get(_WORKERS, 1))
    return f"Go on by {command}"


def step_name(part: int) -> str:
    """Returns the name in the checkpoint of the step when the position in a part was saved."""
    return _saved_name(_STEP, part)


def _saved_name(name: str, part: int) -> str:
    # Part 0 has no number, as in older checkpoints of single processes.
    return f"{_SCOPE}/worker_{part}/{name}" if part else f"{_SCOPE}/{name}"


def _fingerprint(source: Any, config: RunOptions) -> dict[str, Any]:
    """The values that must be equal for a position to fit, as JSON returns them."""
    params, info = getattr(source, "params", None), getattr(source, "info", None)
    values = dataclasses.asdict(params) if dataclasses.is_dataclass(params) else {}  # type: ignore[arg-type]
    fingerprint = {
        "input": f"{type(source).__module__}.{type(source).__qualname__}",
        **{f"--input.{name}": value for name, value in values.items()},
        **({"training examples": n} if (n := info and info.num_examples.get(Mode.TRAIN)) else {}),
        "batch size of a clone": config.clone_batch_size,
        "--num_clones": config.num_clones,
        "--random_seed": config.random_seed,
        **({"--overfit_batches": n} if (n := config.overfit_batches) else {}),
        **_parts_of_data(config),
        _TENSORFLOW: tf.__version__,
    }
    return dict(json.loads(json.dumps(fingerprint, default=repr)))


def _parts_of_data(config: RunOptions) -> dict[str, int]:
    if config.batch_shards:
        return {"--batch_shards": config.batch_shards}
    return {_WORKERS: config.worker_replicas} if config.worker_replicas > 1 else {}


def _read(checkpoint: Checkpoint, name: str) -> bytes:
    value: bytes = checkpoint.read(name).item() if name in checkpoint else b""
    if not value:
        program = "an older tf-frame or another program wrote it"
        why = "which could not be saved" if name in checkpoint else f"because {program}"
        raise CheckpointError(
            f"the checkpoint {checkpoint.path} does not hold the position in the input, {why}\n"
            f"{_NEW_PASS}"
        )
    return value


def _serialized(handle: Any) -> Any:
    """Returns the state of an iterator, a scalar string."""
    with tf.device(handle.device):
        # There is no public way: tf.data.experimental.make_saveable_from_iterator makes a
        # SaveableObject, which is restored before the iterator is initialised.
        state = tf.raw_ops.SerializeIterator(resource_handle=handle, external_state_policy=_FAIL)
        return tf.io.serialize_tensor(state)


def _deserialized(handle: Any, text: Any) -> Any:
    with tf.device(handle.device):
        state = tf.io.parse_tensor(text, tf.variant)
        return tf.raw_ops.DeserializeIterator(resource_handle=handle, serialized=state)
