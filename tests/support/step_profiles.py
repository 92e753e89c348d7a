"""Small recorded steps, for tests of their readers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tf_frame.profiling.step_profile import (
    HOOK,
    SESSION,
    SUFFIX,
    Node,
    Op,
    Span,
    Step,
    StepProfile,
    to_bytes,
)

LOCAL, PS, W0, W1 = (
    f"/job:{job}/replica:0/task:{task}/device:CPU:0"
    for job, task in (("localhost", 0), ("ps", 0), ("worker", 0), ("worker", 1))
)
Execution = tuple[str, str, str, int, int]


def make_profile(
    task: str,
    executions: Sequence[Execution],
    *,
    number: int = 100,
    begin: int = 0,
    end: int = 1_000_000,
    **attributes: Any,
) -> StepProfile:
    """Makes the profile of one step, of (device, operation, type, begin, end)."""
    devices = list(dict.fromkeys(execution[0] for execution in executions))
    nodes = list(dict.fromkeys(Node(*execution[1:3]) for execution in executions))
    ops = [
        Op(devices.index(device), nodes.index(Node(name, kind)), first, last)
        for device, name, kind, first, last in executions
    ]
    middle = (begin + end) // 2
    spans = [Span(SESSION, "", begin, middle), Span(HOOK, "SomeHook", middle, end)]
    step = Step(number, begin, end, spans, ops, ())
    return StepProfile(task, "host", 2, devices, nodes, [step], **attributes)


def write_profile(model_dir: Any, run: str, profile: StepProfile) -> str:
    """Writes a profile into the folder of a run; returns that folder."""
    folder = os.path.join(model_dir, "plugins", "profile", run)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"host_{profile.task}{SUFFIX}"), "wb") as file:
        file.write(to_bytes(profile))
    return folder
