"""Options of the heads, and networks that have some."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from tf_frame import InputContext, InputInfo, Mode
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import ConfigError
from tf_frame.plugin.needs import check_batch
from tf_frame_deeplab import heads
from tf_frame_deeplab.model import DeepLab, Params
from tf_frame_deeplab.nuclei import Nuclei, Params as NucleiParams

pytestmark = pytest.mark.usefixtures("graph", "short")

INFO = InputInfo(num_classes=2, ignore_label=255, class_names=("background", "nucleus"))
SMALL = {"depth_multiplier": 0.1, "aspp_channels": 8, "decoder_channels": 8}
INSTANCES = ("semantic", "instance_center", "instance_offset")
ALL = (*INSTANCES, "edge")


def built(mode, names, **params):
    """The output for a batch of nuclei, and the model's labels."""
    source = Nuclei(params=NucleiParams(instances=True, crop_size=32))
    dataset = source.dataset(mode, InputContext(batch_size=2))
    iterator = tf.data.make_initializable_iterator(dataset)
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    features, labels = iterator.get_next()
    model = DeepLab(params=Params(heads=names, **SMALL, **params), info=source.info)
    return model.build(features, labels, mode)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"heads": ("edge",)}, "name semantic"),
        ({"heads": ("semantic", "edge", "edge")}, "each other head once"),
        ({"heads": ("semantic", "instance_center")}, "only together"),
        ({"class_weights": (1.0,)}, "has 1 values, but the input has 2 classes"),
        ({"center_window": 4}, "is even"),
        ({"thing_classes": (1, 2)}, "names 2, but the classes of the input are 0 to 1"),
    ],
)
def test_options_that_do_not_fit_are_refused(params, message):
    with pytest.raises(ConfigError, match=message):
        DeepLab(params=Params(**params), info=INFO)


def test_an_edge_head_changes_the_weight_of_the_semantic_loss():
    assert Params().loss_weight("semantic") == 1
    params = Params(heads=("semantic", "edge"))
    assert [params.loss_weight(head) for head in params.heads] == [0.8, 0.2]
    assert Params(semantic_loss_weight=0.5).loss_weight("semantic") == 0.5


def test_the_labels_that_are_needed_follow_from_the_heads():
    def needed(names):
        return tuple(DeepLab(params=Params(heads=names), info=INFO).label_names)

    assert needed(("semantic",)) == ("semantic",)
    assert needed(("semantic", "edge")) == ("semantic", "edge")
    assert needed(INSTANCES) == (*INSTANCES, heads.INSTANCES)
    assert set(needed(ALL)) == set(Nuclei.label_names)


@pytest.mark.parametrize(
    ("words", "heads"),
    [
        ([], ("semantic",)),
        (["--model.heads", "semantic,edge"], ("semantic", "edge")),
        (["--preset", "panoptic"], INSTANCES),
        (["--preset", "edge"], ("semantic", "edge")),
    ],
)
def test_presets_choose_heads_which_ask_the_input_for_labels_of_instances(words, heads):
    setup = parse_command_line(["--plugin", "deeplab", *words]).setup()
    assert setup.model.params.heads == heads
    assert setup.input.params.instances == (len(heads) > 1)


@pytest.mark.slow
def test_each_head_is_a_convolution_and_all_of_them_learn():
    output = built(Mode.TRAIN, ALL, hard_pixels=0.5)
    weights = {
        v.op.name.split("/")[1]: v
        for v in tf.trainable_variables()
        if v.op.name.startswith("logits/") and v.op.name.endswith("weights")
    }
    channels = {name: v.shape[-1] for name, v in weights.items()}
    assert channels == dict(zip(ALL, (2, 1, 2, 2), strict=True))
    gradients = tf.gradients(output.loss, list(weights.values()))
    values, text = run_initialized([gradients, tf.summary.merge_all()])
    assert all(np.abs(gradient).sum() > 0 for gradient in values)
    tags = {value.tag for value in tf.Summary.FromString(text).value}
    assert {f"losses/{head}" for head in ALL} <= tags
    assert {f"{kind}{head}/image/0" for kind in ("", "label_") for head in ALL[1:]} <= tags


@pytest.mark.slow
def test_evaluation_has_the_weighted_sum_of_losses_and_the_metrics_of_each_head():
    output = built(Mode.EVAL, ALL)
    new = {"pq", "sq", "rq", "pq_background", "pq_nucleus", "pq_components"}
    assert new | {"parsing_covering", "edge_f_score", "mean_iou"} <= set(output.metrics)
    updates = [update for _, update in output.metrics.values()]
    values = {name: value for name, (value, _) in output.metrics.items()}
    with initialized_session() as session:
        loss, text, _ = session.run([output.loss, tf.summary.merge_all(), updates])
        results = session.run(values)
    losses = {value.tag: value.simple_value for value in tf.Summary.FromString(text).value}
    params = Params(heads=ALL)
    assert loss == pytest.approx(
        sum(params.loss_weight(head) * losses[f"losses/{head}"] for head in ALL), rel=1e-5
    )
    counted = {"confusion_matrix", "confusion_matrix_image", "pixels_background", "pixels_nucleus"}
    # No pixel was taken for the background.
    undefined = {"precision_background"}
    assert all(0 <= results[name] <= 1 for name in results.keys() - counted - undefined)
    classes = results["pq_background"], results["pq_nucleus"]
    assert results["pq"] == pytest.approx(np.mean(classes), 1e-5)


@pytest.mark.slow
def test_prediction_finds_instances_without_labels():
    images = tf.placeholder(tf.float32, [None, None, None, 3])
    model = DeepLab(params=Params(heads=ALL, **SMALL), info=INFO)
    output = model.build({"image": images}, None, Mode.PREDICT)
    with initialized_session() as session:
        values = session.run(output.predictions, {images: np.ones([2, 20, 33, 3])})
    for name in ("semantic", "instances", "panoptic_semantic", "edge"):
        assert values[name].shape == (2, 20, 33)
        assert values[name].dtype == np.int32


def test_an_input_without_labels_of_instances_is_refused():
    model = DeepLab(params=Params(heads=INSTANCES), info=INFO)
    source = Nuclei(params=NucleiParams())
    with pytest.raises(ConfigError, match=r"labels\['instance_center'\]"):
        check_batch(model, source, {"image": 0}, {"semantic": 0})
