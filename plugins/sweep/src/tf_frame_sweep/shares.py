"""Divides the cores and GPUs of this machine between trials that run at the same time.

Cores are divided by options of the runs, which their `config.yaml` records: the order of sums, and
so the last bits of a result, depend on the number of threads. Bound to some cores, a run would end
with other bits than the same command without a sweep.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence

THREADS = ("intra_op_threads", "inter_op_threads")
_VISIBLE_GPUS = "CUDA_VISIBLE_DEVICES"


def thread_options(parallel: int) -> dict[str, str]:
    """Returns the options of each of several runs for the threads of TensorFlow."""
    if parallel == 1:
        return {}
    threads = max(len(os.sched_getaffinity(0)) // parallel, 1)
    return {name: str(threads) for name in THREADS}


def gpu_variables(place: int, parallel: int) -> dict[str, str]:
    """Returns the environment variables that choose the GPUs of a place."""
    gpus = _gpus()
    if parallel == 1 or not gpus:
        return {}
    size = len(gpus) // parallel
    own = gpus[place * size : (place + 1) * size] or [gpus[place % len(gpus)]]
    variables = {_VISIBLE_GPUS: ",".join(own)}
    if not size:  # The first run would take all memory of a GPU that it shares.
        variables["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
    return variables


def _gpus() -> Sequence[str]:
    visible = os.environ.get(_VISIBLE_GPUS)
    if visible is not None:
        return [gpu for gpu in visible.split(",") if gpu.strip() not in ("", "-1")]
    return [str(number) for number in range(len(glob.glob("/dev/nvidia[0-9]*")))]
