"""Weights in the web: facts, names of variables, and the way from a server to a run."""

import functools
import gzip
import hashlib
import importlib.metadata
import io
import json
import pathlib
import re
import tarfile

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import faulty_server
from tf_frame import WeightsFile
from tf_frame.checkpoint.rewrite.output import write_checkpoint
from tf_frame.cli.main import main
from tf_frame.testing.conformance import WeightsConformance
from tf_frame.weights import download, store
from tf_frame.weights.structure import network_variables
from tf_frame_weights import published
from tf_frame_weights.table import rows

ROWS = {row.name: row for row in rows()}
# Rows with other sizes of images have the same variables.
NETWORKS = {(row.network, row.kind, row.classes): row.name for row in reversed(rows())}
SLIM = pathlib.Path(__file__).parents[2] / "vision" / "tests" / "variables"
PARTS = re.compile(r"/(BatchNorm(/feature_\d)?/\w+|(depthwise_)?weights|biases)$")


def made(name):
    return getattr(published, name)(params=None)


@functools.cache
def cached_variables(name):
    return network_variables(made(name))


def test_every_row_is_installed_under_its_name():
    points = importlib.metadata.entry_points(group="tf_frame.weights")
    installed = {point.name for point in points if point.value.startswith("tf_frame_weights.publ")}
    assert installed == set(ROWS) and len(ROWS) == len(rows())
    assert len({row.url for row in rows()}) == len(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_it_conforms(name):
    suite = type("Suite", (WeightsConformance,), {"plugin": name})()
    suite.test_says_what_the_values_are()
    suite.test_the_file_can_be_checked()
    weights = made(name)
    assert bool(weights.figures) == bool(weights.figures_from) and not weights.verified
    assert weights.class_names() or not weights.num_classes


def test_names_of_classes_have_their_places():
    assert made("vgg_16_imagenet").class_names()[0] == "tench"
    assert made("inception_v1_imagenet").class_names()[:2] == ["background", "tench"]
    coco = made("ssd_mobilenet_v1_coco").class_names()
    # The ids of mscoco_label_map.pbtxt in the object detection API begin with 1.
    assert (coco[0], coco[11], coco[12], coco[89]) == (
        *("person", "unused 12", "stop sign", "toothbrush"),
    )
    assert made("deeplab_xception_65_ade20k").class_names()[1] == "wall"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mobilenet_v2_035_96_imagenet", ["mobilenet_v2_0.35_96.tgz", "45.5 %", "-1 to 1"]),
        ("vgg_16_imagenet", ["1000", "123.68", "71.5 %", "Caffe"]),
        ("deeplab_mobilenet_v2_voc", ["PASCAL VOC", "75.32 %", "22.8 MiB", "cd506941e4f8"]),
        ("deeplab_xception_65_voc_trainval", ["mean IoU (test, several scales, mirrored) 87.80 %"]),
        ("ssd_resnet50_v1_fpn_coco", ["640 x 640", "35 %", "detection"]),
    ],
)
def test_what_is_shown(name, said, capsys):
    assert main(["weights", "show", name]) == 0
    out = capsys.readouterr().out
    assert not [text for text in ["to download, unverified", *said] if text not in out]


def scopes(variables):
    """The layers of variables: their names without the last parts."""
    return {PARTS.sub("", name) for name in variables}


def mobilenet_v2(last=True):
    parts = {f"expanded_conv_{n}/{p}" for n in range(1, 17) for p in ("expand", *BLOCK)}
    return {"Conv", *({"Conv_1"} if last else ()), *parts, *(f"expanded_conv/{p}" for p in BLOCK)}


def xception(scope, entry, middle):
    """The layers, as programs that convert DeepLab's checkpoints name them."""
    units = [f"entry_flow/block{n}/unit_1" for n in range(1, entry + 1)]
    shortcuts = [*units, "exit_flow/block1/unit_1"]
    units += [f"middle_flow/block1/unit_{n}" for n in range(1, middle + 1)]
    units += [f"exit_flow/block{n}/unit_1" for n in (1, 2)]
    separable = {
        f"{unit}/xception_module/separable_conv{n}_{part}"
        for unit in units
        for n in (1, 2, 3)
        for part in ("depthwise", "pointwise")
    }
    first = {"entry_flow/conv1_1", "entry_flow/conv1_2"}
    found = first | separable | {f"{unit}/xception_module/shortcut" for unit in shortcuts}
    return {f"{scope}/{name}" for name in found}


def separable(*names):
    return {f"{name}_{part}" for name in names for part in ("depthwise", "pointwise")}


BLOCK = ("depthwise", "project")
PYRAMID = {"aspp0", "image_pooling", "concat_projection", "logits/semantic"}
DECODER = {
    "decoder/feature_projection0",
    *separable("decoder/decoder_conv0", "decoder/decoder_conv1"),
}
DEEPLAB_V2 = {f"MobilenetV2/{name}" for name in mobilenet_v2(last=False)}
MOBILENET_V1 = {
    "Conv2d_0",
    *(f"Conv2d_{n}_{kind}" for n in range(1, 14) for kind in ("depthwise", "pointwise")),
}


def ssd(scope, layers, last, depths, further="", predictor=""):
    """The layers of feature_map_generators.py and box_predictor.py of the detection API."""
    found = {f"FeatureExtractor/{scope}/{name}" for name in layers}
    for number, depth in enumerate(depths, 2):
        found.add(f"FeatureExtractor/{scope}/{last}_1_Conv2d_{number}_1x1_{depth // 2}")
        name = f"FeatureExtractor/{scope}/{last}_2_Conv2d_{number}_3x3_s2_{depth}"
        found |= {name, f"{name}{further}"}
    for number in range(6):
        for kind in ("BoxEncodingPredictor", "ClassPredictor"):
            found |= {f"BoxPredictor_{number}/{kind}", f"BoxPredictor_{number}/{kind}{predictor}"}
    return found


def fpn(scope, layers, bottom_up):
    head = "WeightSharedConvolutionalBoxPredictor"
    towers = {
        f"{t}Tower/conv2d_{n}" for t in ("BoxPrediction", "ClassPrediction") for n in range(4)
    }
    maps = {f"fpn/projection_{n}" for n in (1, 2, 3)} | {f"fpn/smoothing_{n}" for n in (1, 2)}
    return {
        *(f"FeatureExtractor/{scope}/{name}" for name in {*layers, *maps, *bottom_up}),
        *(f"{head}/{name}" for name in {*towers, "BoxPredictor", "ClassPredictor"}),
    }


def resnet_v1(blocks, first=("conv1",)):
    found = set(first)
    for block, units in enumerate(blocks, 1):
        for unit in range(1, units + 1):
            parts = ("conv1", "conv2", "conv3", *(("shortcut",) if unit == 1 else ()))
            found |= {f"block{block}/unit_{unit}/bottleneck_v1/{part}" for part in parts}
    return found


BETA = ("conv1_1", "conv1_2", "conv1_3")
DEPTHS = (512, 256, 256, 128)
V1, V2 = "Conv2d_13_pointwise", "layer_19"
# Layers with the names that public programs give them when they read the checkpoints.
PUBLISHED = {
    "deeplab_xception": {
        *xception("xception_65", 3, 16),
        *PYRAMID,
        *DECODER,
        *separable("aspp1", "aspp2", "aspp3"),
    },
    "deeplab_mobilenet": DEEPLAB_V2 | PYRAMID,
    "deeplab_decoder": DEEPLAB_V2 | PYRAMID | DECODER,
    "ssd_mobilenet_v1_coco": ssd("MobilenetV1", MOBILENET_V1, V1, DEPTHS),
    "ssd_mobilenet_v1_075_coco": ssd(
        "MobilenetV1", MOBILENET_V1, V1, [round(depth * 0.75) for depth in DEPTHS]
    ),
    "ssd_mobilenet_v2_coco": ssd("MobilenetV2", mobilenet_v2(), V2, DEPTHS, "_depthwise"),
    "ssdlite_mobilenet_v2_coco": ssd(
        "MobilenetV2", mobilenet_v2(), V2, DEPTHS, "_depthwise", "_depthwise"
    ),
    "ssd_mobilenet_v1_fpn_coco": fpn(
        "MobilenetV1", MOBILENET_V1, {"fpn/bottom_up_Conv2d_14", "fpn/bottom_up_Conv2d_15"}
    ),
    "ssd_resnet50_v1_fpn_coco": fpn(
        "resnet_v1_50",
        resnet_v1((3, 4, 6, 3)),
        {"fpn/bottom_up_block5", "fpn/bottom_up_block6"},
    ),
    "xception_41": xception("xception_41", 3, 8),
    "xception_65": xception("xception_65", 3, 16),
    "xception_71": xception("xception_71", 5, 16),
    "resnet_v1_50_beta": {f"resnet_v1_50/{n}" for n in resnet_v1((3, 4, 6, 3), BETA)},
    "resnet_v1_101_beta": {f"resnet_v1_101/{n}" for n in resnet_v1((3, 4, 23, 3), BETA)},
}


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("name", NETWORKS.values())
def test_the_network_has_the_names_of_the_published_variables(name):
    row, variables = ROWS[name], network_variables(made(name))
    table = SLIM / f"{row.network}.txt.gz"
    if row.kind in ("slim", "caffe") and table.exists():
        lines = [line.split() for line in gzip.decompress(table.read_bytes()).decode().splitlines()]
        assert variables == {key: [*map(int, shape.split(","))] for key, shape in lines}
    elif (layers := PUBLISHED.get(row.kind) or PUBLISHED.get(row.network)) is not None:
        assert scopes(variables) == layers
    else:
        # Held against Keras's networks, which came from the checkpoints, by tf-frame-vision.
        assert row.network.startswith("mobilenet_v3")
        assert all(name.startswith(("MobilenetV3/", *PYRAMID, "decoder/")) for name in variables)


def archive(folder, path, variables):
    """An archive like a published one, with random values under these names."""
    random = np.random.RandomState(0)
    values = {
        name: random.uniform(0.1, 0.3, shape).astype(np.float32)
        for name, shape in {**variables, "global_step": []}.items()
    }
    (folder / path).parent.mkdir(parents=True)
    if path.endswith(".pb"):
        with tf.Graph().as_default() as graph:
            for name, value in values.items():
                tf.identity(tf.constant(value, name=name), f"{name}/read")
        (folder / path).write_bytes(graph.as_graph_def().SerializeToString())
    else:
        write_checkpoint(str(folder / path), ((n, tf.float32, v) for n, v in values.items()))
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as packed:
        for member in sorted(folder.rglob("*")):
            if member.is_file():
                packed.add(member, f"./{member.relative_to(folder)}")
    return file.getvalue()


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Gives the class of a row the address of a server on loopback with a made-up archive."""
    monkeypatch.setenv(store.CACHE, str(tmp_path / "cache"))
    monkeypatch.setattr(download, "_PAUSE_SECS", 0.0)
    for name in ("http_proxy", "HTTP_PROXY", download.OFFLINE):
        monkeypatch.delenv(name, raising=False)
    with faulty_server.serving() as server:

        def serve(name, without=(), answer=None):
            row = ROWS[name]
            variables = cached_variables(name)
            kept = {key: shape for key, shape in variables.items() if key not in without}
            path = row.path or "a_folder/model.ckpt"
            content = archive(tmp_path / "published", path, kept)
            server.behaviours[:] = [answer or (lambda to: faulty_server.whole(to, content))]
            file = WeightsFile(url=f"{server.url}.tgz", path=row.path)
            monkeypatch.setattr(getattr(published, name), "file", lambda self: file)
            return hashlib.sha256(content).hexdigest()

        yield serve


def test_from_a_server_to_a_prediction(serve, tmp_path, capsys):
    name = "mobilenet_v1_025_128_imagenet"
    sha256 = serve(name)
    assert main(["weights", "fetch", name]) == 0
    prefix = pathlib.Path(capsys.readouterr().out.split()[-1])
    note = json.loads((prefix.parent / store.SOURCE).read_text())
    assert note["sha256"] == sha256 and note["from"].startswith("http://127.0.0.1")
    assert main(["weights", "list", "--json"]) == 0
    listed = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert listed[name]["state"] == "ready"
    photo = tmp_path / "photo.png"
    photo.write_bytes(tf.io.encode_png(np.zeros([150, 140, 3], np.uint8)).numpy())
    words = ["predict", "--weights", name, "--input", photo, "--output", tmp_path / "out"]
    assert main([*map(str, words), "--model_dir", str(tmp_path / "run")]) == 0
    assert "137 of 137 variables restored" in capsys.readouterr().out
    (row,) = map(json.loads, (tmp_path / "out" / "predictions.jsonl").read_text().splitlines())
    assert len(row["probabilities"]) == 1001


def test_an_address_without_the_file(serve, tmp_path, capsys):
    name = "mobilenet_v1_025_128_imagenet"
    serve(name, answer=faulty_server.status(404))
    assert main(["weights", "fetch", name]) == 1
    said = capsys.readouterr().err
    assert "cannot be downloaded: the server answers 404" in said and said.count("\n") == 1


def test_a_file_without_a_variable_is_not_kept(serve, tmp_path, capsys):
    name, missing = "mobilenet_v1_025_128_imagenet", "MobilenetV1/Conv2d_0/weights"
    serve(name, without=[missing])
    assert main(["weights", "fetch", name]) == 2
    said = capsys.readouterr().err
    assert "1 of 137 variables of mobilenet_v1_025 are not in the file" in said
    assert f"{missing} [3, 3, 3, 8]" in said and said.count("\n") == 1
    assert not [path for path in (tmp_path / "cache").iterdir() if path.suffix != ".lock"]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "words", "restored"),
    [
        (
            "deeplab_mobilenet_v2_voc",
            ["--input.crop_size", "65", "--train_batch_size", "1", "--eval_batch_size", "1"],
            r"270 of 272 variables restored \(2 mismatched\)",
        ),
        (
            "ssd_mobilenet_v1_coco",
            ["--input", "trees", "--input.image_size", "300", "--train_batch_size", "1"],
            r"variables restored \(12 mismatched\)",
        ),
    ],
)
def test_from_a_server_to_a_training_with_other_classes(
    serve, tmp_path, capsys, name, words, restored
):
    serve(name)
    run = ["run", "--plugin", made(name).model, "--warm_start_from", name, "--max_steps", "1"]
    run += ["--noevaluate"]
    assert main([*run, "--model_dir", str(tmp_path / "run"), *words]) == 0
    assert re.search(restored, capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(600)
def test_a_backbone_from_a_server_begins_a_segmentation(serve, tmp_path, capsys):
    name = "resnet_v1_50_beta_imagenet"
    serve(name)
    words = ["run", "--plugin", "deeplab", "--warm_start_from", name, "--dry_run"]
    words += ["--input.crop_size", "65", "--train_batch_size", "1", "--eval_batch_size", "1"]
    assert main([*words, "--model_dir", str(tmp_path / "run")]) == 0
    assert re.search(r"275 of \d+ variables restored \(\d+ missing\)", capsys.readouterr().out)
