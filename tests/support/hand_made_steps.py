"""Recorded steps that are made by hand: times are given in milliseconds."""

import dataclasses

from tf_frame.profiling.step_profile import (
    HOOK,
    SESSION,
    Memory,
    Node,
    Op,
    Owner,
    Span,
    Step,
    StepProfile,
)

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
_BEGIN = 1_700_000_000_000_000_000


@dataclasses.dataclass
class Recording:
    """Makes a `StepProfile`; every step is the same unless its arguments differ."""

    task: str = "worker_0"
    cores: int = 2
    devices: list = dataclasses.field(default_factory=lambda: [CPU])
    nodes: list = dataclasses.field(default_factory=list)
    steps: list = dataclasses.field(default_factory=list)

    def step(self, ms, *, session=None, ops=(), hooks=(), memory=()):
        """Adds a step.

        Args:
          ms: its length.
          session: (begin, end) of the session call; None: the whole step.
          ops: (name, type, begin, end), or with a device behind.
          hooks: (name, begin, end), or with a kind behind.
          memory: (peak bytes, {name: bytes}).
        """
        start = _BEGIN + len(self.steps) * 10**9

        def at(time):
            return start + round(time * 1e6)

        spans = [Span(SESSION, "", *map(at, session or (0, ms)))]
        spans += [Span(*(kind or [HOOK]), name, at(b), at(e)) for name, b, e, *kind in hooks]
        self.steps.append(
            Step(
                number=100 + len(self.steps),
                begin=start,
                end=at(ms),
                spans=spans,
                ops=[
                    Op(self._device(*device), self._node(name, type_), at(begin), at(end))
                    for name, type_, begin, end, *device in ops
                ],
                memory=[
                    Memory(0, peak, [Owner(*item) for item in owners.items()])
                    for peak, owners in memory
                ],
            )
        )
        return self

    def _node(self, name, type_):
        return self._position(self.nodes, Node(name, type_))

    def _device(self, name=CPU):
        return self._position(self.devices, name)

    @staticmethod
    def _position(items, item):
        if item not in items:
            items.append(item)
        return items.index(item)

    def profile(self, **attributes):
        return StepProfile(
            task=self.task,
            host="here",
            cores=self.cores,
            devices=self.devices,
            nodes=self.nodes,
            steps=self.steps,
            **attributes,
        )
