import pytest

from hand_made_steps import Recording
from tf_frame.profiling.report import formats
from tf_frame.profiling.report.build_report import build_report
from tf_frame.profiling.report.text import format_report
from tf_frame.profiling.report.text_tables import TABLES, use
from tf_frame.profiling.step_profile import Cost, HookCost

OPS = [
    ("input/IteratorGetNext", "IteratorGetNext", 0, 57),
    *((f"net/block{i // 4}/conv{i}/Conv2D", "Conv2D", 57 + 3 * i, 60 + 3 * i) for i in range(12)),
]
COSTS = [Cost("", 1_234_567, 12_000_000), Cost("net", 7, None), Cost("net/block0/conv0", 7, 10**6)]
HOOKS = [HookCost("LoggingHook", "hook", 20, 0.02, 10.0)]


def report(*, steps=4, ops=OPS, **others):
    recording = Recording()
    for number in range(steps):
        ms = 100 + number
        memory = [(2 * 2**20, {"net/block0/conv0/Conv2D": 2**20})]
        recording.step(ms, session=(0, 95), ops=ops, hooks=[("Slow", 95, 99)], memory=memory)
    return build_report([recording.profile(costs=COSTS, hooks=HOOKS, **others)], run="run")


@pytest.fixture(scope="module")
def lines():
    return format_report(report(examples_per_step=203)).splitlines()


def section(lines, title):
    """The lines below a title."""
    begin = next(i for i, line in enumerate(lines) if line.startswith(title)) + 1
    end = next((i for i in range(begin, len(lines)) if not lines[i]), len(lines))
    return lines[begin:end]


def test_step_time_phases_and_titles(lines):
    assert lines[0] == "A step takes 101.5 ms (median), which is 2000 examples/s."
    assert lines[1] == "worker_0 on here, 2 cores: 4 steps, 100 to 103."
    assert lines[3].startswith("100.0 ms |█") and lines[3].endswith("█| 103.0 ms")
    first, second, *_ = section(lines, "Where the time goes")
    assert first.split() == ["56.2%", "57.00", "ms", "waiting", "for", "input", "█" * 17]
    assert second.split() == ["35.5%", "36.00", "ms", "computing", "on", "the", "CPU", "█" * 11]
    assert "Where the time goes (mean step: 101.5 ms)" in lines
    assert formats.COSTS in lines
    assert "GFLOP/S" not in section(lines, formats.LAYERS)[0]
    assert max(map(len, lines)) <= 100
    first, second, *_ = section(lines, "What would help")
    assert first == "  1. 56% of the step waits for input (gain: at least 56%)"
    assert second.startswith("     in the input's dataset(), decode in parallel")


def where(hooks, ops=OPS):
    """The lines on phases of a step of 100 ms."""
    recording = Recording().step(100, session=(0, 95), ops=ops, hooks=hooks)
    return section(
        format_report(build_report([recording.profile()])).splitlines(), "Where the time goes"
    )


def test_input_and_hooks_always_have_a_line():
    hooks = [(f"Hook{i}", 95 + i / 100, 95.02 + i / 100) for i in range(0, 8, 2)]
    lines = where(hooks, [("next", "IteratorGetNext", 0, 0.04), ("a/Conv2D", "Conv2D", 1, 90)])
    assert lines[-2:] == [
        "    0.1%      0.08 ms  hooks",
        "    0.0%      0.04 ms  waiting for input",
    ]
    lines = where([], [("a/Conv2D", "Conv2D", 0, 95)])
    assert lines[-2:] == [
        "    0.0%      0.00 ms  waiting for input",
        "    0.0%      0.00 ms  hooks",
    ]


def test_large_hooks_are_named_below_their_sum():
    lines = where([("A", 95, 97), ("CheckpointHook", 97, 98, "checkpoint"), ("B", 98, 98.1)])
    place = next(i for i, line in enumerate(lines) if line.split()[3] == "hooks")
    assert [line[23:63].rstrip() for line in lines[place : place + 3]] == [
        "hooks",
        "- hook A",
        "- writing checkpoints (CheckpointHook)",
    ]
    assert lines[place].split()[0] == "3.1%"


def test_healthy_profiles_empty_tables_and_the_time_of_recording():
    text = format_report(report(ops=[("a/Conv2D", "Conv2D", 1, 94), ("b", "Relu", 94, 94.2)]))
    kinds = section(text.splitlines(), "What the operations do")
    assert kinds[1].split() == ["0.2%", "0.20", "ms", "all", "others"]
    assert "  none of the common causes of slow steps was found; an input that prepares" in text
    assert "--prove measures what it costs" in text
    assert format_report(report(), "clone").splitlines()[2] == "Nothing is recorded by clone."
    recording = Recording().step(100, session=(0, 90), hooks=[("ProfileHook", 90, 100)])
    text = format_report(build_report([recording.profile()]))
    assert "  (and 10.00 ms a step for recording, which are left out here)" in text.splitlines()


def test_tables_follow(lines):
    kinds = [
        line.split()
        for line in section(
            lines, "What the operations do, forward and backward (shares of the mean step)"
        )
    ]
    assert [kind[3] for kind in kinds] == ["input", "convolution"]
    longest = section(lines, "Operations that take longest (first 10 of 13)")
    assert longest[0].split() == ["SHARE", "MS", "CALLS", "GFLOP/S", "TYPE", "OPERATION"]
    assert longest[1].split() == ["56.2%", "57.00", "1", "-", "IteratorGetNext", OPS[0][0]]
    assert "0.3" in longest[2].split()
    hooks = section(lines, "Hooks")
    assert hooks[1].split() == ["3.9%", "4.00", "-", "-", "Slow"]
    assert hooks[2].split() == ["0.0%", "0.00", "0.10", "10", "LoggingHook"]
    assert hooks[3].split() == ["3.9%", "4.00", "0.10", "all", "hooks"]
    assert section(lines, "Memory of CPU:0 besides variables: 2.0 MiB at most")[1].split() == [
        *("50.0%", "1.0", "MiB"),
        OPS[1][0],
    ]
    costs = section(lines, "Parameters and floating-point operations")
    assert costs[1].split()[:2] == ["1,234,567", "0.012"]
    assert costs[2].split()[:2] == ["7", "-"]


def test_layers_and_names_of_short_tables():
    ops = [(f"net/block{i % 10}/conv{i}/Conv2D", "Conv2D", i, i + 1) for i in range(90)]
    ops.append(("net/top/conv", "Conv2D", 90, 94))
    lines = format_report(report(ops=ops)).splitlines()
    rows = [line.split() for line in section(lines, "Layers, forward and backward")]
    assert [row[-1] for row in rows[1:3]] == ["net/block0", "net/block1"]
    assert rows[1][:3] == ["8.9%", "9.00", "9"]
    name = f"gradients/{'very_long_scope_of_the_network/' * 3}conv1/Conv2D_grad/Conv2DBackpropInput"
    shown = report(ops=[(name, "Conv2DBackpropInput", 0, 9)])
    assert format_report(shown, "op").endswith(name)
    (row,) = section(format_report(shown).splitlines(), "Operations that take longest")[1:]
    assert row.endswith(" ...f_the_network/conv1/Conv2DBackpropInput")


@pytest.mark.parametrize("by", TABLES)
def test_one_table_alone_has_all_rows(by):
    shown = report(clone_scopes=("clone_0",))
    count = {"op": 13, "type": 2, "kind": 2, "layer": 13, "clone": 1, "hook": 3}[by]
    headline, blank, _, _, *rows = format_report(shown, by).splitlines()
    assert headline.startswith("A step takes") and not blank
    assert len(rows) == count


def test_stragglers_and_a_single_step():
    def profile(task, ms):
        return Recording(task=task).step(ms, ops=[("a", "Conv2D", 0, ms)]).profile()

    lines = format_report(
        build_report([profile("worker_0", 10), profile("worker_1", 20)])
    ).splitlines()
    assert lines[1].endswith("only step 100, so the spread is unknown.")
    assert section(lines, "Tasks")[2].split(maxsplit=5)[4:] == [
        "worker_1",
        "slower than the others",
    ]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_use_of_devices_has_a_line_each_in_every_terminal(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    ops = [("a", "MatMul", 5, 30), ("b", "MatMul", 60, 80)]
    report = build_report([Recording().step(100, session=(1, 97), ops=ops).profile()])
    _, heading, *rows = use(report, None).splitlines()
    assert len(rows) == len(report.use) == 1
    assert max(map(len, [heading, *rows])) <= width
    timeline = rows[0].partition("|")[2].rpartition("|")[0]
    assert " " in timeline.strip() and len(timeline) <= len(report.use[0].timeline)
