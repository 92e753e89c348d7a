"""Who a worker is."""

import pytest

from tf_frame.cluster import Cluster, cluster_of
from tf_frame.config.run_options import RunOptions


@pytest.mark.parametrize(
    ("cluster", "job"),
    [
        (Cluster(), "worker"),
        (Cluster(job="chief/task:0"), "worker"),
        (Cluster(task_id=2, target="grpc://localhost:1"), "worker/task:2"),
        (Cluster(task_id=2, target="grpc://localhost:1", job="worker/task:1"), "worker/task:1"),
    ],
)
def test_the_job_of_a_worker_carries_its_task_where_it_has_a_server(cluster, job):
    assert cluster.worker_job == job


def test_the_first_worker_is_the_chief():
    options = {"master": "grpc://localhost:1", "worker_replicas": 2, "num_ps_tasks": 1}
    assert cluster_of(RunOptions(**options)).is_chief
    assert not cluster_of(RunOptions(task=1, **options)).is_chief
