"""The division of a step's wall time; times in these tests are milliseconds."""

import random

import pytest

from hand_made_steps import CPU, Recording
from tf_frame.profiling.report.operation_kinds import operation_priority
from tf_frame.profiling.report.time_attribution import attribute_time

GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
PS = "/job:ps/replica:0/task:0/device:CPU:0"


def divided(*step, **parts):
    """Phases and shares of the operations, in ms."""
    recording = Recording().step(*step, **parts)
    profile = recording.profile()
    (step,) = profile.steps
    priorities = [
        operation_priority(profile.nodes[op.node], profile.devices[op.device]) for op in step.ops
    ]
    division = attribute_time(step, priorities)
    assert sum(division.phases.values()) == step.end - step.begin
    phases = {name or kind: ns / 1e6 for (kind, name), ns in division.phases.items() if ns}
    return phases, [pytest.approx(share / 1e6, abs=1e-6) for share in division.shares]


def test_operations_share_time_equally_within_the_session():
    assert divided(10, session=(1, 8)) == ({"session_overhead": 7, "loop": 3}, [])
    hooks = [("A", 0, 1), ("B", 8, 9, "summary"), ("A", 9, 9.5)]
    phases = {"session_overhead": 7, "A": 1.5, "B": 1, "loop": 0.5}
    assert divided(10, session=(1, 8), hooks=hooks) == (phases, [])
    ops = [("a", "Conv2D", 0, 4), ("b", "Conv2D", 2, 6), ("c", "Conv2D", 3, 4)]
    shares = [2 + 1 / 2 + 1 / 3, 1 / 2 + 1 / 3 + 2, 1 / 3]
    assert divided(8, ops=ops) == ({"host_compute": 6, "session_overhead": 2}, shares)
    ops = [("a", "Relu", -3, -1), ("b", "Relu", 2, 2), ("c", "Relu", 5, 20)]
    phases = {"session_overhead": 4, "host_compute": 3, "loop": 3}
    assert divided(10, session=(1, 8), ops=ops) == (phases, [0, 0, 3])


def test_computing_goes_before_input_and_input_before_waiting():
    ops = [("next", "IteratorGetNext", 0, 6), ("a", "Relu", 4, 8)]
    phases = {"input": 4, "host_compute": 4, "session_overhead": 2}
    assert divided(10, ops=ops) == (phases, [4, 4])
    ops = [("recv", "_Recv", 0, 9), ("take", "QueueDequeueManyV2", 1, 3), ("a", "Relu", 5, 6)]
    phases = {"input": 2, "communication": 6, "host_compute": 1, "session_overhead": 1}
    assert divided(10, ops=ops) == (phases, [6, 2, 1])
    ops = [("a", "Relu", 0, 6, CPU), ("b", "Conv2D", 2, 4, GPU)]
    assert divided(6, ops=ops) == ({"host_compute": 4, "device_compute": 2}, [4, 2])
    ops = [("call", "StatefulPartitionedCall", 0, 6), ("call/a", "Conv2D", 1, 5)]
    assert divided(6, ops=ops) == ({"host_compute": 6}, [2, 4])
    # A gRPC session records those of parameter servers.
    ops = [("w/_1", "_Recv", 0, 6), ("w/read", "Identity", 1, 2, PS)]
    ops += [("next", "IteratorGetNext", 2, 5), ("update", "ApplyMomentum", 7, 9, PS)]
    phases = {"communication": 2, "host_compute": 3, "input": 3, "session_overhead": 2}
    assert divided(10, ops=ops) == (phases, [2, 1, 3, 2])


@pytest.mark.parametrize("seed", range(5))
def test_phases_are_the_step_and_shares_are_the_phases_of_operations(seed):
    drawn = random.Random(seed)
    types = ["Conv2D", "IteratorGetNext", "_Recv", "PartitionedCall", "PyFunc"]
    ops = []
    for index in range(200):
        begin, device = drawn.uniform(-5, 100), drawn.choice([CPU, GPU, PS])
        end = begin + drawn.expovariate(1)
        ops.append((f"op_{index}", drawn.choice(types), begin, end, device))
    hooks = [("A", 91, 95), ("B", 95, 98, "checkpoint")]
    phases, shares = divided(100, session=(2, 90), ops=ops, hooks=hooks)
    assert sum(phases.values()) == pytest.approx(100)
    outside = sum(phases.get(name, 0) for name in ("A", "B", "loop", "session_overhead"))
    assert 100 - outside == pytest.approx(sum(share.expected for share in shares))
