"""Tables of a report of steps whose times are known."""

import dataclasses

import pytest

from hand_made_steps import CPU, Recording
from tf_frame.errors import ConfigError, DataError
from tf_frame.profiling.report import text_tables
from tf_frame.profiling.report.build_report import build_report
from tf_frame.profiling.report.html import html_page
from tf_frame.profiling.step_profile import Cost, HookCost, Work, read, to_bytes

PS = "/job:ps/replica:0/task:0/device:CPU:0"
OPS = [
    ("input/IteratorGetNext", "IteratorGetNext", 1, 3),
    ("clone_0/net/conv1/Conv2D", "Conv2D", 3, 7),
    ("clone_1/net/conv1/Conv2D", "Conv2D", 3, 9),
    ("clone_0/gradients/clone_0/net/conv1/Conv2D_grad/Filter", "Conv2DBackpropFilter", 9, 13),
    ("clone_1/gradients/clone_1/net/conv1/Conv2D_grad/Filter", "Conv2DBackpropFilter", 9, 13),
    ("Momentum/update_w/ApplyMomentum", "ApplyMomentum", 13, 14),
]
HOOKS = [("LoggingHook", 16, 17), ("ProfileHook", 17, 19)]
CLONES = ("clone_0", "clone_1")
COSTS = [Cost("", 100, 30_000_000), Cost("net/conv1", 90, 24_000_000)]


@pytest.fixture
def profile():
    recording = Recording()
    for _ in range(4):
        recording.step(20, session=(1, 16), ops=OPS, hooks=HOOKS)
    return recording.profile(clone_scopes=CLONES, costs=COSTS, examples_per_step=36)


@pytest.fixture
def report(profile):
    return build_report([profile], run="run")


def by_name(rows):
    return {row.name: row for row in rows}


def test_step_times_and_phases(report):
    assert report.step.median_ms == report.step.mean_ms == pytest.approx(18)
    assert (report.step.jitter_ms, report.profiler_ms) == (0, pytest.approx(2))
    assert report.examples_per_sec == pytest.approx(2000)
    assert (report.first_step, report.last_step) == (100, 103)
    assert "ProfileHook" not in by_name(report.hooks)
    shares = {phase.name or phase.kind: phase.ms for phase in report.phases}
    assert shares == pytest.approx(
        {"host_compute": 11, "input": 2, "session_overhead": 2, "loop": 2, "LoggingHook": 1}
    )
    assert sum(phase.share for phase in report.phases) == pytest.approx(1)
    assert report.input_share == pytest.approx(2 / 18)
    recording = Recording()
    for ms in (10, 11, 12, 13, 30):
        recording.step(ms)
    step = build_report([recording.profile()]).step
    assert (step.median_ms, step.mean_ms) == (12, 15.2)
    assert step.p90_ms == pytest.approx(13 + 0.6 * 17)
    assert step.jitter_ms == pytest.approx(8.349, abs=1e-3)
    assert [each.steps for each in step.histogram] == [2, 2, 0, 0, 0, 0, 0, 0, 0, 1]
    assert (step.histogram[0].from_ms, step.histogram[-1].to_ms) == (10, 30)


@pytest.mark.parametrize("table", ["kinds", "types", "layers", "clones", "operations"])
def test_tables_of_operations_have_the_same_total(report, table):
    rows = getattr(report, table)
    assert report.operations_ms == pytest.approx(13)
    assert sum(row.ms for row in rows) == pytest.approx(13)
    assert sum(row.share for row in rows) == pytest.approx(13 / 18)
    in_steps = [sum(row.ms_of_steps[step] for row in rows) for step in range(4)]
    assert in_steps == pytest.approx([13] * 4)


def test_kinds_layers_operations_and_scopes(report):
    kinds, layers = by_name(report.kinds), by_name(report.layers)
    assert list(kinds) == ["convolution", "input", "optimizer"]
    assert (kinds["convolution"].ms, kinds["convolution"].count) == (pytest.approx(10), 4)
    assert kinds["convolution"].busy_ms == pytest.approx(4 + 6 + 4 + 4)
    # Gradients count for the layer, and 24e6 / 10 ms are 2.4e9 a second.
    assert layers["net/conv1"].ms == pytest.approx(10)
    assert layers["net/conv1"].gflops_per_sec == pytest.approx(2.4)
    first = report.operations[0]
    assert (first.name, first.type) == ("clone_1/net/conv1/Conv2D", "Conv2D")
    assert (first.layer, first.clone, first.kind) == ("net/conv1", "clone_1", "convolution")
    assert (first.device, first.count) == ("CPU:0", 1)
    assert (first.ms, first.busy_ms) == (pytest.approx(4), pytest.approx(6))
    # Forward and backward of both clones compute a quarter each.
    assert first.gflops_per_sec == pytest.approx(6e6 / 4e-3 / 1e9)
    assert by_name(report.operations)["input/IteratorGetNext"].gflops_per_sec is None
    whole, conv = report.costs
    # Without the 2 ms of input.
    assert (whole.parameters, whole.ms) == (100, pytest.approx(11))
    assert (conv.flops, conv.ms) == (24_000_000, pytest.approx(10))
    assert conv.share == pytest.approx(10 / 18)


def test_rows_of_operations():
    ops = [("a/depthwise", "DepthwiseConv2dNative", 0, 1), ("a/Conv2D", "Conv2D", 1, 3)]
    profile = Recording().step(4, ops=ops).profile(costs=[Cost("", 1, 9), Cost("a", 1, 3_000_000)])
    report = build_report([profile])
    assert [each.gflops_per_sec for each in report.operations] == [None, None]
    assert report.layers[0].gflops_per_sec == pytest.approx(1)
    ops = [("_SOURCE", "NoOp", 1, 3), ("a", "Conv2D", 3, 9)]
    report = build_report([Recording().step(10, ops=ops).profile()])
    assert [row.name for row in report.operations] == ["a"]
    assert {p.kind: p.ms for p in report.phases} == {"host_compute": 6, "session_overhead": 4}
    ops = [("a", "Relu", 0, 1, CPU), ("a", "Relu", 1, 3, PS)]
    rows = build_report([Recording().step(3, ops=ops).profile()]).operations
    assert [(row.device, row.ms) for row in rows] == [("ps_0 CPU:0", 2), ("CPU:0", 1)]


def test_many_operations_end_with_the_others_as_one(profile):
    report = build_report([profile], max_operations=2)
    assert [row.name for row in report.operations][2] == "(others)"
    assert sum(row.ms for row in report.operations) == pytest.approx(13)
    assert len(build_report([profile], max_operations=None).operations) == len(OPS)
    slow = Recording().step(10, ops=[("a", "Conv2D", 0, 6), ("f", "PyFunc", 6, 10)]).profile()
    (hint,) = build_report([slow], max_operations=1).hints
    assert hint.subject == "f"


def test_times_of_clones(report):
    clones = by_name(report.clones)
    assert clones["clone_0"].ms == pytest.approx(2 + 2)
    assert clones["clone_1"].ms == pytest.approx(2 + 2 + 2)
    assert [clones[c].active_ms for c in CLONES] == pytest.approx([8, 10])
    assert [clones[c].idle_ms for c in CLONES] == pytest.approx([2, 0])
    assert [clones[c].wait_ms for c in CLONES] == pytest.approx([0, 0])
    ops = [("clone_0/a", "Conv2D", 0, 4), ("clone_0/b", "Conv2D", 5, 6)]
    ops += [("clone_1/a", "Conv2D", 3, 9), ("m", "ApplyMomentum", 9, 10)]
    rows = by_name(
        build_report([Recording().step(10, ops=ops).profile(clone_scopes=CLONES)]).clones
    )
    times = {name: (row.active_ms, row.idle_ms, row.wait_ms) for name, row in rows.items()}
    assert times == {"clone_0": (5, 1, 3), "clone_1": (6, 3, 0), "": (1, 0, 0)}


def test_hooks_memory_and_devices(profile):
    costs = [
        HookCost("LoggingHook", "hook", 5, 0.01, 10.0),
        HookCost("CheckpointHook", "checkpoint", 1, 0.5, None),
    ]
    hooks = by_name(build_report([dataclasses.replace(profile, hooks=costs)]).hooks)
    logging, saving = hooks["LoggingHook"], hooks["CheckpointHook"]
    assert (logging.ms, logging.share) == (pytest.approx(1), pytest.approx(1 / 18))
    assert (logging.run_ms, logging.run_share) == (pytest.approx(0.2), pytest.approx(0.2 / 18))
    assert (saving.ms, saving.run_ms, saving.calls) == (0, None, 1)
    recording = Recording()
    for peak in (100, 300, 200):
        recording.step(1, ops=[("a", "Relu", 0, 1)], memory=[(peak, {"a": peak // 2, "b": 10})])
    (row,) = build_report([recording.profile()]).memory
    assert (row.step, row.peak_bytes, row.device) == (101, 300, "CPU:0")
    assert [(owner.name, owner.bytes, owner.share) for owner in row.owners] == [
        ("a", 150, 0.5),
        ("b", 10, pytest.approx(1 / 30)),
    ]
    ops = [
        ("a", "Conv2D", 0, 6),
        ("b", "Conv2D", 3, 6),
        ("next", "IteratorGetNext", 6, 10),
        ("w", "ApplyMomentum", 9, 12, PS),
    ]
    own, other = build_report([Recording().step(12, ops=ops).profile()]).use
    assert (own.device, other.device) == ("CPU:0", "ps_0 CPU:0")
    assert (own.busy_share, own.mean) == (pytest.approx(0.5), pytest.approx(0.75))
    assert own.timeline == pytest.approx([1] * 15 + [2] * 15 + [0] * 30)
    assert other.timeline == pytest.approx([0] * 45 + [1] * 15)


def test_tasks_have_rows_and_the_first_is_shown():
    def profile(task, own_ms, waiting_ms):
        ops = [("a", "Conv2D", 0, own_ms), ("b", "_Recv", own_ms, own_ms + waiting_ms)]
        return Recording(task=task).step(own_ms + waiting_ms, ops=ops).profile()

    # In synchronous training all steps are as long; the straggler is the one who never waits.
    profiles = [profile("worker_1", 20, 0), profile("worker_0", 10, 10), profile("worker_2", 9, 11)]
    report = build_report([*profiles, Recording(task="ps_0").profile()])
    assert report.task == "worker_0"
    assert [(row.task, row.straggler) for row in report.tasks] == [
        ("worker_0", False),
        ("worker_1", True),
        ("worker_2", False),
    ]
    assert report.tasks[0].shares == pytest.approx({"host_compute": 0.5, "communication": 0.5})
    other = build_report(profiles, task="worker_1")
    assert (other.task, other.operations_ms) == ("worker_1", pytest.approx(20))


def test_tasks_and_profiles_without_steps_are_refused(profile):
    with pytest.raises(ConfigError, match=r"--task ps_0: .* no steps of it; it has worker_0"):
        build_report([profile, Recording(task="ps_0").profile()], task="ps_0")
    with pytest.raises(DataError, match="the profile x has no steps"):
        build_report([Recording().profile()], run="x")


def test_operations_have_their_shares_of_the_peaks():
    ops = [("conv", "Conv2D", 1, 5), ("sum", "AddV2", 5, 7), ("other", "Mul", 7, 8)]
    profile = (
        Recording()
        .step(10, session=(0, 9), ops=ops)
        .profile(
            work=[Work(400_000, 8_000), Work(1_000, 30_000), None], peak_flops=2e8, peak_bytes=3e7
        )
    )
    rows = {row.name: row for row in build_report([profile]).operations}
    conv, added = rows["conv"], rows["sum"]
    # 400,000 operations in 4 ms, half of the peak; 8,000 bytes.
    assert (conv.gflops_per_sec, conv.peak_share) == (pytest.approx(0.1), pytest.approx(0.5))
    assert conv.bandwidth_share == pytest.approx(8_000 / 4e-3 / 3e7)
    assert (added.gflops_per_sec, added.bandwidth_share) == (None, pytest.approx(0.5))
    assert (rows["other"].peak_share, rows["other"].bandwidth_share) == (None, None)
    table = text_tables.operations(build_report([profile]), None).splitlines()
    assert table[1].split()[3:8] == ["GFLOP/S", "OF", "PEAK", "OF", "BANDWIDTH"]
    assert table[2].split()[3:6] == ["0.1", "50%", "7%"]
    without = dataclasses.replace(profile, peak_flops=None, peak_bytes=None)
    assert "PEAK" not in text_tables.operations(build_report([without]), None)
    page = html_page(build_report([profile]))
    assert "of bandwidth" in page and "of bandwidth" not in html_page(build_report([without]))


def test_work_is_read_as_it_was_written(tmp_path):
    profile = Recording().step(1, ops=[("a", "Add", 0, 1)]).profile(work=[Work(1, 2)])
    path = tmp_path / "x.steps.json.gz"
    path.write_bytes(to_bytes(profile))
    assert read(str(path)).work == [Work(1, 2)]
