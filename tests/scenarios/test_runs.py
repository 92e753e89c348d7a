"""Complete runs in this process: options reach the graph, the session and the log."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cluster.find import find_cluster
from tf_frame.deploy.session_config import make_deployment
from tf_frame.errors import ConfigError
from tf_frame.graph.update.sync_replicas_hook import SyncReplicasHook
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM
from tf_frame.runs.training import training
from tf_frame.runs.training.build import build_graph
from tf_frame.testing.toy import ToyInput, ToyModel, installed_plugin, make_setup, run_setup


def go(folder, **options):
    folder.mkdir(exist_ok=True)
    setup = make_setup(ToyModel, ToyInput, str(folder), **options)
    return run_setup(setup, report=lambda line: None)


@pytest.fixture
def session_arguments(monkeypatch):
    """The keyword arguments of each monitored session that a run opens."""
    seen, real = [], training.monitored_session

    def watched(*args, **how):
        seen.append(how)
        return real(*args, **how)

    monkeypatch.setattr(training, "monitored_session", watched)
    return seen


def test_a_run_in_float16_on_a_cpu_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="float16 needs a GPU"):
        go(tmp_path, max_steps=1, clone_on_cpu=True, mixed_precision="float16")
    assert not list(tmp_path.glob("model.ckpt*"))


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["none", "bfloat16"])
def test_the_session_gets_the_rewrites(tmp_path, monkeypatch, session_arguments, precision):
    # Whether this machine has bfloat16 products is another matter.
    monkeypatch.setattr("tf_frame.deploy.mixed_precision.product_types", lambda proto: {"bfloat16"})
    result = go(tmp_path, max_steps=1, clone_on_cpu=True, mixed_precision=precision)
    assert result["global_step"] == 1
    (arguments,) = session_arguments
    rewrites = arguments["config"].graph_options.rewrite_options
    is_on = rewrites.auto_mixed_precision_onednn_bfloat16 == rewrites.ON
    assert is_on is (precision == "bfloat16")


# Synchronisation that lacks its hook waits for ever.
@pytest.mark.timeout(60)
def test_the_session_gets_the_hook_without_which_workers_wait_for_ever(tmp_path, session_arguments):
    assert go(tmp_path, max_steps=3, sync_replicas=True)["global_step"] >= 3
    (arguments,) = session_arguments
    assert [type(hook) for hook in arguments["hooks"]].count(SyncReplicasHook) == 1


@pytest.mark.parametrize(("micro_batches", "last_before_the_decay"), [(1, 7), (4, 1)])
def test_a_decay_over_an_epoch_counts_the_batches_that_make_a_step(
    micro_batches, last_before_the_decay
):
    part = installed_plugin(GRADIENT_TRANSFORM, "accumulate", {"t.steps": micro_batches}, "t")
    setup = make_setup(
        ToyModel,
        ToyInput,
        "",
        schedule="exponential",
        values={"schedule.decay_epochs": 1, "schedule.decay_factor": 0.5},
        transforms=[part],
        learning_rate=0.5,
        train_batch_size=8,
    )
    source = setup.make_input()
    deployment = make_deployment(setup.config, find_cluster(setup.config))
    model = setup.make_model(source.info)
    train_graph = build_graph(setup, model=model, source=source, deployment=deployment)
    with train_graph.graph.as_default(), tf.Session() as session:
        rates = []
        for step in (last_before_the_decay, last_before_the_decay + 1):
            session.run(tf.assign(train_graph.global_step, step))
            rates.append(session.run(train_graph.learning_rate))
    assert rates == pytest.approx([0.5, 0.25])
