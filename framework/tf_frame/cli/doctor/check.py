"""`Check`: a line of `tf-frame doctor`."""

from __future__ import annotations

import dataclasses

OK, WARNING, PROBLEM = STATES = ("OK", "warning", "problem")


@dataclasses.dataclass(frozen=True)
class Check:
    """A finding about this machine.

    Attributes:
      name: the thing that was looked at, such as `protobuf`.
      state: `OK`; `warning`: something is missing or slower, training works; or `problem`.
      found: the value or the fault.
      advice: lines that say what to do, or what to know about this version.
    """

    name: str
    state: str
    found: str
    advice: tuple[str, ...] = ()

    def text(self) -> str:
        """The check in a terminal: a line, and its advice below."""
        lines = [f"{self.state:<8} {self.name:<17} {self.found}", *self.advice]
        return f"\n{'':27}".join(lines)
