from tf_frame.runs.training import phase_times
from tf_frame.runs.training.phase_times import GRAPH, SESSION, START, PhaseTimes


def test_phases_follow_one_another(monkeypatch):
    now = iter([10.0, 12.5, 13.0])
    monkeypatch.setattr(phase_times, "process_secs", lambda: 4.0)
    monkeypatch.setattr(phase_times.time, "monotonic", lambda: next(now))
    phases = PhaseTimes()
    phases.end(GRAPH)
    phases.end(SESSION)
    assert phases.secs == {START: 4.0, GRAPH: 2.5, SESSION: 0.5}
