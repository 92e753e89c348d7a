from pathlib import Path

import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame_legacy import estimator


class Listener(tf.train.CheckpointSaverListener):
    def __init__(self, stops_at=None):
        self.calls, self._stops_at = [], stops_at

    def begin(self):
        self.calls.append("begin")

    def before_save(self, session, global_step_value):
        self.calls.append(f"before {global_step_value}")

    def after_save(self, session, global_step_value):
        self.calls.append(f"after {global_step_value}")
        return global_step_value == self._stops_at

    def end(self, session, global_step_value):
        self.calls.append(f"end {global_step_value}")


def test_listeners_are_told_of_every_checkpoint(make, linear):
    listener = Listener()
    config = estimator.RunConfig(save_checkpoints_steps=2)
    make(config=config).train(linear.data(), saving_listeners=[listener])
    saves = [f"{when} {step}" for step in (0, 2, 3) for when in ("before", "after")]
    assert listener.calls == ["begin", *saves, "end 3"]


def test_a_listener_may_stop_training(make, linear):
    regressor = make(config=estimator.RunConfig(save_checkpoints_steps=1))
    regressor.train(linear.data(repeat=None), saving_listeners=[Listener(stops_at=2)])
    assert regressor.get_variable_value("global_step") == 2


def test_only_listeners_are_taken_as_listeners(make, linear):
    assert refusal(make().train, linear.data(), saving_listeners=["a"]) == (
        TypeError,
        "saving_listeners must be a list of CheckpointSaverListener, given: a",
    )


def test_listeners_need_checkpoints(make, linear):
    config = estimator.RunConfig(save_checkpoints_secs=None, save_checkpoints_steps=None)
    regressor = make(config=config)
    assert refusal(regressor.train, linear.data(), saving_listeners=[Listener()]) == (
        ValueError,
        "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
        "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs.",
    )
    regressor.train(linear.data())
    assert regressor.latest_checkpoint() is None


def test_a_saver_hook_of_ones_own_takes_the_place_of_the_configured_one(make, linear):
    regressor, listener = make(config=estimator.RunConfig(save_checkpoints_steps=1)), Listener()
    hook = estimator.CheckpointSaverHook(regressor.model_dir, save_steps=2, save_graph_def=False)
    regressor.train(linear.data(repeat=None), hooks=[hook], steps=5, saving_listeners=[listener])
    saved = [call for call in listener.calls if call.startswith("after")]
    assert saved == ["after 0", "after 2", "after 4", "after 5"]


def test_the_configuration_says_how_many_checkpoints_stay(make, linear):
    config = estimator.RunConfig(save_checkpoints_steps=1, keep_checkpoint_max=2)
    regressor = make(config=config)
    regressor.train(linear.data(repeat=None), steps=5)
    paths = tf.train.get_checkpoint_state(regressor.model_dir).all_model_checkpoint_paths
    assert [path.rpartition("-")[2] for path in paths] == ["4", "5"]


def test_graph_and_meta_graphs_are_written_beside_the_checkpoints(make, linear):
    config = estimator.RunConfig(save_checkpoints_steps=2, keep_checkpoint_max=2)
    regressor = make(config=config)
    regressor.train(linear.data(repeat=None), steps=6)
    folder = regressor.model_dir
    names = sorted(path.name for path in Path(folder).glob("*") if path.suffix != ".meta")
    assert "graph.pbtxt" in names
    metas = sorted(path.name for path in Path(folder).glob("*.meta"))
    assert metas == ["model.ckpt-4.meta", "model.ckpt-6.meta"]
    path = regressor.latest_checkpoint()
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{path}.meta")
        saver.restore(session, path)
        values = {variable.op.name: session.run(variable) for variable in tf.global_variables()}
    assert values == {name: regressor.get_variable_value(name) for name in values}
    assert values["global_step"] == 6
    regressor.train(linear.data(repeat=None), steps=2)
    assert Path(folder, "model.ckpt-8.meta").exists()


def test_the_configuration_may_leave_out_the_graphs(make, linear):
    regressor = make(config=estimator.RunConfig(checkpoint_save_graph_def=False))
    regressor.train(linear.data())
    assert not list(Path(regressor.model_dir).glob("*.meta"))
    assert not Path(regressor.model_dir, "graph.pbtxt").exists()


def test_a_graph_that_is_too_large_is_left_out(make, linear, monkeypatch, caplog):
    def refuse(**arguments):
        raise ValueError("larger than the limit")

    monkeypatch.setattr(tf.train, "export_meta_graph", refuse)
    regressor = make()
    regressor.train(linear.data())
    assert not list(Path(regressor.model_dir).glob("*.meta"))
    assert regressor.latest_checkpoint().endswith("model.ckpt-3")
    assert caplog.text.count("larger than the limit") == 1
