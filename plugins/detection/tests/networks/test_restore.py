"""Fine-tuning from a checkpoint with the variables of a published SSDLite."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import save_values
from tf_frame.checkpoint.warm_start.plan import candidate_variables, plan_warm_start
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame_detection.restore import restore_options

PREFIX = "FeatureExtractor/"
SOME = ("FeatureExtractor/MobilenetV2/Conv/weights", "BoxPredictor_5/ClassPredictor/biases")


@pytest.fixture(scope="module")
def save(tmp_path_factory):
    """Writes a checkpoint of random values for name -> shape, and returns its path."""

    def write(shapes):
        random = np.random.RandomState(0)
        values = {n: random.normal(size=shape).astype(np.float32) for n, shape in shapes.items()}
        return save_values(tmp_path_factory.mktemp("published") / "model.ckpt", values)

    return write


def restored(graph, path, kind, **arguments):
    """Name in the graph -> name in the checkpoint, of the variables that are restored."""
    with graph.as_default():
        names = set(tf.train.load_checkpoint(path).get_variable_to_shape_map())
        options = restore_options(kind, names, **arguments)
        config = WarmStartOptions(warm_start_from=path, **options)
        plan = plan_warm_start(config, candidate_variables())
    return {row.name: row.source for row in plan.rows if row.outcome == "restored"}, plan


@pytest.mark.slow
def test_a_checkpoint_is_restored_in_full_by_features_or_as_a_backbone(
    ssdlite, published_ssdlite, save
):
    detection_checkpoint = save({**published_ssdlite, "global_step": []})
    found, plan = restored(ssdlite[0], detection_checkpoint, "detection")
    assert found == {name: name for name in published_ssdlite}
    with ssdlite[0].as_default(), tf.Session() as session:
        plan.init_fn(None, session)
        reader = tf.train.load_checkpoint(detection_checkpoint)
        for name in SOME:
            value = session.run(next(v for v in tf.global_variables() if v.op.name == name))
            np.testing.assert_array_equal(value, reader.get_tensor(name))
    found, _ = restored(ssdlite[0], detection_checkpoint, "detection", load_all=False)
    assert set(found) == {name for name in published_ssdlite if name.startswith(PREFIX)}
    found, _ = restored(ssdlite[0], detection_checkpoint, "classification")
    assert found == {name: name for name in backbone_variables(published_ssdlite)}


def backbone_variables(names):
    return {n for n in names if n.startswith(PREFIX) and "layer_19" not in n}


@pytest.mark.slow
def test_names_without_the_scope_and_other_shapes(ssdlite, published_ssdlite, save):
    names = {name.removeprefix(PREFIX): name for name in backbone_variables(published_ssdlite)}
    path = save({short: published_ssdlite[name] for short, name in names.items()})
    found, _ = restored(ssdlite[0], path, "classification")
    assert found == {name: short for short, name in names.items()}
    # As a model of another number of classes.
    shapes = {n: s for n, s in published_ssdlite.items() if not n.startswith("BoxPredictor_5")}
    other = [name for name in shapes if "/ClassPredictor/" in name]
    path = save(shapes | {name: [*shapes[name][:-1], 7] for name in other})
    found, _ = restored(ssdlite[0], path, "detection")
    assert set(found) == shapes.keys() - set(other)
