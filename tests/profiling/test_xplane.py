import pytest
from tensorflow.tsl.profiler.protobuf import xplane_pb2

from tf_frame.errors import DataError
from tf_frame.profiling.xplane import Event, read_lines

START = 1_790_000_000_000_000_000


@pytest.fixture
def path(tmp_path):
    """A capture, written with TensorFlow's own class."""
    space = xplane_pb2.XSpace()
    host = space.planes.add(name="/host:CPU")
    for number, name in ((1, "MatMul"), (7, "ThreadpoolListener::StartRegion")):
        host.event_metadata[number].name = name
    line = host.lines.add(name="tf_Compute/5", timestamp_ns=1000)
    line.events.add(metadata_id=1, offset_ps=2_000_500, duration_ps=300_000)
    line.events.add(metadata_id=1, offset_ps=0, duration_ps=100_000)
    line.events.add(metadata_id=1, offset_ps=0, duration_ps=400_000)
    line.events.add(metadata_id=7, offset_ps=5_000_000, duration_ps=1000)
    noisy = host.lines.add(display_name="eigen", timestamp_ns=2000)
    noisy.events.add(metadata_id=7, offset_ps=0, duration_ps=1000)
    environment = space.planes.add(name="Task Environment")
    environment.stat_metadata[3].name = "profile_start_time"
    environment.stats.add(metadata_id=3, uint64_value=START)
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(space.SerializeToString())
    return str(path)


def test_events_are_read_and_other_files_are_errors(path, tmp_path):
    (line,) = read_lines(path)
    assert (line.plane, line.name) == ("/host:CPU", "tf_Compute/5")
    assert line.events == [
        Event("MatMul", START + 1000, START + 1400),
        Event("MatMul", START + 1000, START + 1100),
        Event("MatMul", START + 3000, START + 3300),
    ]
    lines = read_lines(path, keep_threadpool=True)
    assert [(line.name, len(line.events)) for line in lines] == [("tf_Compute/5", 4), ("eigen", 1)]
    assert lines[1].events[0].name == "ThreadpoolListener::StartRegion"
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(b"\xff" * 40)
    with pytest.raises(DataError, match="is no XPlane capture, or damaged"):
        read_lines(str(path))
    with pytest.raises(DataError, match="No such file"):
        read_lines(str(tmp_path / "b.xplane.pb"))
