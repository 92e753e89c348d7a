"""Errors of a step, and their meaning for a worker of a job."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cluster import Cluster
from tf_frame.cluster.status import ENDED, TRAINING, own_status, write_status
from tf_frame.errors import PeerLostError
from tf_frame.session.job_member import JobMember

WITH_PS = Cluster(task_id=1, num_workers=2, num_ps_tasks=1, target="grpc://w:1")
ALL_REDUCE = Cluster(task_id=1, num_workers=2, target="grpc://w:1", job="worker/task:0")
CANCELLED = tf.errors.CancelledError(None, None, "ABORTED: Session handle is not found")
UNAVAILABLE = tf.errors.UnavailableError(None, None, "the peer is gone")


def test_a_cancelled_step_of_a_job_with_servers_is_a_lost_session():
    with pytest.raises(tf.errors.AbortedError, match="Session handle is not found"):
        JobMember(cluster=WITH_PS).check_error(CANCELLED)


@pytest.mark.parametrize(
    ("cluster", "error"),
    [(Cluster(), CANCELLED), (WITH_PS, UNAVAILABLE), (ALL_REDUCE, ValueError("a defect"))],
)
def test_other_errors_are_what_they_are(cluster, error):
    JobMember(cluster=cluster).check_error(error)


def test_a_lost_peer_ends_the_process_to_be_started_again(tmp_path):
    write_status(str(tmp_path), own_status("chief-0", TRAINING))
    with pytest.raises(PeerLostError, match="another worker was lost") as caught:
        JobMember(cluster=ALL_REDUCE, model_dir=str(tmp_path)).check_error(UNAVAILABLE)
    assert caught.value.exit_code == 138


def test_a_peer_that_has_ended_ends_the_training(tmp_path):
    member = JobMember(cluster=ALL_REDUCE, model_dir=str(tmp_path))
    write_status(str(tmp_path), own_status("chief-0", ENDED, step=7))
    with pytest.raises(tf.errors.OutOfRangeError):
        member.check_error(UNAVAILABLE)
