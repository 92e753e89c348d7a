"""`ResourceUseHook`: logs memory, open files and threads of the process.

A warning shows a leak before a long run is killed for lack of memory.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import resource
import sys
import threading
from typing import Any

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.throughput import write_scalars

_LOG = logging.getLogger("tf_frame")
_PROC = "/proc/self"
# After this many measurements caches, queues and buffers are full.
_SETTLED_AFTER = 10


@dataclasses.dataclass(frozen=True)
class ResourceUse:
    """Resources of a process; None: unknown on this system.

    Attributes:
      memory_bytes: resident memory.
      peak_memory_bytes: largest resident memory so far.
      open_files: open file descriptors.
      threads: number of threads; without /proc, of Python threads only.
    """

    memory_bytes: int | None
    peak_memory_bytes: int
    open_files: int | None
    threads: int


def resource_use() -> ResourceUse:
    """Reads the resources of this process, from /proc (see proc(5)) if there is one."""
    status = os.path.join(_PROC, "status")
    if not os.path.exists(status):
        # getrusage(2): kilobytes on Linux; bytes on macOS.
        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        return ResourceUse(None, peak, None, threading.active_count())
    with open(status, encoding="utf-8") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    return ResourceUse(
        memory_bytes=int(fields["VmRSS"].split()[0]) * 1024,
        peak_memory_bytes=int(fields["VmHWM"].split()[0]) * 1024,
        open_files=len(os.listdir(os.path.join(_PROC, "fd"))),
        threads=int(fields["Threads"]),
    )


@dataclasses.dataclass(eq=False, kw_only=True)
class ResourceUseHook(Hook):
    """Logs and writes the memory, open files and threads of the process.

    Summaries: `resources/memory_bytes`, `resources/peak_memory_bytes`,
    `resources/open_files`, `resources/threads`. After the tenth measurement the hook warns when
    memory has grown by more than a fraction, since the tenth measurement or the last warning.

    Args:
      every_steps, every_secs: steps or seconds between measurements.
      growth: fraction of the earlier memory, such as 0.2.
      writer: summary writer, or None.

    Raises:
      ValueError: `growth`, or a number of steps or seconds, is not positive.
    """

    phase = Phase.LOG
    option = "--hook resource_use"

    every_steps: int | None = None
    every_secs: float | None = None
    growth: float = 0.2
    writer: Any = None

    def __post_init__(self) -> None:
        if self.growth <= 0:
            raise ValueError(f"growth is {self.growth}; it must be positive")
        self._count = 0
        self._settled: tuple[int, int] | None = None
        super().__init__(Cadence(every_steps=self.every_steps, every_secs=self.every_secs))

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        use = resource_use()
        parts = [f"peak {_mib(use.peak_memory_bytes)}", f"{use.threads} threads"]
        if use.memory_bytes is not None:
            parts.insert(0, f"memory {_mib(use.memory_bytes)}")
        if use.open_files is not None:
            parts.append(f"{use.open_files} open files")
        _LOG.info("step %d: %s", step, ", ".join(parts))
        write_scalars(self.writer, "resources", dataclasses.asdict(use), step)
        self._count += 1
        if use.memory_bytes is not None and self._count >= _SETTLED_AFTER:
            self._compare(use.memory_bytes, step)

    def _compare(self, memory_bytes: int, step: int) -> None:
        if self._settled is None:
            self._settled = (step, memory_bytes)
        since, before = self._settled
        if memory_bytes <= before * (1 + self.growth):
            return
        _LOG.warning(
            "memory has grown by %.0f %%, from %s at step %d to %s at step %d; look for objects "
            "that each step adds, such as items of a list in a hook, or ops of the graph",
            100 * (memory_bytes / before - 1),
            _mib(before),
            since,
            _mib(memory_bytes),
            step,
        )
        self._settled = (step, memory_bytes)


def _mib(count: int) -> str:
    return f"{count / 2**20:.0f} MiB"
