"""Finds the task of this process in a Slurm job, from the environment variables of `srun`.

Each process computes the whole cluster from the allocation, so that the tasks need no file and no
server to find each other. The place of a task is its node and its number on the node
(SLURM_NODEID and SLURM_LOCALID). The rank of a task says nothing about its place, because the user
or the site chooses how ranks are distributed over the nodes (`srun --distribution`).

Parameter servers take the first places, then chief and workers, then the evaluator. The places are
in the order: the first place of every node, the second place of every node, and so on. So parameter
servers are on different nodes with different network interfaces, and workers on all nodes.

The port of a task is 20000 + 64 * (job modulo 199) + number on the node. Consecutive jobs never
share a port if they have at most 64 tasks on a node. All ports lie below 32768, the first port
that Linux gives to outgoing connections. The variable TF_FRAME_SLURM_PORT replaces the first port.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from tf_frame.cluster.tf_config import TaskType
from tf_frame.errors import ConfigError
from tf_frame.text import brief, short_word

PORT = "TF_FRAME_SLURM_PORT"
_JOB, _NODES, _COUNTS = "SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE"
_NODE, _LOCAL = "SLURM_NODEID", "SLURM_LOCALID"
_FIRST_PORT, _LAST_PORT = 20000, 65535
_PORTS_PER_JOB, _DIFFERENT_JOBS = 64, 199

_COUNT = re.compile(r"(\d+)(?:\(x(\d+)\))?")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_PART = re.compile(r"\[([^\[\]]*)\]|([^\[\],\s]+)")
# A name, with or without ranges in brackets, up to the next comma.
_NAMES = re.compile(r"(?:\[[^\[\]]*\]|[^\[\],\s])+")
_MOST_NODES, _MOST_TASKS = 100_000, 1_000_000
_MOST_DIGITS = 18
_Item = TypeVar("_Item")


def slurm_tf_config(
    environment: Mapping[str, str], *, num_ps: int, evaluator: bool
) -> dict[str, Any]:
    """Returns the content of TF_CONFIG for this process.

    Args:
      environment: the environment variables of a task of a Slurm step.
      num_ps: number of parameter servers.
      evaluator: whether one of the tasks evaluates the checkpoints.

    Raises:
      ConfigError: this process is in no step of a Slurm job, the step has too few tasks, or a
        variable of Slurm is malformed.
    """
    job = _number(environment, _JOB)
    counts = _expand(environment, _COUNTS, expand_counts)
    places = [(node, local) for local, node in _places(counts)]
    tasks = dict(zip(places, _tasks(environment, len(places), num_ps, evaluator), strict=True))
    place = _number(environment, _NODE), _number(environment, _LOCAL)
    if place not in tasks:
        raise ConfigError(
            f"{_NODE}={place[0]} and {_LOCAL}={place[1]} name a task that is not among the tasks "
            f"of {_COUNTS}={short_word(environment[_COUNTS])}"
        )
    nodes, port = _nodes(environment, len(counts)), _first_port(environment, job, max(counts))
    cluster: dict[str, list[str]] = {}
    for (node, local), (kind, _) in tasks.items():
        if kind != TaskType.EVALUATOR:
            cluster.setdefault(kind, []).append(f"{nodes[node]}:{port + local}")
    kind, index = tasks[place]
    return {"cluster": cluster, "task": {"type": kind, "index": index}}


def expand_nodes(text: str) -> list[str]:
    """Returns the names in a host list: `n[1-3,7],m04` -> n1, n2, n3, n7, m04.

    The numbers of a range have as many digits as its lower end. A name may have several brackets;
    the last bracket varies fastest: `r[1-2]n[1-2]` is r1n1, r1n2, r2n1, r2n2.

    Raises:
      ValueError: the text is no host list.
    """
    names = _NAMES.findall(text)
    if not names or ",".join(names) != text:
        raise ValueError("names and commas are expected, with ranges in brackets")
    nodes = (node for name in names for node in _expand_name(name))
    return _at_most(_MOST_NODES, nodes, "nodes")


def _at_most(most: int, items: Iterator[_Item], noun: str) -> list[_Item]:
    """Returns the items, unless they are too many: ranges in several brackets multiply."""
    taken = list(itertools.islice(items, most + 1))
    if len(taken) > most:
        raise ValueError(f"more than {most:,} {noun}")
    return taken


def _expand_name(name: str) -> Iterator[str]:
    parts = [
        [plain] if plain else [number for part in ranges.split(",") for number in _range(part)]
        for ranges, plain in _PART.findall(name)
    ]
    return map("".join, itertools.product(*parts))


def _range(text: str) -> list[str]:
    """Returns the numbers of `7` or `08-11`."""
    match = _RANGE.fullmatch(text)
    if not match:
        raise ValueError(f"{brief(text)} in brackets is no number and no range")
    low, high = match[1], match[2] or match[1]
    if not 0 <= int(high) - int(low) < _MOST_NODES:
        raise ValueError(f"the range {short_word(text)} is empty or too long")
    return [str(number).zfill(len(low)) for number in range(int(low), int(high) + 1)]


def expand_counts(text: str) -> list[int]:
    """Returns the numbers of tasks on each node: `2(x3),1` -> 2, 2, 2, 1.

    Raises:
      ValueError: the text is malformed.
    """
    counts: list[int] = []
    for part in text.split(","):
        match = _COUNT.fullmatch(part)
        if not match or int(match[2] or 1) > _MOST_NODES:
            raise ValueError(f"{brief(part)} is no number, and no number with (xTIMES)")
        counts += [int(match[1])] * int(match[2] or 1)
        if len(counts) > _MOST_NODES or sum(counts) > _MOST_TASKS:
            raise ValueError(f"more than {_MOST_NODES:,} nodes or {_MOST_TASKS:,} tasks")
    return counts


def _tasks(
    environment: Mapping[str, str], count: int, num_ps: int, evaluator: bool
) -> list[tuple[str, int]]:
    """Returns type and index of each task, in the order of the places."""
    num_workers = count - num_ps - evaluator
    if num_workers < 1:
        needed = f"{num_ps} ps, 1 chief" + (", 1 evaluator" if evaluator else "")
        raise ConfigError(
            f"the step has {count} tasks ({_COUNTS}={short_word(environment[_COUNTS])}), and the "
            f"job needs at least {num_ps + 1 + evaluator} ({needed}); start it with more --ntasks"
        )
    return [
        *((TaskType.PS, index) for index in range(num_ps)),
        (TaskType.CHIEF, 0),
        *((TaskType.WORKER, index) for index in range(num_workers - 1)),
        *([(TaskType.EVALUATOR, 0)] if evaluator else []),
    ]


def _places(counts: list[int]) -> list[tuple[int, int]]:
    """Returns the numbers of tasks on their nodes, and the nodes: first the first of each node."""
    return sorted((local, node) for node, count in enumerate(counts) for local in range(count))


def _expand(
    environment: Mapping[str, str], name: str, expand: Callable[[str], list[_Item]]
) -> list[_Item]:
    try:
        return expand(_value(environment, name))
    except ValueError as error:
        raise ConfigError(f"{name}={short_word(environment[name])}: {error}") from None


def _nodes(environment: Mapping[str, str], count: int) -> list[str]:
    nodes = _expand(environment, _NODES, expand_nodes)
    if len(nodes) != count:
        raise ConfigError(
            f"{_NODES}={short_word(environment[_NODES])} has {len(nodes)} nodes, and "
            f"{_COUNTS}={short_word(environment[_COUNTS])} has {count}"
        )
    return nodes


def _first_port(environment: Mapping[str, str], job: int, most_tasks: int) -> int:
    port = _FIRST_PORT + job % _DIFFERENT_JOBS * _PORTS_PER_JOB
    if environment.get(PORT):
        port = _number(environment, PORT)
    if not 0 < port <= _LAST_PORT - most_tasks + 1:
        raise ConfigError(
            f"{PORT}={port}: {most_tasks} ports from this port on are needed, up to {_LAST_PORT}"
        )
    return port


def _number(environment: Mapping[str, str], name: str) -> int:
    text = _value(environment, name)
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise ConfigError(f"{name}={short_word(text)} is not a number")
    return int(text)


def _value(environment: Mapping[str, str], name: str) -> str:
    if environment.get(name):
        return environment[name]
    if environment.get(_JOB):
        raise ConfigError(
            f"{name} is not set: this process is in the Slurm job "
            f"{short_word(environment[_JOB])}, but srun did not start it; write srun before its "
            "command"
        )
    raise ConfigError(
        f"{name} is not set: this process does not run in a Slurm job; submit it with "
        "tf-frame launch --on slurm"
    )
