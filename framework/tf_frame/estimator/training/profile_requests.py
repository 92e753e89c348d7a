"""Makes the profiles that `tf-frame profile attach` asks a running task for, by a signal."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tf_frame.errors import DataError
from tf_frame.profiling.request import SIGNAL, ProfileRequest, read_request
from tf_frame.session.loop import TrainingLoop


@contextlib.contextmanager
def profiles_on_request(
    model_dir: str,
    loop: TrainingLoop,
    make_hook: Callable[[ProfileRequest, int], Any],
    *,
    report: Callable[[str], None],
) -> Iterator[None]:
    """Handles requests for a profile within; a thread other than the main one cannot.

    Args:
      model_dir: the folder with the request.
      loop: gets the hook between two steps.
      make_hook: makes the hook of a request, from the next global step on.
      report: takes a line when a profile begins, or why it does not.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with contextlib.ExitStack() as stack:

        def begin() -> None:
            try:
                request = read_request(model_dir)
            except DataError as error:
                report(f"warning: no profile was made: {error}")
                return
            hook = make_hook(request, loop.global_step + 1)
            stack.callback(hook.close)
            loop.add_hook(hook)
            report(f"profiling {request.steps} steps, as tf-frame profile attach asks")

        def note(signum: int, frame: Any) -> None:
            loop.request = begin

        before = signal.signal(SIGNAL, note)
        stack.callback(signal.signal, SIGNAL, before)
        yield
