import shutil

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Estimator, RunConfig

from .conftest import FEATURES, SGD, input_fn, model_fn, served, sgd, tags


@pytest.mark.slow
def test_before_training_a_warm_start_is_what_is_evaluated_predicted_and_exported(tmp_path):
    first = Estimator(model_fn, model_dir=tmp_path / "first", config=RunConfig(options=SGD))
    first.train(input_fn, steps=5)
    second = Estimator(
        model_fn, model_dir=tmp_path / "second", warm_start_from=str(tmp_path / "first")
    )
    expected = first.evaluate(input_fn)["loss"]
    found = second.evaluate(input_fn)
    assert (found["loss"], found["global_step"]) == (expected, 0)
    assert "loss" in tags(second.eval_dir())
    np.testing.assert_allclose(next(second.predict(input_fn))["y"], FEATURES[0] @ sgd(5, 0.05))
    np.testing.assert_allclose(served(second, tmp_path / "out"), FEATURES @ sgd(5, 0.05), rtol=1e-5)
    second.train(input_fn, steps=5)
    assert second.evaluate(input_fn)["loss"] < expected


@pytest.mark.slow
def test_with_a_checkpoint_of_its_own_it_needs_no_warm_start_any_more(tmp_path):
    Estimator(model_fn, model_dir=tmp_path / "first").train(input_fn, steps=1)
    second = Estimator(
        model_fn, model_dir=tmp_path / "second", warm_start_from=str(tmp_path / "first")
    )
    second.train(input_fn, steps=1)
    shutil.rmtree(tmp_path / "first")
    second.train(input_fn, steps=1)
    assert second.evaluate(input_fn)["global_step"] == 2
    assert next(second.predict(input_fn))["y"].shape == (1,)


@pytest.mark.slow
def test_a_warm_start_before_training_leaves_the_scaffold_of_the_model(tmp_path):
    def with_own(features, labels, mode):
        spec = model_fn(features, labels, mode)
        own = tf.get_variable("own", initializer=1.0, trainable=False)
        scaffold = tf.train.Scaffold(init_fn=lambda _, session: own.load(7.0, session))
        return spec._replace(eval_metric_ops={"own": tf.metrics.mean(own)}, scaffold=scaffold)

    first = Estimator(model_fn, model_dir=tmp_path / "first", config=RunConfig(options=SGD))
    first.train(input_fn, steps=3)
    second = Estimator(with_own, model_dir=tmp_path / "second", warm_start_from=first.model_dir)
    found = second.evaluate(input_fn)
    assert (found["own"], found["loss"]) == (7.0, first.evaluate(input_fn)["loss"])
