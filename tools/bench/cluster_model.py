"""A model on paper of the throughput of a job, from 1 to 64 workers, and where it ends.

    python tools/bench/cluster_model.py --megabytes 100 --compute_secs 1.22 --gbits 10 [--write]

A worker's step takes, one after the other, for in the model nothing overlaps

    compute    seconds of its processor or GPU
    link       2 * bytes / bandwidth: all parameters down, all gradients up
    overhead   seconds of calls and of waiting, which keep nobody else from working

and of the fullest of P parameter servers it needs, in each direction,

    share      imbalance * bytes / P / bandwidth

A link sends and receives at the same time. So of W workers

    asynchronous   steps/s = min(W / (compute + link + overhead), 1 / share)
    synchronous    secs = compute + max(link, 2 * W * share) + overhead, for W batches:
                   a server sends to all workers, and only then receives from them
    all-reduce     secs = compute + 2 * (W - 1) / W * bytes / bandwidth + overhead

`fitted` finds bandwidth and overhead from measured steps.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

WORKERS = (1, 2, 4, 8, 16, 32, 64)
SERVERS = (1, 2, 4, 8, 16)
ASYNC, SYNC, REDUCE = "asynchronous", "synchronous", "all-reduce"


@dataclasses.dataclass(frozen=True)
class Machines:
    """A network, and the machines that it is trained on.

    Attributes:
      size_bytes: of the parameters.
      compute_secs: of a step of one worker alone.
      bandwidth: bytes per second of the link of a task, in each direction.
      overhead_secs: of a step with other tasks.
      imbalance: bytes of the fullest parameter server over the mean.
    """

    size_bytes: float
    compute_secs: float
    bandwidth: float
    overhead_secs: float = 0.0
    imbalance: float = 1.0

    def share_secs(self, num_ps: int) -> float:
        """Seconds in which the fullest server sends its part to one worker."""
        return self.imbalance * self.size_bytes / num_ps / self.bandwidth

    def link_secs(self) -> float:
        """Seconds in which a worker receives all parameters and sends all gradients."""
        return 2 * self.size_bytes / self.bandwidth


def batches_per_sec(machines: Machines, mode: str, workers: int, num_ps: int = 1) -> float:
    """Batches of all workers per second; W / compute_secs would be ideal."""
    alone, link = machines.compute_secs + machines.overhead_secs, machines.link_secs()
    if mode == ASYNC:
        return min(workers / (alone + link), 1 / machines.share_secs(num_ps))
    if mode == SYNC:
        return workers / (alone + max(link, 2 * workers * machines.share_secs(num_ps)))
    if workers == 1:
        return 1 / machines.compute_secs
    return workers / (alone + (workers - 1) / workers * link)


def knee(machines: Machines, num_ps: int) -> float:
    """The number of asynchronous workers beyond which the parameter servers are the limit."""
    alone = machines.compute_secs + machines.overhead_secs
    return (alone + machines.link_secs()) / machines.share_secs(num_ps)


def fitted(points: Sequence[tuple[float, float, float]]) -> tuple[float, float, list[float]]:
    """Fits bandwidth and overhead to steps of one worker and one parameter server.

    Args:
      points: bytes of the parameters, seconds of a step alone, seconds of a step; at least two.

    Returns:
      Bandwidth, overhead, and measured minus modelled seconds of each point; errors count
      relative to the measured seconds.
    """
    size, alone, secs = np.array(points, float).T
    terms = np.stack([2 * size, np.ones_like(size)], axis=1) / secs[:, None]
    (slope, overhead), *_ = np.linalg.lstsq(terms, (secs - alone) / secs, rcond=None)
    left = secs - alone - 2 * size * slope - overhead
    return 1 / slope, overhead, [float(each) for each in left]


def table(machines: Machines, *, num_ps: Sequence[int] = SERVERS) -> Iterator[list[str]]:
    """Yields rows of the efficiency in per cent: batches/s over W times those of a worker alone."""
    for mode in (ASYNC, SYNC, REDUCE):
        for servers in (0,) if mode == REDUCE else num_ps:
            every = [batches_per_sec(machines, mode, each, servers or 1) for each in WORKERS]
            cells = [
                f"{100 * rate * machines.compute_secs / each:.0f}"
                for rate, each in zip(every, WORKERS, strict=True)
            ]
            name = f"{mode}, {servers} ps" if servers else mode
            limit = f"{knee(machines, servers):.0f} workers" if mode == ASYNC else ""
            yield [name, *cells, limit]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=102, help="size of the parameters")
    parser.add_argument("--compute_secs", type=float, default=1.22, help="of a step alone")
    parser.add_argument("--gbits", type=float, default=10, help="of a link, each direction, per s")
    parser.add_argument("--overhead_secs", type=float, default=0.0, help="of a step with others")
    parser.add_argument("--imbalance", type=float, default=1.0, help="fullest ps over the mean")
    parser.add_argument(
        "--write", action="store_true", help="write docs/figures/cluster_model.json"
    )
    argv = parser.parse_args()
    bandwidth = argv.gbits * 1e9 / 8
    machines = Machines(
        argv.megabytes * 1e6, argv.compute_secs, bandwidth, argv.overhead_secs, argv.imbalance
    )
    print("per cent of W times the throughput of one worker alone")
    head, rows = ["workers", *map(str, WORKERS), "ps limit at"], list(table(machines))
    line = "{:<22}" + "{:>7}" * len(WORKERS) + "{:>12}"
    print(*(line.format(*cells) for cells in (head, *rows)), sep="\n")
    if argv.write:
        from figure_file import write_table

        write_table(head, rows, code=["tools/bench/cluster_model.py"], computed=True)


if __name__ == "__main__":
    main()
