"""Makes the profiles that a running task is asked for: by a signal, or by a hook after a slow step.

The signal is that of `tf-frame profile attach`.
"""

from __future__ import annotations

import contextlib
import functools
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tf_frame.errors import DataError
from tf_frame.hooks.by_name.slow_step import SlowStepHook
from tf_frame.profiling.attach_request import SIGNAL, ProfileRequest, read_request
from tf_frame.session.loop import TrainingLoop


@contextlib.contextmanager
def profiles_on_request(
    model_dir: str,
    loop: TrainingLoop,
    make_hook: Callable[[ProfileRequest, int], Any],
    *,
    report: Callable[[str], None],
) -> Iterator[None]:
    """Handles requests for a profile within; signals, in the main thread alone.

    A request waits until a profile that is being made has ended.

    Args:
      model_dir: the folder with the request of a signal.
      loop: gets the hook between two steps.
      make_hook: makes the hook of a request, from the next global step on.
      report: takes a line when a profile begins, or why it does not.
    """
    with contextlib.ExitStack() as stack:

        def begin(read: Callable[[], ProfileRequest]) -> None:
            try:
                request = read()
            except DataError as error:
                report(f"warning: no profile was made: {error}")
                return
            hook = make_hook(request, loop.global_step + 1)
            stack.callback(hook.close)
            loop.add_hook(hook)
            report(f"profiling {request.steps} steps, as {request.asked_by} asks")

        def note(signum: int, frame: Any) -> None:
            loop.request = functools.partial(begin, functools.partial(read_request, model_dir))

        def ask(label: str, steps: int) -> None:
            request = ProfileRequest(label, steps, asked_by="--hook slow_step")
            # A request that waits, such as that of a user, stays.
            loop.request = loop.request or functools.partial(begin, lambda: request)

        for each in loop.hooks:
            if isinstance(each, SlowStepHook):
                each.request_profile = ask
        if threading.current_thread() is threading.main_thread():
            stack.callback(signal.signal, SIGNAL, signal.signal(SIGNAL, note))
        yield
