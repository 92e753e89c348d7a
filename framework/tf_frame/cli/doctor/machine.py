"""Checks this machine: cores, limits, GPUs, environment variables, folders, local connections."""

from __future__ import annotations

import dataclasses
import os
import resource
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tf_frame import file_system
from tf_frame.cli.doctor.probe import Answer
from tf_frame.cluster.find import find_cluster
from tf_frame.cluster.tf_config import TF_CONFIG
from tf_frame.config.option_groups import ClusterOptions
from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.launch.ports import free_ports
from tf_frame.text import readable_bytes
from tf_frame.text_width import terminal_width, wrapped

OK, WARNING, PROBLEM = STATES = ("OK", "warning", "problem")
_FEWEST_FILES = 1024
# Docker's default, which is too little for NCCL between several GPUs.
_LITTLE_SHARED_MEMORY = 64 * 2**20
_SHARED_MEMORY = "/dev/shm"
_NVIDIA = Path("/dev/nvidiactl")
LOOPBACK = "127.0.0.1"
_LITTLE = {"model_dir": 2**30, "temporary folder": 100 * 2**20}
_PORTS_OF_A_JOB = 8
_MAX_SECS = 2.0
_EFFECTS = {
    "CUDA_VISIBLE_DEVICES": "TensorFlow sees only these GPUs, numbered anew",
    "LD_LIBRARY_PATH": "libraries there, such as another CUDA, are taken first",
    "LD_PRELOAD": "these libraries are loaded into every process",
    "NVIDIA_TF32_OVERRIDE": "0 turns TF32 off, which is slower and more exact",
    "PYTHONPATH": "modules there are taken before the installed packages",
    "TF_CPP_MIN_LOG_LEVEL": "level of TensorFlow's C++ log; --verbosity has no effect on it",
    "TF_CPU_ALLOCATOR_USE_BFC": "1 lets a profile show the memory of a CPU",
    "TF_DETERMINISTIC_OPS": "1 takes deterministic kernels, which are slower",
    "TF_ENABLE_ONEDNN_OPTS": "0 turns oneDNN's kernels off, which changes the last digits",
    "TF_FORCE_GPU_ALLOW_GROWTH": "overrides --gpu_memory_growth",
    "TF_GPU_ALLOCATOR": "another allocator of GPU memory",
    "TF_NUM_INTEROP_THREADS": "counts where --inter_op_threads is not given",
    "TF_NUM_INTRAOP_THREADS": "counts where --intra_op_threads is not given",
    "TF_USE_LEGACY_KERAS": "1 makes tf.keras the package tf_keras",
    "TF_XLA_FLAGS": "options of XLA, which may compile parts of the graph",
    "XLA_FLAGS": "options of XLA",
}
_LONGEST = 60

# Variable -> values without harm, and the effect of other values.
_HARMFUL = {
    "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": (("", "upb", "cpp"), "graphs are read slowly"),
    "TF_CPP_MAX_VLOG_LEVEL": (("", "0"), "TensorFlow logs each operation, which is slow"),
    "grpc_proxy": (("",), "the tasks of a job connect through it, if it passes gRPC on"),
}


@dataclasses.dataclass(frozen=True)
class Check:
    """A finding about this machine.

    Attributes:
      name: the thing that was checked, such as `protobuf`.
      state: `OK`; `warning`: something is missing or slower, training works; or `problem`.
      found: the value or the fault.
      advice: lines with remedies, or with facts about this version.
    """

    name: str
    state: str
    found: str
    advice: tuple[str, ...] = ()

    def text(self) -> str:
        """Returns the finding, and its advice in the lines below."""
        first, rest = f"{self.state:<8} {self.name:<17} ", " " * 27
        lines = wrapped(self.found, terminal_width(), first=first, rest=rest)
        for advice in self.advice:
            lines += wrapped(advice, terminal_width(), first=rest, rest=rest)
        return "\n".join(lines)


def limit_checks() -> Iterator[Check]:
    """Yields the checks of cores, open files and shared memory."""
    yield cpu(len(os.sched_getaffinity(0)), os.cpu_count() or 1, container_cpus())
    yield open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    if os.path.isdir(_SHARED_MEMORY):
        yield shared_memory(shutil.disk_usage(_SHARED_MEMORY).total, nvidia=_NVIDIA.exists())


def cpu(usable: int, total: int, limit: float | None) -> Check:
    """Checks the cores of this process, of the machine, and of its container."""
    text = f"{usable} cores" + (f" of {total}" if usable < total else "")
    if limit is None or limit >= usable:
        return Check("cpu", OK, text)
    threads = max(1, round(limit))
    return Check(
        "cpu",
        WARNING,
        f"{text}, and the container may use the time of {limit:g}",
        (
            f"TensorFlow starts threads for {usable} cores, which then wait for each other; "
            f"--intra_op_threads {threads} --inter_op_threads {threads}",
        ),
    )


def container_cpus(
    group_file: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")
) -> float | None:
    """Returns the cores that the control groups of this process allow; None for no limit.

    The limits of a group hold for the groups in it.

    Args:
      group_file: file with the group of this process, in each hierarchy.
      root: folder of the groups; the second version has `cpu.max`, the first `cpu.cfs_*`.
    """
    if not group_file.exists():
        return None
    limits: list[float | None] = []
    for line in group_file.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        top = root / controllers if controllers else root
        group = top / path.lstrip("/")
        above = [folder for folder in group.parents if folder.is_relative_to(top)]
        limits += map(_quota, (group, *above))
    return min((limit for limit in limits if limit is not None), default=None)


def _quota(group: Path) -> float | None:
    if (group / "cpu.max").exists():
        quota, period = (group / "cpu.max").read_text().split()
    elif (group / "cpu.cfs_quota_us").exists():
        quota = (group / "cpu.cfs_quota_us").read_text()
        period = (group / "cpu.cfs_period_us").read_text()
    else:
        return None
    return None if quota == "max" or int(quota) < 0 else int(quota) / int(period)


def open_files(limit: int) -> Check:
    """Checks the number of files and connections that a process may have open."""
    if limit == resource.RLIM_INFINITY or limit >= _FEWEST_FILES:
        return Check("open files", OK, "no limit" if limit < 0 else f"{limit} at most")
    advice = f"a run with many shards or tasks needs more; ulimit -n {4 * _FEWEST_FILES}"
    return Check("open files", WARNING, f"{limit} at most", (advice,))


def shared_memory(total: int, *, nvidia: bool) -> Check:
    """Checks /dev/shm, which NCCL uses between GPUs."""
    size = f"{readable_bytes(total)} in {_SHARED_MEMORY}"
    if not nvidia or total > _LITTLE_SHARED_MEMORY:
        return Check("shared memory", OK, size)
    advice = "NCCL needs more between several GPUs; docker run --shm-size=1g"
    return Check("shared memory", WARNING, size, (advice,))


def gpus(answer: Answer, environment: Mapping[str, str], *, nvidia: bool | None = None) -> Check:
    """Checks the GPUs that TensorFlow sees; `nvidia`: whether there is a driver, None: look."""
    if answer.error:
        return Check("gpu", WARNING, "not known, because TensorFlow cannot be imported")
    if names := answer.result["gpus"]:
        return Check("gpu", OK, f"{len(names)}: {', '.join(names)}")
    if not (_NVIDIA.exists() if nvidia is None else nvidia):
        return Check("gpu", OK, "none")
    hidden = environment.get("CUDA_VISIBLE_DEVICES")
    if hidden is not None:
        advice = "unset CUDA_VISIBLE_DEVICES, or give the numbers of GPUs"
        return Check("gpu", WARNING, f"none: CUDA_VISIBLE_DEVICES={hidden} hides them", (advice,))
    cause = "" if answer.result["cuda"] else ", which is built without CUDA"
    advice = "pip install 'tf-frame[gpu]' for the CUDA libraries; nvidia-smi shows the driver"
    return Check("gpu", PROBLEM, f"there is a GPU, unseen by TensorFlow{cause}", (advice,))


def peak(answer: Answer) -> Check:
    """Shows the FLOP/s and bytes/s that the machine reaches; runs compare their own with them."""
    if answer.error:
        return Check("peak", WARNING, f"it could not be measured: {answer.error}")
    product, convolution = (
        f"{answer.result[name] / 1e9:,.0f} GFLOP/s" for name in ("matrix_product", "convolution")
    )
    device = answer.result["device"] or "CPU"
    advice = f"runs say their share of the greater one; kept in {answer.result['kept']}"
    figures = f"{device}: matrix product {product}, 3x3 convolution {convolution} (float32)"
    memory = f"memory {answer.result['bytes_per_sec'] / 1e9:,.0f} GB/s"
    return Check("peak", OK, f"{figures}, {memory}", (advice,))


def environment_checks(environment: Mapping[str, str]) -> Iterator[Check]:
    """Yields a check for each variable that changes TensorFlow or tf-frame; one for none."""
    checks = list(_tf_config(environment))
    # These variables cost speed or connections, and are seldom intended.
    for name, (harmless, effect) in _HARMFUL.items():
        value = environment.get(name, "")
        if value not in harmless:
            remedy = (f"unset {name}",)
            checks.append(Check(name, WARNING, f"{_short(value)}: {effect}", remedy))
    for name, effect in _EFFECTS.items():
        if name in environment:
            checks.append(Check(name, OK, f"{_short(environment[name])}: {effect}"))
    yield from checks or [Check("environment", OK, "no variable changes TensorFlow's behaviour")]


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."


def _tf_config(environment: Mapping[str, str]) -> Iterator[Check]:
    if not environment.get(TF_CONFIG):
        return
    advice = ("unset TF_CONFIG or give --cluster_from none to train alone",)
    try:
        cluster = find_cluster(ClusterOptions(), environment)
    except ConfigError as error:
        yield Check(TF_CONFIG, PROBLEM, str(error), advice)
        return
    tasks = sum(map(len, cluster.jobs.values()))
    if tasks <= 1:
        yield Check(TF_CONFIG, OK, "a single process")
        return
    joins = f"a run here is {cluster.task_name} of {tasks} tasks, and waits for them"
    yield Check(TF_CONFIG, OK, joins, advice)


def folder_checks(folder: str) -> Iterator[Check]:
    """Yields the checks of a local model folder, the temporary folder, and of local connections."""
    if not file_system.is_remote(folder):
        yield local_folder("model_dir", folder, "give another MODEL_DIR, or chmod u+w")
    yield _temporary_folder()
    yield loopback()
    yield _ports()


def local_folder(name: str, folder: str, remedy: str) -> Check:
    """Checks that a folder can be written, or the nearest parent that exists."""
    existing = os.path.abspath(os.path.expanduser(folder))
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    try:
        file_system.write_probe(existing)
        free = shutil.disk_usage(existing).free
    except OSError as error:
        return Check(name, PROBLEM, f"{existing} cannot be written: {error.strerror}", (remedy,))
    addition = "" if os.path.exists(os.path.expanduser(folder)) else f", to be made in {existing}"
    text = f"{folder}{addition}: {readable_bytes(free)} free"
    if free >= _LITTLE[name]:
        return Check(name, OK, text)
    return Check(name, WARNING, text, (f"free some space, or {remedy}",))


def _temporary_folder() -> Check:
    name, remedy = "temporary folder", "set TMPDIR to another folder"
    try:
        return local_folder(name, tempfile.gettempdir(), remedy)
    except FileNotFoundError as error:  # Python finds no folder that can be written.
        return Check(name, PROBLEM, error.strerror or str(error), (remedy,))


def loopback(address: str = LOOPBACK) -> Check:
    """Checks that this machine can be reached at its own address."""
    try:
        with (
            socket.create_server((address, 0)) as server,
            socket.create_connection(server.getsockname(), timeout=_MAX_SECS),
        ):
            return Check("loopback", OK, f"{address} takes connections")
    except OSError as error:
        advice = "TensorBoard and jobs on this machine need it; allow it in firewall or sandbox"
        return Check("loopback", PROBLEM, f"{address}: {error.strerror or error}", (advice,))


def _ports() -> Check:
    try:
        ports = sorted(free_ports(_PORTS_OF_A_JOB))
    except TfFrameError as error:
        return Check("ports", PROBLEM, str(error))
    return Check("ports", OK, f"free for a job, such as {', '.join(map(str, ports[:3]))}")
