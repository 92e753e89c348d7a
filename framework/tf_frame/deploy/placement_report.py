"""A table of the variables and bytes on each device, as `--show_placement` prints it.

    print(placement_table(tf.global_variables(), config))

With parameter servers, the last line shows how evenly the bytes are distributed over the servers.
The server with the most bytes limits the job.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import size_bytes
from tf_frame.text import columns, readable_bytes


class DeviceShare(NamedTuple):
    """The number of variables on a device, and their bytes."""

    device: str
    num_variables: int
    num_bytes: int


@dataclasses.dataclass(frozen=True)
class PlacementReport:
    """Variables and bytes per device.

    Attributes:
      rows: the parameter server tasks in order, even without variables, and then all other devices
        with variables.
      num_tasks: number of rows that are parameter server tasks.
    """

    rows: Sequence[DeviceShare]
    num_tasks: int

    @property
    def total(self) -> DeviceShare:
        """All rows together."""
        variables = sum(row.num_variables for row in self.rows)
        return DeviceShare("total", variables, sum(row.num_bytes for row in self.rows))

    @property
    def imbalance(self) -> float | None:
        """Bytes of the fullest parameter server task over the mean of all tasks.

        1 if all tasks hold as many bytes; None without tasks, or without variables on them.
        """
        loads = [row.num_bytes for row in self.rows[: self.num_tasks]]
        return max(loads) * len(loads) / sum(loads) if sum(loads) else None

    def text(self) -> str:
        """Returns the table: a line per device and a line for the total."""
        cells = [("device", "variables", "size"), *map(_cells, self.rows), _cells(self.total)]
        table = columns(cells, indent=0, right=(1, 2))
        if self.imbalance is not None:
            table += f"\nlargest task over mean of tasks: {self.imbalance:.3f}"
        return table

    __str__ = text


def placement_table(variables: Iterable[Any], config: DeploymentConfig) -> PlacementReport:
    """Sums up the placement of variables; a variable of unknown shape counts no bytes."""
    tasks = [config.ps_task_device(task) for task in range(config.num_ps_tasks)]
    shares = {device: DeviceShare(device, 0, 0) for device in tasks}
    for variable in variables:
        device = variable.device or "(no device)"
        _, count, size = shares.get(device, DeviceShare(device, 0, 0))
        shares[device] = DeviceShare(device, count + 1, size + size_bytes(variable))
    return PlacementReport(rows=tuple(shares.values()), num_tasks=len(tasks))


def _cells(row: DeviceShare) -> tuple[str, str, str]:
    return row.device, str(row.num_variables), readable_bytes(row.num_bytes)
