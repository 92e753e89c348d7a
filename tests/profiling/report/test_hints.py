"""Each cause alone is named first, a healthy profile names none."""

import dataclasses
import re
from pathlib import Path

import pytest

from hand_made_steps import Recording
from tf_frame.config.run_options import RunOptions
from tf_frame.profiling.report import graph_hints, hints as hook_hints
from tf_frame.profiling.report.build_report import build_report
from tf_frame.profiling.step_profile import HookCost

MIB = 2**20
# A step of 100 ms: 1 ms of input, 90 ms of the network, 2 ms of hooks.
NETWORK = [
    ("input/IteratorGetNext", "IteratorGetNext", 2, 3),
    *((f"net/conv{i}/Conv2D", "Conv2D", 3 + 9 * i, 11 + 9 * i) for i in range(10)),
    *(
        (f"net/conv{i}/FusedBatchNormV3", "FusedBatchNormV3", 11 + 9 * i, 12 + 9 * i)
        for i in range(10)
    ),
]
HOOKS = [("LoggingHook", 97, 98), ("CheckpointHook", 98, 99, "checkpoint")]
MEMORY = [(300 * MIB, {"net/conv0/Conv2D": 120 * MIB})]


def found(ms=100, *, ops=(), hooks=HOOKS, memory=MEMORY, session=(1, 97), of_run=(), **others):
    """Hints for five steps with the given parts; `of_run` is the cost of the hooks."""
    recording = Recording()
    for _ in range(5):
        recording.step(ms, session=session, ops=[*NETWORK, *ops], hooks=hooks, memory=memory)
    return build_report([recording.profile(hooks=of_run, **others)]).hints


def found_after(ms, *ops):
    """Hints for steps with operations after the network, which take some ms, and without hooks."""
    return found(100 + ms, session=(1, 97 + ms), ops=ops, hooks=[])


def only(hints):
    (hint,) = hints
    return hint


def test_healthy_profiles_name_none_and_the_largest_gain_is_first():
    assert found() == ()
    assert not found(of_run=[HookCost("ProfileHook", "hook", 9, 9.0, 2.0)])
    ops = [("n", "IteratorGetNext", 95, 125), ("slow", "PyFunc", 125, 165)]
    hints = found(170, session=(1, 167), ops=ops, hooks=[])
    assert [hint.cause for hint in hints] == ["host_operation", "slow_input"]


def test_slow_input_and_memory():
    hint = only(found(160, session=(1, 155), ops=[("n", "IteratorGetNext", 95, 150)], hooks=[]))
    assert (hint.cause, hint.severity) == ("slow_input", pytest.approx((1 + 55) / 160))
    assert hint.text == "35% of the step waits for input"
    assert "num_parallel_calls" in hint.remedy
    assert (hint.changes, hint.probe) == ({}, {"overfit_batches": "1"})
    ops = [("n", "IteratorGetNext", 95, 150)]
    hint = only(found(160, session=(1, 155), ops=ops, hooks=[], options={"input.cache": False}))
    assert hint.changes == {"input.cache": "true"}
    hint = only(found(memory=[(300 * MIB, {"net/conv3/Conv2D": 200 * MIB})]))
    assert (hint.cause, hint.subject) == ("memory_hog", "net/conv3/Conv2D")
    assert "owns 200.0 MiB, which is 67% of the memory of CPU:0" in hint.text
    assert not found(memory=[(30 * MIB, {"net/conv3/Conv2D": 20 * MIB})])


def test_one_long_step_does_not_hide_an_input_that_all_others_wait_for():
    recording = Recording()
    for ms in (160, 160, 160, 160, 4000):
        ops = [*NETWORK, ("n", "IteratorGetNext", 95, 150)]
        recording.step(ms, session=(1, 155), ops=ops, hooks=[])
    hint = only(build_report([recording.profile(hooks=())]).hints)
    assert (hint.cause, hint.severity) == ("slow_input", pytest.approx((1 + 55) / 160))
    assert hint.text == "35% of a typical step waits for input"


def test_taking_a_batch_that_is_ready_belongs_to_the_start_of_a_small_step():
    recording = Recording()
    for _ in range(5):
        ops = [("n", "IteratorGetNext", 0.03, 0.15), ("a", "MatMul", 0.15, 0.68)]
        recording.step(0.72, session=(0.02, 0.7), ops=ops)
    assert only(build_report([recording.profile()]).hints).cause == "small_steps"


def test_a_slow_input_with_python_functions_names_them():
    slow = {"session": (1, 155), "ops": [("n", "IteratorGetNext", 95, 150)], "hooks": []}
    hint = only(found(160, **slow, python_functions=["read (a.py, line 3)"]))
    assert hint.text.endswith(
        "waits for input, which calls the Python function read (a.py, line 3)"
    )
    assert hint.remedy.startswith("num_parallel_calls helps a Python function where it works in C")
    # Without them, no more calls wait at a time than there are cores.
    assert "private_threadpool_size" in hint.remedy


def test_slow_hook():
    hint = only(found(130, hooks=[*HOOKS, ("MyHook", 99, 129)]))
    assert (hint.cause, hint.subject) == ("slow_hook", "MyHook")
    assert hint.severity == pytest.approx(30 / 130)
    assert "MyHook takes 23% of the step (30.0 ms in the recorded steps)" in hint.text
    hint = only(found(of_run=[HookCost("EvaluateHook", "hook", 3, 3.0, 20.0)]))
    assert (hint.cause, hint.severity) == ("slow_hook", pytest.approx(0.5))
    cost = HookCost("SlowStepHook", "hook", 9, 9.0, 20.0, option="--hook slow_step")
    hint = only(found(of_run=[cost], options={"hook": ["heartbeat", "slow_step"]}))
    assert (hint.option, "a cadence with fewer steps" in hint.remedy) == ("", True)
    assert (hint.changes, hint.probe) == ({}, {"hook": "heartbeat"})
    cost = HookCost("EvaluateHook", "hook", 3, 3.0, 20.0, option="--eval_every_n_steps")
    assert only(found(of_run=[cost])).changes == {"eval_every_n_steps": "200"}


def test_a_hook_that_runs_at_few_steps_counts_by_the_run():
    recording = Recording().step(
        130, session=(1, 97), ops=NETWORK, hooks=[("EvaluateHook", 99, 129)]
    )
    often, rarely = (
        HookCost("EvaluateHook", "hook", 4, 0.12, steps, option="--eval_every_n_steps")
        for steps in (2.0, 500.0)
    )
    assert build_report([recording.profile(hooks=[rarely])]).hints == ()
    hint = only(build_report([recording.profile(hooks=[often])]).hints)
    assert (hint.severity, hint.option) == (pytest.approx(15 / 130), "--eval_every_n_steps")
    # Of a single call nobody can say how often it comes.
    assert build_report([recording.profile()]).hints == ()


def test_checkpoints_too_often():
    hint = only(found(of_run=[HookCost("CheckpointHook", "checkpoint", 4, 6.0, 100.0)], hooks=[]))
    assert (hint.cause, hint.severity) == ("frequent_checkpoints", pytest.approx(0.15))
    assert hint.text == (
        "checkpoints every 100 steps take 15% of the step (15.0 ms over the whole run; in the "
        "recorded steps 0%, 0.0 ms)"
    )


@pytest.mark.parametrize("asynchronous", [False, True])
def test_checkpoints_at_every_step_say_both_costs(asynchronous):
    cost = HookCost("CheckpointHook", "checkpoint", 4, 0.24, 1.0, asynchronous)
    hint = only(found(180, hooks=[("CheckpointHook", 99, 179, "checkpoint")], of_run=[cost]))
    assert hint.text == (
        "checkpoints at every step take 33% of the step (60.0 ms over the whole run; in the "
        "recorded steps 44%, 80.0 ms)"
    )
    assert ("--async_checkpoint" in hint.remedy) != asynchronous


def test_summaries_of_every_step():
    ops = [("histogram", "HistogramSummary", 93, 96)]
    hint = only(found(ops=ops, hooks=[*HOOKS, ("SummaryHook", 99, 100, "summary")]))
    assert (hint.cause, hint.subject) == ("summaries_every_step", "SummaryHook")
    assert (hint.severity, hint.option) == (pytest.approx(0.04), "--save_summaries_steps")
    ops, hooks = [("h", "HistogramSummary", 93, 96)], [("SummaryHook", 99, 100, "summary")]
    recording = Recording().step(100, session=(1, 97), ops=[*NETWORK, *ops], hooks=hooks)
    for _ in range(4):
        recording.step(100, session=(1, 97), ops=NETWORK)
    assert build_report([recording.profile()]).hints == ()


def test_slow_operations():
    hint = only(found_after(30, ("net/slow", "PyFunc", 95, 125)))
    assert (hint.cause, hint.subject) == ("host_operation", "net/slow")
    assert hint.severity == pytest.approx(30 / 130)
    assert only(found_after(30, ("net/unique", "UniqueV2", 95, 125))).subject == "net/unique"
    assert not found_after(17, ("net/unique", "UniqueV2", 95, 112))
    assert not found_after(30, ("net/large", "Conv2D", 95, 125))
    gpu = "/job:localhost/replica:0/task:0/device:GPU:0"
    ops = [("a/Conv2D", "Conv2D", 0, 70, gpu), ("up", "ResizeBilinear", 70, 100)]
    hint = only(build_report([Recording().step(100, ops=ops).profile()]).hints)
    assert (hint.cause, hint.subject) == ("host_operation", "up")
    assert "on the host" in hint.text


def clones(*ops):
    profile = Recording().step(100, ops=ops).profile(clone_scopes=("clone_0", "clone_1"))
    return build_report([profile])


def clone_with_more(ms, type_="Conv2D"):
    ops = [("clone_0/a/Conv2D", "Conv2D", 0, 60), ("clone_1/a/Conv2D", "Conv2D", 0, 60)]
    more = ("clone_1/a/more", type_, 60, 60 + ms)
    return clones(*ops, more, ("m", "ApplyMomentum", 90, 100)).hints


def test_slow_clone():
    hint = only(clone_with_more(20))
    assert (hint.cause, hint.subject) == ("slow_clone", "clone_1")
    assert hint.severity == pytest.approx(0.2)
    assert not clone_with_more(10)
    hint = only(clone_with_more(25, "PyFunc"))
    assert hint.cause == "slow_clone"
    assert hint.text.endswith("it computes 85.0 ms, most of it for clone_1/a/more")


def test_clones_that_only_end_later_are_not_slow():
    ops = [("clone_0/a/Conv2D", "Conv2D", 0, 50), ("clone_1/a/Conv2D", "Conv2D", 45, 95)]
    assert clones(*ops).hints == ()
    # As those that share two cores: the first one has more to do, and yet it waits at the end.
    ops = [("clone_0/a/Conv2D", "Conv2D", 0, 70), ("clone_0/penalty", "L2Loss", 70, 78)]
    report = clones(*ops, ("clone_1/a/Conv2D", "Conv2D", 30, 98))
    (waiting,) = [row for row in report.clones if row.name == "clone_0"]
    assert waiting.wait_ms == pytest.approx(20) and report.hints == ()


def test_serial_updates_of_batch_norm():
    serial = [
        (f"net/conv{i}/BatchNorm/AssignMovingAvg/AssignSub", "AssignSub", 93 + i, 94 + i)
        for i in range(30)
    ]
    hint = only(found_after(30, *serial))
    assert hint.cause == "serial_batch_norm_updates"
    # On two cores, half of them could run beside the other half.
    assert hint.severity == pytest.approx(15 / 130)
    assert not found_after(30, *((name, type_, 93, 123) for name, type_, _, _ in serial))


def test_small_steps():
    recording = Recording()
    for _ in range(5):
        recording.step(1, session=(0.2, 0.9), ops=[("a", "MatMul", 0.3, 0.5)])
    hint = only(build_report([recording.profile()]).hints)
    assert (hint.cause, hint.option) == ("small_steps", "--steps_per_loop")
    assert 0.65 < hint.severity < 0.75


def test_the_time_for_recording_is_no_part_of_a_small_step():
    recording = Recording()
    for _ in range(5):
        # Of 0.5 ms, recording of 60 operations takes 0.24, and the rest of the start 0.14.
        ops = [(f"op_{i}", "MatMul", 0.2 + i / 500, 0.202 + i / 500) for i in range(60)]
        recording.step(0.5, session=(0.02, 0.48), ops=ops)
    hint = only(build_report([recording.profile()]).hints)
    assert hint.cause == "small_steps" and "that 54% of their time" in hint.text


def test_few_threads():
    hint = only(found(options={"intra_op_threads": 1, "inter_op_threads": 0}))
    assert (hint.cause, hint.changes) == ("few_threads", {"intra_op_threads": "0"})
    assert hint.text == "--intra_op_threads 1 may leave cores idle: the machine has 2"
    assert hint.severity == pytest.approx(0.9 / 2, abs=0.01)
    hint = only(found(options={"intra_op_threads": 1, "inter_op_threads": 1}))
    assert hint.changes == {"intra_op_threads": "0", "inter_op_threads": "0"}
    assert not found(options={"intra_op_threads": 2, "inter_op_threads": 4})


def test_copies_between_layouts():
    copies = [("to_nchw", "_MklTranspose", 93, 103), ("back", "Transpose", 103, 118)]
    hint = only(found_after(25, *copies))
    assert (hint.cause, hint.subject, hint.changes) == ("layout_copies", "back", {})
    assert hint.severity == pytest.approx(25 / 125)
    recording = Recording().step(125, session=(1, 122), ops=[*NETWORK, *copies])
    options = {"model.data_format": "NCHW"}
    hint = only(build_report([recording.profile(options=options)]).hints)
    assert hint.changes == {"model.data_format": "NHWC"}
    assert not found_after(5, ("to_nchw", "Transpose", 93, 98))


def test_options_of_hints_exist():
    known = {f"--{field.name}" for field in dataclasses.fields(RunOptions)}
    known |= {"--transform", "--hook"}
    sources = [Path(module.__file__).read_text("utf-8") for module in (graph_hints, hook_hints)]
    mentioned = set(re.findall(r"--[a-z]\w+", "".join(sources)))
    assert mentioned and mentioned <= known
