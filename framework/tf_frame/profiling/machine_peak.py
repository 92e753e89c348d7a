"""The peak of this machine in FLOP/s, which `tf-frame doctor` measures once and runs compare with.

~/.cache/tf-frame/peak.json
"""

from __future__ import annotations

import dataclasses
import functools
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tf_frame.errors import DataError
from tf_frame.file_system import user_cache
from tf_frame.side_files import from_json, read_side_file, write_json

_SECS = 1.0
# A run as long as this hides the overhead of a session call; no matrix is larger than this.
_LONG_SECS, _LARGEST = 0.05, 16384
# A 3x3 convolution in the middle of a ResNet: 56 x 56 pixels, 64 channels in and out.
_SIDE, _CHANNELS, _KERNEL = 56, 64, 3
# Three tensors of 128 MiB.
_SUMMANDS = 2**25


@dataclasses.dataclass(frozen=True, kw_only=True)
class MachinePeak:
    """A measurement of FLOP/s of float32; a multiply-add is two operations.

    Attributes:
      machine: the host, its processor and the cores that could be used.
      device: name of the first GPU; empty: the CPU.
      matrix_product, convolution: FLOP/s of a large matrix product, and of a 3x3 convolution.
      bytes_per_sec: bytes of memory that a sum of two large tensors reads and writes in a second;
        None in files of earlier versions.
    """

    machine: str
    device: str
    matrix_product: float
    convolution: float
    bytes_per_sec: float | None = None

    @property
    def flops_per_sec(self) -> float:
        """The greater one."""
        return max(self.matrix_product, self.convolution)


def own_machine() -> str:
    """Returns the name of this host, its processor, and the number of usable cores."""
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8", errors="replace").splitlines()
        names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        processor = next(names, processor)
    return f"{platform.node()}, {processor}, {len(os.sched_getaffinity(0))} cores"


def peak_file() -> str:
    """Returns the path of the file, which need not exist."""
    return os.path.join(user_cache(), "peak.json")


def read_peak(*, on_gpu: bool) -> MachinePeak | None:
    """Returns what was measured on this machine, for a GPU or for the CPU; None if nothing was.

    A damaged file counts as none: `tf-frame doctor` writes it anew.
    """
    try:
        peak = read_side_file(peak_file(), functools.partial(from_json, MachinePeak))
    except (DataError, OSError):
        return None
    is_own = peak is not None and peak.machine == own_machine()
    return peak if peak and is_own and bool(peak.device) == on_gpu else None


def write_peak(peak: MachinePeak) -> None:
    """Keeps a measurement for later runs.

    Raises:
      OSError: the file cannot be written.
    """
    os.makedirs(os.path.dirname(peak_file()), exist_ok=True)
    write_json(peak_file(), dataclasses.asdict(peak))


def measure_peak(secs: float = _SECS) -> MachinePeak:
    """Measures the first GPU, or else the CPU.

    Args:
      secs: time for each of the three figures.
    """
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    device = ""
    if gpus:
        details = tf.config.experimental.get_device_details(gpus[0])
        device = details.get("device_name", gpus[0].name)
    return MachinePeak(
        machine=own_machine(),
        device=device,
        matrix_product=_rate(_matrix_product, secs),
        convolution=_rate(_convolution, secs),
        bytes_per_sec=_bandwidth(secs),
    )


def _matrix_product(size: int) -> tuple[Any, float]:
    import tensorflow.compat.v1 as tf

    left, right = (tf.Variable(tf.random_normal([size, size])) for _ in range(2))
    return tf.matmul(left, right), 2.0 * size**3


def _convolution(size: int) -> tuple[Any, float]:
    import tensorflow.compat.v1 as tf

    images = max(1, size**2 // 2**16)
    inputs = tf.Variable(tf.random_normal([images, _SIDE, _SIDE, _CHANNELS]))
    kernel = tf.Variable(tf.random_normal([_KERNEL, _KERNEL, _CHANNELS, _CHANNELS]))
    multiply_adds = images * _SIDE**2 * _KERNEL**2 * _CHANNELS**2
    return tf.nn.conv2d(inputs, kernel, padding="SAME"), 2.0 * multiply_adds


def _bandwidth(secs: float) -> float:
    """Returns the bytes per second of a sum that no cache can hold."""

    def make(size: int) -> tuple[Any, float]:
        import tensorflow.compat.v1 as tf

        left, right = (tf.Variable(tf.zeros([size])) for _ in range(2))
        return tf.add(left, right), 3.0 * left.dtype.size * size

    took, count = _time_runs(make, _SUMMANDS, time.monotonic() + secs)
    return count / took


def _rate(make: Callable[[int], tuple[Any, float]], secs: float) -> float:
    """Returns the FLOP/s of the quickest run, of a size that takes long enough."""
    size, rate, until = 512, 0.0, time.monotonic() + secs
    while True:
        took, count = _time_runs(make, size, until)
        rate = max(rate, count / took)
        if took > _LONG_SECS or size >= _LARGEST or time.monotonic() > until:
            return rate
        size *= 2


def _time_runs(
    make: Callable[[int], tuple[Any, float]], size: int, until: float
) -> tuple[float, float]:
    """Returns the seconds of the quickest run of an operation, and its number of operations.

    A size that is too small is run three times, a larger one to the end of the time.
    """
    import tensorflow.compat.v1 as tf

    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        result, count = make(size)
        session.run(tf.global_variables_initializer())
        run = session.make_callable(result.op)
        run()  # The first run chooses kernels.
        runs: list[float] = []
        while len(runs) < 3 or (runs[0] > _LONG_SECS and time.monotonic() < until):
            start = time.perf_counter()
            run()
            runs.append(time.perf_counter() - start)
    return min(runs), count
