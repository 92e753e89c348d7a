"""Cores, limits of the container and of the process, and GPUs."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from tf_frame.cli.doctor.check import OK, PROBLEM, WARNING, Check
from tf_frame.cli.doctor.child import Answer
from tf_frame.text import readable_bytes

_FEWEST_FILES = 1024
# Docker's default, which is too little for NCCL between several GPUs.
_LITTLE_SHARED_MEMORY = 64 * 2**20
_SHARED_MEMORY = "/dev/shm"
_NVIDIA = Path("/dev/nvidiactl")


def checks() -> Iterator[Check]:
    """Yields the checks that need no TensorFlow."""
    yield cpu(len(os.sched_getaffinity(0)), os.cpu_count() or 1, container_cpus())
    yield open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    if os.path.isdir(_SHARED_MEMORY):
        yield shared_memory(shutil.disk_usage(_SHARED_MEMORY).total, nvidia=_NVIDIA.exists())


def cpu(usable: int, there: int, limit: float | None) -> Check:
    """The check of the cores: those of this process, of the machine, and of its container."""
    found = f"{usable} cores" + (f" of {there}" if usable < there else "")
    if limit is None or limit >= usable:
        return Check("cpu", OK, found)
    threads = max(1, round(limit))
    return Check(
        "cpu",
        WARNING,
        f"{found}, and the container may use the time of {limit:g}",
        (
            f"TensorFlow starts threads for {usable} cores, which then wait for each other; "
            f"--intra_op_threads {threads} --inter_op_threads {threads}",
        ),
    )


def container_cpus(
    own: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")
) -> float | None:
    """Returns the cores whose time the control groups of this process allow; None for no limit.

    A group is limited by those above it as well.

    Args:
      own: file with the group of this process, in each hierarchy.
      root: folder of the groups; the second version has `cpu.max`, the first `cpu.cfs_*`.
    """
    if not own.exists():
        return None
    limits: list[float | None] = []
    for line in own.read_text().splitlines():
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
    """The check of the number of files and connections that a process may have open."""
    if limit == resource.RLIM_INFINITY or limit >= _FEWEST_FILES:
        return Check("open files", OK, "no limit" if limit < 0 else f"{limit} at most")
    advice = f"a run with many shards or tasks needs more; ulimit -n {4 * _FEWEST_FILES}"
    return Check("open files", WARNING, f"{limit} at most", (advice,))


def shared_memory(total: int, *, nvidia: bool) -> Check:
    """The check of /dev/shm, by which NCCL connects GPUs."""
    found = f"{readable_bytes(total)} in {_SHARED_MEMORY}"
    if not nvidia or total > _LITTLE_SHARED_MEMORY:
        return Check("shared memory", OK, found)
    advice = "NCCL needs more between several GPUs; docker run --shm-size=1g"
    return Check("shared memory", WARNING, found, (advice,))


def gpus(answer: Answer, environment: Mapping[str, str], *, nvidia: bool | None = None) -> Check:
    """The check of the GPUs that TensorFlow sees.

    Args:
      answer: that of the part `tensorflow` of `probe`.
      environment: the environment variables.
      nvidia: whether NVIDIA's driver is there; None: look.
    """
    if answer.error:
        return Check("gpu", WARNING, "not known, because TensorFlow cannot be imported")
    if found := answer.result["gpus"]:
        return Check("gpu", OK, f"{len(found)}: {', '.join(found)}")
    if not (_NVIDIA.exists() if nvidia is None else nvidia):
        return Check("gpu", OK, "none")
    hidden = environment.get("CUDA_VISIBLE_DEVICES")
    if hidden is not None:
        advice = "unset CUDA_VISIBLE_DEVICES, or give the numbers of GPUs"
        return Check("gpu", WARNING, f"none: CUDA_VISIBLE_DEVICES={hidden} hides them", (advice,))
    cause = "" if answer.result["cuda"] else ", which is built without CUDA"
    advice = "pip install 'tf-frame[gpu]' for the CUDA libraries; nvidia-smi shows the driver"
    return Check("gpu", PROBLEM, f"there is a GPU, unseen by TensorFlow{cause}", (advice,))
