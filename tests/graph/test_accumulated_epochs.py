"""An epoch has fewer steps where several batches are accumulated for one."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cluster import cluster_of
from tf_frame.deploy.session_config import make_deployment
from tf_frame.estimator.training.train import build_graph
from tf_frame.gradient_transforms.accumulate import Accumulate
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM
from tf_frame.testing.toy import ToyInput, ToyModel, make_job, make_part


@pytest.mark.parametrize(("micro_batches", "last_before_the_decay"), [(1, 7), (4, 1)])
def test_a_decay_over_an_epoch_counts_the_batches_that_make_a_step(
    micro_batches, last_before_the_decay
):
    values = {"transform.accumulate.steps": micro_batches}
    part = make_part(GRADIENT_TRANSFORM, "accumulate", Accumulate, values, "transform.accumulate")
    job = make_job(
        ToyModel,
        ToyInput,
        "",
        schedule="exponential",
        values={"schedule.decay_epochs": 1, "schedule.decay_factor": 0.5},
        transforms=[part],
        learning_rate=0.5,
        train_batch_size=8,
    )
    source = job.make_input()
    deployment = make_deployment(job.config, cluster_of(job.config))
    model = job.make_model(source.info)
    train_graph = build_graph(job, model=model, source=source, deployment=deployment)
    with train_graph.graph.as_default(), tf.Session() as session:
        rates = []
        for step in (last_before_the_decay, last_before_the_decay + 1):
            session.run(tf.assign(train_graph.global_step, step))
            rates.append(session.run(train_graph.learning_rate))
    assert rates == pytest.approx([0.5, 0.25])
