"""Which device holds which share of the variables, as a table.

print(placement_table(tf.global_variables(), config))
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement_strategies import size_bytes

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class DeviceShare(NamedTuple):
    """What one device holds.

    Attributes:
      device: its name.
      num_variables: how many variables.
      num_bytes: their bytes together.
    """

    device: str
    num_variables: int
    num_bytes: int


@dataclasses.dataclass(frozen=True)
class PlacementReport:
    """Variables and bytes per device.

    Attributes:
      rows: the parameter server tasks in order, with or without variables, and
        then every other device that holds some.
      num_tasks: how many of the rows are parameter server tasks.
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

        1 when all hold the same; None without tasks, or when they hold nothing.
        """
        loads = [row.num_bytes for row in self.rows[: self.num_tasks]]
        return max(loads) * len(loads) / sum(loads) if sum(loads) else None

    def text(self) -> str:
        """The table, a line per device and one for the total, in aligned columns."""
        lines = [("device", "variables", "size"), *map(_words, self.rows), _words(self.total)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            f"{device:<{widths[0]}}  {count:>{widths[1]}}  {size:>{widths[2]}}"
            for device, count, size in lines
        ]
        if self.imbalance is not None:
            table.append(f"largest task over mean of tasks: {self.imbalance:.3f}")
        return "\n".join(table)

    __str__ = text


def placement_table(variables: Iterable[Any], config: DeploymentConfig) -> PlacementReport:
    """Sums up where variables were placed.

    Args:
      variables: the variables; those with an unknown shape count no bytes.
      config: says which devices are parameter server tasks.
    """
    tasks = [config.ps_task_device(task) for task in range(config.num_ps_tasks)]
    shares = {device: DeviceShare(device, 0, 0) for device in tasks}
    for variable in variables:
        device = variable.device or "(no device)"
        _, count, size = shares.get(device, DeviceShare(device, 0, 0))
        shares[device] = DeviceShare(device, count + 1, size + size_bytes(variable))
    return PlacementReport(rows=tuple(shares.values()), num_tasks=len(tasks))


def readable_bytes(num_bytes: int) -> str:
    """Bytes in the largest unit of 1024s that leaves at least 1 of it, as in `1.5 MiB`."""
    value, unit = float(num_bytes), 0
    # What would be rounded to 1024.0 is 1.0 of the next unit.
    while round(value, 1) >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit else f"{num_bytes} B"


def _words(row: DeviceShare) -> tuple[str, str, str]:
    return row.device, str(row.num_variables), readable_bytes(row.num_bytes)
