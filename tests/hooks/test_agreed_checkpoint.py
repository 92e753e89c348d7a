import pytest

from recorded_steps import Steps
from tf_frame.checkpoint.find.newest import listed_checkpoints, read_step
from tf_frame.cluster import Cluster
from tf_frame.hooks.agreed_checkpoint import AgreedCheckpointHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.session.job_member import JobMember
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.monitored import monitored_session
from tf_frame.session.schedule import Schedule


class Agreement:
    """The agreement of a chief whose workers are all away; notes the requests."""

    def __init__(self):
        self.requests = []

    def request_save(self, step):
        self.requests.append(("save", step))

    def request_stop(self, step):
        self.requests.append(("stop", step))

    def close_session(self, step):
        self.requests.append(("closed", step))

    def present(self):
        return []

    def without_position(self, step, *, workers, timeout_secs):
        return list(workers)

    def unfinished(self, *, workers, timeout_secs):
        return list(workers)


@pytest.fixture
def requests_of(build, tmp_path):
    """Trains with a save every 4 steps, to a step or until a signal; returns the requests."""

    def requests_of(*, to, signal_after=None):
        graph, agreement, steps = build(), Agreement(), Steps()
        save = AgreedCheckpointHook(
            str(tmp_path),
            graph.scaffold,
            every_steps=4,
            agreement=agreement,
            last_step=to,
            interrupted=lambda: signal_after in steps.seen,
        )
        with graph.graph.as_default():
            loop = TrainingLoop(graph, Schedule([save, steps, StopAtStepHook(last_step=to)]))
            with monitored_session(
                graph,
                hooks=loop.hooks,
                member=JobMember(cluster=Cluster(), model_dir=str(tmp_path)),
                config=None,
                checkpoint=None,
            ) as session:
                loop.run(session)
        return agreement.requests

    return requests_of


def saved_steps(folder):
    return [read_step(path) for path in listed_checkpoints(str(folder))]


def test_each_save_is_requested_when_the_one_before_it_is_done(requests_of, tmp_path):
    requests = requests_of(to=9)
    assert requests == [("save", 4), ("save", 8), ("save", 12), ("stop", 9), ("closed", 9)]
    assert saved_steps(tmp_path) == [0, 4, 8, 9]


@pytest.mark.parametrize("signal_after", [5, 7])
def test_no_save_is_requested_after_the_last_step(requests_of, tmp_path, signal_after):
    """A worker that sees a later request does not give its position after the last step."""
    last = signal_after + 1
    requests = requests_of(to=100, signal_after=signal_after)
    assert requests[-3:] == [("stop", last), ("save", last), ("closed", last)]
    assert saved_steps(tmp_path) == [0, 4, last]
