"""Makes the hooks that capture profiles, by the run options or on request during training."""

from __future__ import annotations

import contextlib
import functools
import json
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.clock import clock_offsets
from tf_frame.cluster.server import send_to_ps
from tf_frame.config.yaml_file import plain
from tf_frame.errors import DataError
from tf_frame.graph.inputs.replay import python_functions
from tf_frame.hooks.profile import ProfileHook
from tf_frame.profiling.attach_request import SIGNAL, ProfileRequest, read_request
from tf_frame.profiling.machine_peak import read_peak
from tf_frame.profiling.model_cost import costs
from tf_frame.profiling.operation_work import find_work
from tf_frame.profiling.recorder import Facts, Recorder
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.hooks.logs import peak_flops
from tf_frame.runs.training.parts import TrainingParts
from tf_frame.session.loop import TrainingLoop


def profile_hooks(parts: TrainingParts) -> Iterator[Any]:
    """Yields the hook of the run options, in the tasks that are to be profiled."""
    config = parts.config
    profiles = config.profile_at_step or config.profile_every_n_steps
    if profiles and (parts.cluster.is_chief or config.profile_all_workers):
        yield _profile_hook(
            parts,
            folder=config.profile_dir or parts.model_dir,
            all_tasks=config.profile_all_workers,
            at_steps=config.profile_at_step,
            num_steps=config.profile_num_steps,
            every_steps=config.profile_every_n_steps or None,
        )


class ProfileRequests:
    """Adds a profile hook to a loop for each request of a signal or a hook.

    The signal is that of `tf-frame profile attach`; a hook asks by `HookContext.request_profile`.
    The loop serves a request between two steps, after a profile that is being made has ended.
    """

    def __init__(self, parts: TrainingParts, loop: TrainingLoop) -> None:
        self._parts = parts
        self._loop = loop
        self._hooks = contextlib.ExitStack()

    @contextlib.contextmanager
    def handled(self) -> Iterator[None]:
        """Handles the signal inside the block, in the main thread alone; then closes the hooks."""
        with self._hooks, contextlib.ExitStack() as stack:
            if threading.current_thread() is threading.main_thread():
                stack.callback(signal.signal, SIGNAL, signal.signal(SIGNAL, self._note_signal))
            yield

    def ask(self, label: str, steps: int) -> None:
        """Requests a profile for a hook, unless another request waits, such as a user's."""
        request = ProfileRequest(label, steps, asked_by="--hook slow_step")
        self._loop.request = self._loop.request or functools.partial(self._begin, lambda: request)

    def _note_signal(self, signum: int, frame: Any) -> None:
        read = functools.partial(read_request, self._parts.model_dir)
        self._loop.request = functools.partial(self._begin, read)

    def _begin(self, read: Callable[[], ProfileRequest]) -> None:
        try:
            request = read()
        except DataError as error:
            self._parts.report(f"warning: no profile was made: {error}")
            return
        hook = _profile_hook(
            self._parts,
            folder=self._parts.model_dir,  # `tf-frame profile attach` waits for the files there.
            all_tasks=request.all_tasks,
            began=request.began,
            at_steps=[self._loop.global_step + 1],
            # The first step prepares the graph, and is not reported.
            num_steps=request.steps + 1,
            own_steps=True,
            label=request.label,
        )
        self._hooks.callback(hook.close)
        self._loop.add_hook(hook)
        self._parts.report(f"profiling {request.steps} steps, as {request.asked_by} asks")


def _profile_hook(
    parts: TrainingParts,
    *,
    folder: str,
    all_tasks: bool,
    began: float | None = None,
    **ranges: Any,
) -> ProfileHook:
    """Makes a profile hook.

    Args:
      parts: the training.
      folder: folder of the files.
      all_tasks: whether the chief also lets the parameter servers capture.
      began: time in the names of the captures; None: when the chief's session began, or a capture
        ends.
      **ranges: steps and label, for `ProfileHook`.
    """
    cluster, agreement = parts.cluster, parts.agreement
    session_time = agreement.session_time if agreement else None
    capture_time = session_time if began is None else lambda: began

    def tell_ps(label: str, begins: bool) -> None:
        if agreement is not None and cluster.is_chief and all_tasks:
            command = {"folder": folder, "label": label, "begins": begins}
            command["began"] = capture_time() if capture_time else None
            send_to_ps(cluster, json.dumps(command).encode())

    return ProfileHook(
        folder,
        recorder=Recorder(parts.times, _facts(parts)),
        keep=parts.config.profile_keep,
        task=cluster.profiled_task,
        is_chief=cluster.is_chief,
        began=capture_time,
        tell=tell_ps,
        report=parts.report,
        **ranges,
    )


def _facts(parts: TrainingParts) -> Facts:
    """Returns the facts about this task and its graph for the report."""
    graph, examples = parts.graph, parts.setup.examples_per_step()
    position = graph.input_position
    clones = [clone.scope.rstrip("/") for clone in graph.clones]
    compute_costs: Callable[..., Any] = functools.partial(
        costs,
        graph.graph,
        # Listed now: when the costs are computed another graph may be the default one.
        variables=tf.trainable_variables(),
        step=graph.train_op,
        batch_size=parts.clone_batch_size,
    )
    peak = read_peak(on_gpu=parts.deployment.has_gpu_clones)
    return Facts(
        task=parts.cluster.profiled_task,
        examples_per_step=examples,
        model=parts.setup.model.name if parts.setup.model else "",
        clone_scopes=clones if len(clones) > 1 else (),
        python_functions=functools.partial(
            python_functions, position.initializers if position else ()
        ),
        costs=compute_costs,
        clock_offsets=functools.partial(clock_offsets, parts.cluster),
        work=functools.partial(
            find_work,
            graph=graph.graph,
            step=graph.train_op,
            batch_size=parts.clone_batch_size,
        ),
        peak_flops=peak_flops(parts),
        peak_bytes=peak.bytes_per_sec if peak else None,
        options=_options(parts.setup),
    )


def _options(setup: TrainingSetup) -> dict[str, Any]:
    """Returns the options of a run of the command line, without those of transforms and hooks."""
    if not setup.is_recorded:
        return {}
    settings = setup.settings()
    hooks = [hook.name for hook in settings.hooks or ()]
    return {"hook": hooks, **{name: plain(value) for name, value in settings.values.items()}}
