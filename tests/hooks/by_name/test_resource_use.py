import logging
import os
import resource
import threading

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.by_name.resource_use import ResourceUse, ResourceUseHook, resource_use
from tf_frame.testing.events import read_scalars

MIB = 2**20
STATUS = "Name:\tpython\nVmHWM:\t  {peak} kB\nVmRSS:\t  {memory} kB\nThreads:\t7\nodd line\n"


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """A /proc/self with given numbers of MiB and 3 open files."""
    folder = tmp_path / "proc"
    monkeypatch.setattr("tf_frame.hooks.by_name.resource_use._PROC", str(folder))
    (folder / "fd").mkdir(parents=True)
    for number in range(3):
        (folder / "fd" / str(number)).touch()

    def write(memory, peak=500):
        (folder / "status").write_text(STATUS.format(memory=memory * 1024, peak=peak * 1024))

    return write


@pytest.fixture(autouse=True)
def logged(caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")
    return caplog


def test_what_the_system_tells_is_read(proc):
    proc(100)
    assert resource_use() == ResourceUse(100 * MIB, 500 * MIB, 3, 7)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="there is no /proc here")
def test_this_process_is_read_from_proc():
    use = resource_use()
    assert 10 * MIB < use.memory_bytes <= use.peak_memory_bytes
    assert use.threads >= threading.active_count()
    with open(os.devnull):
        assert resource_use().open_files == use.open_files + 1


@pytest.mark.parametrize(("platform", "unit"), [("linux", 1024), ("darwin", 1)])
def test_without_proc_only_the_peak_and_the_threads_are_known(
    tmp_path, monkeypatch, platform, unit
):
    monkeypatch.setattr("tf_frame.hooks.by_name.resource_use.sys.platform", platform)
    monkeypatch.setattr("tf_frame.hooks.by_name.resource_use._PROC", str(tmp_path / "none"))
    use = resource_use()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    assert use == ResourceUse(None, peak, None, threading.active_count())


def test_it_logs_and_writes_at_its_steps(tmp_path, build, train, proc, logged):
    graph = build()
    with graph.graph.as_default():
        writer = tf.summary.FileWriterCache.get(str(tmp_path))
    proc(100)
    train(graph, [ResourceUseHook(every_steps=3, writer=writer)], to=5)
    assert [line for line in logged.messages if "threads" in line] == [
        f"step {step}: memory 100 MiB, peak 500 MiB, 7 threads, 3 open files" for step in (1, 4)
    ]
    figures = {"memory_bytes": 100 * MIB, "peak_memory_bytes": 500 * MIB}
    figures |= {"open_files": 3, "threads": 7}
    assert read_scalars(tmp_path) == [
        (step, f"resources/{name}", value) for step in (1, 4) for name, value in figures.items()
    ]


def test_what_is_not_known_is_left_out(tmp_path, build, train, logged, monkeypatch):
    monkeypatch.setattr("tf_frame.hooks.by_name.resource_use._PROC", str(tmp_path / "none"))
    graph = build()
    with graph.graph.as_default():
        writer = tf.summary.FileWriterCache.get(str(tmp_path))
    hook = ResourceUseHook(every_steps=3, writer=writer)
    train(graph, [hook], to=2)
    assert [tag for _, tag, _ in read_scalars(tmp_path)] == [
        "resources/peak_memory_bytes",
        "resources/threads",
    ]
    (line,) = (line for line in logged.messages if "threads" in line)
    assert line.startswith("step 1: peak ") and "open files" not in line


def test_steps_and_seconds_count_both(clock):
    hook = ResourceUseHook(every_steps=10, every_secs=5)
    hook.start(None, 20)
    wanted = []
    for step in range(21, 36):
        if hook.cadence.wants(step):
            wanted.append(step)
            hook.cadence.mark(step)
        clock.now += 5 if step == 22 else 0
    assert wanted == [21, 23, 33]


def log_warnings(hook, proc, logged, sizes):
    """The warnings at steps 1, 2 ... at which the memory has these MiB, by step."""
    found = {}
    for step, size in enumerate(sizes, 1):
        logged.clear()
        proc(size)
        hook.after_step(None, None, step)
        messages = [r.getMessage() for r in logged.records if r.levelname == "WARNING"]
        found.update((step, message) for message in messages)
    return found


@pytest.mark.parametrize(
    ("options", "sizes", "steps"),
    [
        # 151 is more than half more than 100; and from 151 on, 227 is the first.
        ({"growth": 0.5}, [10] * 9 + [100, 149, 150, 151, 200, 226, 227], [13, 16]),
        ({}, [*range(10, 100, 10), 100, 119], []),  # Growth at the start does not count.
        ({}, [100] * 10 + [120, 121], [12]),
    ],
)
def test_it_warns_where_memory_has_grown_since_the_tenth_time(proc, logged, options, sizes, steps):
    warnings = log_warnings(ResourceUseHook(every_steps=1, **options), proc, logged, sizes)
    assert list(warnings) == steps
    if 13 in steps:
        assert warnings[13].startswith(
            "memory has grown by 51 %, from 100 MiB at step 10 to 151 MiB at step 13; look for"
        )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"growth": 0}, "growth is 0; it must be positive"),
        ({"every_steps": 0}, "every_steps is 0; it must be positive"),
        ({"every_secs": -1}, "every_secs is -1; it must be positive"),
    ],
)
def test_numbers_that_cannot_be_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        ResourceUseHook(**wrong)
