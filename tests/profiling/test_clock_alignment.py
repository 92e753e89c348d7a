import dataclasses

import pytest

from step_profiles import LOCAL, PS, W0, W1, make_profile
from tf_frame.errors import ConfigError
from tf_frame.profiling.clock_alignment import AlignedOp, Device, Run, align
from tf_frame.profiling.xplane import Event, Line


def test_devices_are_those_of_the_task_by_the_clock_of_the_chief():
    profile = make_profile("chief_0", [(LOCAL, "a", "Add", 10, 20)])
    assert align(Run([profile])).ops == {
        Device("chief_0", "CPU:0"): [AlignedOp(10, 20, "a", "Add", 100)]
    }
    chief = make_profile("worker_0", [(W0, "a", "Add", 10, 20)])
    other = make_profile("worker_1", [(W1, "a", "Add", 10, 20)], clock_offset=500)
    run = align(Run([chief, other]))
    assert [run.ops[Device(task, "CPU:0")][0].begin for task in run.tasks] == [10, 510]
    (step,) = run.steps["worker_1"]
    assert (step.begin, step.spans[0].begin, step.spans[1].end) == (500, 500, 1_000_500)


def test_operations_of_other_tasks_have_the_clock_of_the_chief():
    first = make_profile("worker_0", [(W0, "a", "Add", 10, 20), (PS, "w", "Read", 30, 40)])
    second = make_profile("worker_1", [(PS, "w", "Read", 30, 40), (PS, "v", "Read", 50, 60)])
    second = dataclasses.replace(second, clock_offset=5)
    ops = align(Run([first, second])).ops
    found = [(op.name, op.begin) for op in ops[Device("ps_0", "CPU:0")]]
    assert found == [("w", 30), ("v", 50)]
    chief = make_profile("chief_0", [(PS, "w", "Read", 30, 40)], peer_clock_offsets={"ps_0": 500})
    assert align(Run([chief])).ops[Device("ps_0", "CPU:0")][0].begin == 530
    chief = dataclasses.replace(chief, steps=[dataclasses.replace(chief.steps[0], ops=())])
    run = Run([chief], {"ps_0": [Line("/host:CPU", "thread", [Event("work", 30, 40)])]})
    (line,) = align(run).captures["ps_0"]
    assert line.events == [Event("work", 530, 540)]
    worker = make_profile("worker_0", [(W0, "a", "Add", 10, 20)])
    run = align(Run([worker], {"ps_0": LINES}), step=100)
    assert [event.name for line in run.captures["ps_0"] for event in line.events] == ["x"]
    assert run.begin == 0
    with_ps = make_profile("worker_0", [(PS, "a", "Add", 10, 20)])
    assert align(Run([with_ps], {"ps_0": LINES})).captures == {}


def test_a_step_leaves_only_what_overlaps_with_it_on_the_chief():
    chief = make_profile("worker_0", [(W0, "a", "Add", 1000, 1010)], begin=1000, end=1100)
    chief = dataclasses.replace(
        chief,
        steps=[
            *chief.steps,
            dataclasses.replace(chief.steps[0], number=101, begin=1100, end=1200, ops=()),
        ],
    )
    other = make_profile(
        "worker_1",
        [(W1, "b", "Add", 900, 1000), (W1, "c", "Add", 1050, 1060), (W1, "d", "Add", 1150, 1160)],
        number=77,
        begin=900,
        end=1170,
    )
    run = align(Run([other, chief]), step=100)
    assert run.tasks == ["worker_0", "worker_1"]
    assert [step.number for step in run.steps["worker_0"]] == [100]
    assert [op.name for op in run.ops[Device("worker_1", "CPU:0")]] == ["c"]


def test_missing_steps_are_an_error_and_tasks_have_an_order():
    profile = make_profile("chief_0", [])
    with pytest.raises(ConfigError, match="no task recorded step 7; recorded steps: 100"):
        align(Run([profile]), step=7)
    tasks = ["ps_0", "worker_10", "worker_2", "chief_0", "evaluator_0"]
    run = align(Run([make_profile(task, []) for task in tasks]))
    assert run.tasks == ["chief_0", "evaluator_0", "worker_2", "worker_10", "ps_0"]


LINES = [Line("/host:CPU", "t", [Event("x", 0, 10), Event("y", 1_500_000, 1_500_010)])]
