"""The training loop."""

from __future__ import annotations

from typing import Any

from tf_frame.graph.train_graph import TrainGraph


def run_steps(session: Any, graph: TrainGraph) -> None:
    """Runs steps until a hook asks to stop or the input ends."""
    while not session.should_stop():
        session.run(graph.train_op)
