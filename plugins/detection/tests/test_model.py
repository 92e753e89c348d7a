"""The model: options, clones, lists of inputs, exports, warm start."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from slow_cases import slow_but
from tf_frame import ClassMetric, Input, InputInfo, Mode, Network
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import ConfigError
from tf_frame.testing.toy import make_setup, run_setup
from tf_frame_detection import batches, outputs
from tf_frame_detection.augmentation.by_name import parse
from tf_frame_detection.model import Detection, Params
from tf_frame_detection.networks.detector import Raw
from tf_frame_detection.option_checks import check_image_size

INFO = InputInfo(num_classes=2, class_names=("a", "b"), class_ids=(7, 20))
TINY = {
    "depth_multiplier": 0.1,
    "pyramid_channels": 8,
    "predictor_layers": 0,
    "strides": (8,),
    "kernel_size": 1,
}
SIDE = 32


def make_labels(counts, *, rotated=False):
    """Boxes of as many objects in each image, padded to the largest count."""
    random, most = np.random.RandomState(0), max(counts)
    real = np.arange(most) < np.array(counts)[:, np.newaxis]
    corner = random.uniform(0, 10, [len(counts), most, 2]) * real[..., None]
    size = random.uniform(10, 20, corner.shape) * real[..., None]
    labels = {
        "boxes": np.concatenate([corner, corner + size], -1).astype(np.float32),
        "classes": np.where(real, random.randint(2, size=real.shape), -1).astype(np.int32),
        "ignored": np.zeros(real.shape, bool),
        "crowd": np.zeros(real.shape, bool),
    }
    if rotated:
        boxes = [corner + size / 2, -np.sort(-size, axis=-1), np.full((*real.shape, 1), 0.3)]
        labels["rotated_boxes"] = np.concatenate(boxes, -1).astype(np.float32)
    return labels


def make_images(count):
    return np.random.RandomState(1).uniform(0, 255, [count, SIDE, SIDE, 3]).astype(np.float32)


class FourImages(Input):
    """The same four images in every batch; the first two have few boxes, the others many."""

    @property
    def info(self):
        return InputInfo(num_classes=2)

    def dataset(self, mode, context):
        batch = {"image": make_images(4)}, make_labels((0, 1, 6, 9))
        data = tf.data.Dataset.from_tensor_slices(batch)
        data = data.repeat() if mode == Mode.TRAIN else data
        return data.batch(context.batch_size, drop_remainder=True)


@pytest.mark.slow
def test_two_clones_equal_one(tmp_path):
    """Losses and variables after two steps of SGD."""
    losses, values = {}, {}
    for clones in (1, 2):
        folder = str(tmp_path / f"{clones}")
        Path(folder).mkdir()
        setup = make_setup(
            Detection,
            FourImages,
            folder,
            optimizer="sgd",
            values={f"model.{k}": v for k, v in {**TINY, "train_batch_norm": False}.items()},
            learning_rate=0.1,
            max_steps=2,
            train_batch_size=4,
            num_clones=clones,
            log_every_n_steps=1,
            save_summaries_steps=0,
            evaluate=False,
        )
        run_setup(setup, report=lambda line: None)
        reader = tf.train.load_checkpoint(folder)
        names = [n for n in reader.get_variable_to_shape_map() if n.endswith(("weights", "biases"))]
        values[clones] = {name: reader.get_tensor(name) for name in names}
        rows = (Path(folder) / "metrics.csv").read_text().splitlines()
        losses[clones] = [float(row.split(",")[3]) for row in rows[1:]]
    assert values[1].keys() == values[2].keys() and len(values[1]) > 10
    for name, value in values[1].items():
        np.testing.assert_allclose(values[2][name], value, rtol=1e-5, atol=1e-6, err_msg=name)
    assert losses[1] == pytest.approx(losses[2], rel=1e-5)


def build_outputs(mode, features, labels, **options):
    """Output of `build` in the default graph."""
    params = dataclasses.replace(Params(), **{**TINY, **options})
    return Detection(params=params, info=INFO).build(features, labels, mode)


def constants(values):
    return {name: tf.constant(value) for name, value in values.items()}


@pytest.mark.parametrize("name", slow_but(0, ["ssd", "rotated_retinanet", "retinanet"]))
def test_detections_are_predicted_exported_and_measured(name):
    rotated = name == "rotated_retinanet"
    features = {
        "image": make_images(2),
        "image_size": np.array([[SIDE, SIDE], [20, 24]], np.int32),
        "original_size": np.array([[64, 64], [40, 48]], np.int32),
    }
    options = {"name": name, "max_total": 6, "num_maps": 2, "classification_loss": "softmax"}
    with tf.Graph().as_default(), tf.Session() as session:
        labels = constants(make_labels((2, 0), rotated=rotated))
        evaluated = build_outputs(Mode.EVAL, constants(features), labels, **options)
        exported = outputs.exported(evaluated.predictions, INFO.class_ids)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        updates = {name: update for name, (_, update) in evaluated.metrics.items()}
        found, exported, loss, _ = session.run(
            [evaluated.predictions, exported, evaluated.loss, updates]
        )
        metrics = session.run({name: value for name, (value, _) in evaluated.metrics.items()})
    assert np.isfinite(loss) and 0 <= metrics["ap50"] <= 1
    assert found["detection_boxes"].shape == (2, 6, 4)
    assert (np.diff(found["detection_scores"]) <= 0).all()
    assert found["detection_classes"].dtype == found["num_detections"].dtype == np.int32
    assert set(found["detection_classes"].ravel()) <= {0, 1}
    assert ("detection_corners" in found) == rotated
    if not rotated:
        assert found["detection_boxes"].min() >= 0 and found["detection_boxes"].max() <= 1
    assert exported["detection_classes"].dtype == exported["num_detections"].dtype == np.float32
    assert set(exported["detection_classes"].ravel()) <= {7, 20}


@pytest.mark.slow
def test_an_image_alone_is_served_as_a_whole():
    with tf.Graph().as_default():
        served = build_outputs(Mode.PREDICT, {"image": tf.constant(make_images(2))}, None)
    signature = served.exports["serving_default"]
    assert {tensor.dtype for tensor in signature.values()} == {tf.float32}


def test_several_inputs_are_one_batch_of_one_size():
    features = [{"image": make_images(1), "name": np.array(["a"])}, {"image": make_images(2)}]
    labels = [make_labels((3,)), make_labels((0, 1))]
    with tf.Graph().as_default(), tf.Session() as session:
        joined, merged = session.run(
            [
                batches.merge_batches([constants(part) for part in parts])
                for parts in (features, labels)
            ]
        )
    assert list(joined) == ["image"] and joined["image"].shape == (3, SIDE, SIDE, 3)
    assert merged["boxes"].shape == (3, 3, 4)
    assert (merged["classes"][1:, 1:] == -1).all() and (merged["classes"][0] >= 0).all()
    with tf.Graph().as_default(), pytest.raises(ConfigError, match="20 x 20, 20 x 30 pixels"):
        batches.merge_batches([{"image": tf.zeros([1, 20, width, 3])} for width in (20, 30)])


@pytest.mark.parametrize("style", ["plain", "grouped"])
def test_summaries_have_the_apis_tags(style):
    with tf.Graph().as_default():
        variable = tf.get_variable("FeatureExtractor/weights", [2])
        tf.add_to_collection(tf.GraphKeys.MODEL_VARIABLES, variable)
        tf.losses.add_loss(tf.constant(0.5), tf.GraphKeys.REGULARIZATION_LOSSES)
        outputs.add_api_summaries({"localization_loss": tf.constant(2.0)}, style)
        summary = tf.Summary.FromString(run_initialized(tf.summary.merge_all()))
    losses, variables = ("Losses/", "ModelVars/") if style == "grouped" else ("", "")
    values = {value.tag: value for value in summary.value}
    assert values[f"{losses}localization_loss"].simple_value == 2.0
    assert values[f"{losses}TotalLoss"].simple_value == 2.5
    assert values[f"{variables}FeatureExtractor/weights"].histo.num == 2


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"strides": (8, 32)}, "each twice the one before"),
        ({"strides": ()}, "give one or more"),
        ({"strides": (2, 4)}, "begin with 4, 8, 16 or 32"),
        ({"strides": (16, 32), "top_stride": 8}, "top_stride 8 is less than the first"),
        ({"box_scale_factors": (10.0, 5.0)}, "box_scale_factors has 2 numbers; give 4"),
        ({"name": "ssd", "anchor_scales": (0.2, 0.5), "num_maps": 3}, "2 numbers.* are 3 maps"),
        ({"name": "ssd", "min_scale": 0.9, "max_scale": 0.5}, "min_scale 0.9 is above"),
        (
            {"unmatched_threshold": 0.6, "matched_threshold": 0.4},
            "unmatched_threshold 0.6 is above --model.matched_threshold 0.4",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, error):
    with pytest.raises(ConfigError, match=error):
        Detection(params=dataclasses.replace(Params(), **options), info=INFO)


@pytest.mark.parametrize(
    ("options", "side", "remedy"),
    [
        ({"name": "ssd", "num_maps": 6}, 256, "num_maps"),
        ({"name": "retinanet", "strides": (8, 16, 32)}, 16, "strides"),
    ],
)
def test_images_too_small_for_the_maps_are_refused(options, side, remedy):
    model = Detection(params=dataclasses.replace(Params(), **options), info=INFO)
    with (
        tf.Graph().as_default(),
        pytest.raises(ConfigError, match=f"{side} x {side} pixels are too small.*--model.{remedy}"),
    ):
        model.build({"image": tf.zeros([1, side, side, 3])}, None, Mode.PREDICT)
    check_image_size(model.params, (side + 1, 16))
    check_image_size(model.params, (None, None))


def test_inputs_that_do_not_fit_are_refused():
    model = Detection(params=dataclasses.replace(Params(), name="rotated_retinanet"), info=INFO)
    with pytest.raises(ConfigError, match="rotated boxes.*does not yield; take --input nuclei"):
        model._loss(Raw(None, None, None), {"boxes": None}, Mode.TRAIN)
    model = Detection(params=Params(), info=INFO)
    with pytest.raises(ConfigError, match=r"yields no labels\['boxes'\]; take one for detection"):
        model._loss(Raw(None, None, None), {"label": None}, Mode.TRAIN)
    with pytest.raises(ConfigError, match="number of classes"):
        Detection(params=Params(), info=InputInfo())


@pytest.mark.parametrize(
    ("name", "strides", "missing"), [("ssd", (8, 16), 32), ("retinanet", (4, 8, 16), 4)]
)
def test_a_backbone_without_a_map_is_refused(name, strides, missing):
    class Shallow(Network):
        preprocessing = "inception"

        def pyramid_features(self, images, context, *, top_stride=32, min_depth=8):
            return {8: None, 16: None}

    options = {"name": name, "strides": strides}
    model = Detection(params=dataclasses.replace(Params(), **options), info=INFO)
    model.backbone = Shallow(params=None)
    with (
        tf.Graph().as_default(),
        pytest.raises(ConfigError, match=f"no feature map of stride {missing}, only of 8, 16"),
    ):
        model._raw(tf.zeros([1, 64, 64, 3]), Mode.TRAIN)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({}, None),
        ({"fine_tune_checkpoint_type": "detection"}, "all"),
        ({"from_detection_checkpoint": True}, "all"),
        ({"from_detection_checkpoint": False}, "features"),
        ({"fine_tune_checkpoint_type": "classification"}, "features"),
        (
            {"from_detection_checkpoint": True, "load_all_detection_checkpoint_vars": False},
            "features",
        ),
    ],
)
def test_the_type_of_a_checkpoint_decides_what_is_restored(given, kind):
    model = Detection(params=dataclasses.replace(Params(), **given), info=INFO)
    with tf.Graph().as_default():
        found = model.warm_start_options({"a": [1]})
    included = {None: None, "all": (), "features": ("FeatureExtractor/",)}[kind]
    assert found.get("warm_start_include", None if not found else ()) == included
    assert bool(found) == bool(found.get("warm_start_ignore_missing"))


@pytest.mark.parametrize(
    ("name", "source", "backbone"),
    [
        (None, "trees", "resnet_v1_18"),
        ("retinanet", "trees", "resnet_v1_18"),
        ("ssd", "trees", "mobilenet_v2"),
        ("rotated_retinanet", "nuclei_boxes", "resnet_v1_18"),
    ],
)
def test_the_name_decides_about_input_and_defaults(name, source, backbone):
    words = ["--plugin", "detection"] + (["--model.name", name] if name else [])
    setup = parse_command_line(words).setup()
    assert (setup.input.name, setup.model.params.backbone) == (source, backbone)
    assert setup.config.learning_rate == 2e-3
    if source == "nuclei_boxes":
        assert setup.input.params.rotated


@pytest.mark.parametrize("preset", Detection.presets)
def test_presets_are_valid(preset):
    setup = parse_command_line(["--plugin", "detection", "--preset", preset]).setup()
    assert setup.input.name == "detection_tfrecord"
    assert len(parse(setup.input.params.data_augmentation, "--input.data_augmentation")) == 2
    params = setup.model.params
    assert params.depth_multiplier == 1.0
    assert (params.matched_threshold, params.iou_threshold) == (0.5, 0.6)
    assert params.box_voting_iou is None and params.suppress_uncut
    assert setup.input.params.resizing == "legacy"
    # Moving averages are those of the API's configurations.
    if preset == "ssd_mobilenet_v1_coco":
        assert setup.config.moving_average_decay == 0.9999
        assert not setup.config.eval_moving_averages
    if preset == "ssd_resnet50_v1_fpn_coco":
        assert setup.config.moving_average_decay is None


def test_published_detectors_keep_their_resizing_on_another_input():
    words = ["--plugin", "detection", "--preset", "ssdlite_mobilenet_v2_coco", "--input", "trees"]
    assert parse_command_line(words).setup().input.params.resizing == "legacy"
    words = [*words[:2], "--input", "trees"]
    assert parse_command_line(words).setup().input.params.resizing == "half_pixel"


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize(("suppress_uncut", "count"), [(False, 1), (True, 2)])
def test_boxes_are_cut_at_the_image_before_or_after_the_suppression(suppress_uncut, count):
    """Two boxes overlap by a third, and within the image they are the same."""
    boxes = tf.constant([[[0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 10.0, 30.0]]])
    coder = SimpleNamespace(decode=lambda codes, anchors: codes)
    params = dataclasses.replace(Params(), suppress_uncut=suppress_uncut, box_voting_iou=None)
    raw = Raw(boxes, tf.constant([[[0.0, 3.0], [0.0, 2.0]]]), None)
    found = run_initialized(outputs.predictions(raw, tf.constant([[10, 10]]), params, coder=coder))
    assert found["num_detections"] == [count]
    np.testing.assert_array_equal(found["detection_boxes"][0, :count], [[0, 0, 1, 1]] * count)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("name", ["ssd", "retinanet", "rotated_retinanet"])
def test_runs_of_every_name(name, tmp_path):
    from tf_frame.cli.main import main

    run = str(tmp_path / "run")
    words = ["run", "--plugin", "detection", "--model.name", name, "--max_steps", "5"]
    assert main([*words, "--model_dir", run]) == 0
    assert main(["evaluate", run]) == 0
    assert (
        main(["export", run, "--format", "saved_model", "--output", str(tmp_path / "export")]) == 0
    )


def test_an_ap_of_0_is_chance_if_there_are_boxes():
    model = Detection(params=Params(**TINY), info=INFO)
    boxes = {ClassMetric("boxes", "a"): 0.0, ClassMetric("boxes", "b"): 3.0, "ap50": 0.0}
    assert model.chance_levels(boxes) == {"ap50": 0.0}
    of_class = {**boxes, ClassMetric("boxes", "a"): 5.0}
    assert model.chance_levels(of_class) == {"ap50": 0.0, "ap50_a": 0.0}
    nothing = {name: float("nan") for name in boxes}
    assert model.chance_levels(nothing) == {}
