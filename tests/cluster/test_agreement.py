import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cluster import Cluster
from tf_frame.cluster.agreement import Agreement
from tf_frame.cluster.key_value_store import NO_NUMBER


@pytest.fixture
def chief_and_worker():
    server = tf.train.Server({"ps": ["localhost:0"]}, start=True)
    jobs = {"ps": {0: server.target.removeprefix("grpc://")}}
    tasks = [
        Agreement(
            Cluster(task_id=i, target=server.target, jobs=jobs, num_workers=2, num_ps_tasks=1)
        )
        for i in (0, 1)
    ]
    yield tasks
    for task in tasks:
        task.close()


def test_a_session_is_open_when_the_chief_says_so_and_until_it_ends(chief_and_worker):
    chief, worker = chief_and_worker
    steps = [lambda: None, lambda: chief.begin_session(None), chief.open_session]
    steps += [lambda: chief.begin_session(None), chief.open_session]
    steps += [lambda: chief.close_session(7)]
    found = []
    for step in steps:
        step()
        found.append(worker.is_open())
    assert found == [False, False, True, False, True, False]
    assert worker.closed_at() == 7
    chief.begin_session(None)
    assert worker.closed_at() == NO_NUMBER
