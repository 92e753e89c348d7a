"""`ProfileRequests`: profiles of a running training, on a signal or after a slow step.

The signal is that of `tf-frame profile attach`; a hook asks by `HookContext.request_profile`.
"""

from __future__ import annotations

import contextlib
import functools
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tf_frame.errors import DataError
from tf_frame.profiling.attach_request import SIGNAL, ProfileRequest, read_request
from tf_frame.runs.training.hooks.profiles import requested_profile_hook
from tf_frame.runs.training.parts import TrainingParts
from tf_frame.session.loop import TrainingLoop


class ProfileRequests:
    """Adds a profile hook to a loop for each request.

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
        hook = requested_profile_hook(self._parts, request, self._loop.global_step + 1)
        self._hooks.callback(hook.close)
        self._loop.add_hook(hook)
        self._parts.report(f"profiling {request.steps} steps, as {request.asked_by} asks")
