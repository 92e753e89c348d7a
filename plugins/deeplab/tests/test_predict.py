"""`tf-frame predict` with deeplab: pictures of any size in, labels and overlays out."""

import contextlib
import io

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
import yaml
from PIL import Image

from sessions import compute
from tf_frame import InputContext, InputInfo
from tf_frame.cli.main import main
from tf_frame_deeplab import network
from tf_frame_deeplab.datasets.known import KNOWN
from tf_frame_deeplab.model import DeepLab, Params
from tf_frame_deeplab.nuclei import Nuclei, Params as NucleiParams
from tf_frame_deeplab.prediction_files import LabelsAndOverlays, Painting
from tf_frame_vision.drawing.palette import overlay, palette
from tf_frame_vision.drawing.png import read_png
from tf_frame_vision.drawing.text import with_legend

RANDOM = np.random.RandomState(0)


def write_picture(path, height, width):
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(RANDOM.randint(0, 255, [height, width, 3]).astype(np.uint8)).save(path)
    return path


def decoded(path, channels=3):
    return compute(lambda data: tf.io.decode_png(data, channels), path.read_bytes())


def predict(capfd, *words):
    code = main(["predict", *map(str, words)])
    return code, *capfd.readouterr()


def png_header(data):
    """Bits and colour type of the header; see the PNG specification, 11.2.1."""
    return data[24], data[25]


def test_the_input_reads_files_and_says_which():
    source = Nuclei(params=NucleiParams())
    assert {".png", ".jpg", ".tiff", ".ppm"} <= set(source.prediction_suffixes)
    with tf.Graph().as_default():
        dataset = source.prediction_dataset(["x.png"], InputContext(batch_size=4))
        assert sorted(dataset.element_spec) == ["image", "name", "original_size"]


SIZES = [(1, 1), (15, 40), (33, 17), (64, 64), (130, 61)]


@pytest.fixture(scope="module")
def predicted(trained, tmp_path_factory):
    """Predictions for pictures of all sizes in a folder, and for some of the same name.

    Returns the folder of the results, and the pictures by the names of their results.
    """
    folder = tmp_path_factory.mktemp("predicted")
    pictures = {
        f"{height}x{width}": write_picture(folder / "in" / f"{height}x{width}.png", height, width)
        for height, width in SIZES
    }
    same_names = {
        "a_x": write_picture(folder / "a" / "x.png", 20, 20),
        "b_x": write_picture(folder / "b" / "x.png", 30, 30),
        "y_png": write_picture(folder / "b" / "y.png", 20, 20),
        "y_jpg": write_picture(folder / "b" / "y.jpg", 20, 20),
    }
    paths = [folder / "in", *same_names.values()]
    words = ["predict", trained, "--input", *paths, "--output", folder / "o"]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*map(str, words)])
    assert (code, err.getvalue()) == (0, "")
    assert "9 predictions" in out.getvalue()
    return folder / "o", pictures | same_names


@pytest.mark.process
def test_pictures_become_labels_and_overlays_of_their_size_and_name(predicted):
    output, pictures = predicted
    colours = palette(2, background=True)
    seen = set()
    for height, width in SIZES:
        name = f"{height}x{width}"
        labels, overlaid = (output / kind / f"{name}.png" for kind in ("labels", "overlays"))
        assert png_header(labels.read_bytes()) == (8, 3)
        pixels = decoded(labels)
        assert pixels.shape == (height, width, 3)
        classes = (pixels == colours[1]).all(axis=2).astype(int)
        np.testing.assert_array_equal(pixels, colours[classes])
        # Below the picture there is a legend.
        np.testing.assert_array_equal(
            decoded(overlaid)[:height, :width], overlay(decoded(pictures[name]), classes, colours)
        )
        seen |= set(classes.ravel())
    assert seen == {0, 1}
    # Pictures of the same name do not replace each other.
    assert {path.stem for path in (output / "labels").iterdir()} == set(pictures)
    assert decoded(output / "labels" / "b_x.png").shape == (30, 30, 3)


@pytest.mark.slow
@pytest.mark.process
def test_labels_are_what_the_network_says(trained, predicted):
    output, pictures = predicted
    params = Params(**yaml.safe_load((trained / "config.yaml").read_text())["model"])
    with tf.Graph().as_default(), tf.Session() as session:
        model = DeepLab(params=params, info=InputInfo(num_classes=2))
        images = tf.constant(decoded(pictures["130x61"])[np.newaxis], tf.float32)
        built = model.build({"image": images}, None, "infer")
        averages = {f"{v.op.name}/ExponentialMovingAverage": v for v in tf.global_variables()}
        tf.train.Saver(averages).restore(session, tf.train.latest_checkpoint(str(trained)))
        (expected,) = session.run(built.predictions["semantic"])
    pixels = decoded(output / "labels" / "130x61.png")
    assert set(expected.ravel()) == {0, 1}
    np.testing.assert_array_equal(pixels, palette(2, background=True)[expected])


@pytest.fixture
def without_network(monkeypatch):
    """Predicts without a network, for tests of files and not of their content."""

    def deeplab(images, num_classes, **_):
        return images[:, ::4, ::4, :num_classes], {}

    monkeypatch.setattr(network, "deeplab_v3_plus", deeplab)


@pytest.mark.process
@pytest.mark.usefixtures("without_network")
def test_the_validation_tiles_are_predicted_without_an_input(trained, tmp_path, capfd):
    assert predict(capfd, trained, "--output", tmp_path / "o")[0] == 0
    for kind in ("labels", "overlays"):
        names = sorted(path.name for path in (tmp_path / "o" / kind).iterdir())
        assert names == [f"{number:06d}.png" for number in range(4)]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.usefixtures("without_network")
def test_a_broken_picture_is_named_and_the_others_stay(trained, tmp_path, capfd):
    write_picture(tmp_path / "in" / "a.png", 20, 20)
    broken = write_picture(tmp_path / "in" / "b.png", 20, 20)
    write_picture(tmp_path / "in" / "c.png", 20, 20)
    broken.write_bytes(broken.read_bytes()[:100])
    words = ("--input", tmp_path / "in", "--output", tmp_path / "o")
    code, _, err = predict(capfd, trained, *words)
    assert code == 2
    assert err.startswith(f"tf-frame: {broken} cannot be read: it cannot be decoded: ")
    assert len(err.splitlines()) == 1
    assert [path.name for path in (tmp_path / "o" / "labels").iterdir()] == ["a.png"]


@pytest.fixture
def writer(tmp_path):
    def make(num_classes, class_names=(), **more):
        painting = Painting(num_classes=num_classes, class_names=class_names, **more)
        return LabelsAndOverlays(str(tmp_path), painting)

    return make


def write(writer, classes, name="x"):
    image = np.zeros([*classes.shape, 3], np.float32)
    writer(name, {"image": image}, {"semantic": classes.astype(np.int32)})


def test_label_files_are_valid_pngs_with_the_colour_of_every_class(writer, tmp_path):
    classes = np.arange(256).reshape(16, 16)
    write(writer(256), classes)
    path = tmp_path / "labels" / "x.png"
    assert png_header(path.read_bytes()) == (8, 3)
    assert read_png(path).height == 16  # also checks every checksum
    np.testing.assert_array_equal(decoded(path), palette(256, background=True)[classes])
    # More classes than a palette has are 16 bits.
    classes = RANDOM.randint(0, 1000, [9, 7])
    write(writer(1000), classes)
    data = path.read_bytes()
    assert png_header(data) == (16, 0)
    pixels = compute(lambda png: tf.io.decode_png(png, channels=1, dtype=tf.uint16), data)
    np.testing.assert_array_equal(pixels[..., 0], classes)


def test_classes_are_painted_but_for_a_background_and_named(writer, tmp_path):
    write(writer(2, ("road", "sky")), np.zeros([4, 4], int))
    assert decoded(tmp_path / "overlays" / "x.png")[:4, :4].any()
    write(writer(2, ("background", "sky")), np.zeros([4, 4], int))
    assert not decoded(tmp_path / "overlays" / "x.png").any()
    # The legend names the painted classes that occur.
    write(writer(4, ("background", "cat", "dog", "fly")), np.array([[0, 2], [0, 2]]))
    picture = decoded(tmp_path / "overlays" / "x.png")
    expected = with_legend(picture[:2, :2], [("dog", palette(4, background=True)[2])])
    np.testing.assert_array_equal(picture, expected)
    assert picture.shape[0] > 2


def test_colours_are_those_of_the_input_or_of_the_colour_map():
    colours = [[1, 2, 3], [4, 5, 6]]
    info = InputInfo(num_classes=2, class_names=("background", "a"), class_colours=colours)
    painting = Painting.from_options(Params(), info)
    assert painting.palette.tolist() == colours
    assert painting.overlay_palette.tolist() == [[0, 0, 0], [4, 5, 6]]
    pascal = Painting.from_options(Params(colormap_type="pascal"), info)
    assert pascal.palette.tolist() == [[0, 0, 0], [128, 0, 0]]


def test_raw_files_have_the_ids_of_the_data_set(writer, tmp_path):
    known = KNOWN["cityscapes"]
    classes = np.arange(19)[np.newaxis]
    write(writer(19, known.class_names), classes)
    assert not (tmp_path / "raw").exists()
    write(writer(19, known.class_names, writes_raw=True, class_ids=known.ids), classes)
    data = (tmp_path / "raw" / "x.png").read_bytes()
    assert png_header(data) == (8, 0)
    assert decoded(tmp_path / "raw" / "x.png", channels=1)[0, :, 0].tolist() == list(known.ids)
    write(writer(19, writes_raw=True), classes)
    assert decoded(tmp_path / "raw" / "x.png", channels=1)[0, :, 0].tolist() == list(range(19))


def test_results_have_the_size_of_the_file_whatever_the_network_saw(writer, tmp_path):
    path = write_picture(tmp_path / "photo.png", 6, 4)
    features = {"image": np.full([3, 2, 3], 9.0, np.float32), "original_size": np.array([6, 4])}
    classes = np.array([[0, 1], [2, 0], [1, 2]])
    write_one = writer(3, ("background", "cat", "dog"))
    write_one("x", {**features, "name": bytes(path)}, {"semantic": classes})
    colours, larger = palette(3, background=True), np.kron(classes, np.ones([2, 2], int))
    np.testing.assert_array_equal(decoded(tmp_path / "labels" / "x.png"), colours[larger])
    expected = overlay(decoded(path), larger, colours)
    np.testing.assert_array_equal(decoded(tmp_path / "overlays" / "x.png")[:6, :4], expected)
    # The file is gone by now.
    write_one("x", {**features, "name": b"photo.jpg"}, {"semantic": classes})
    expected = overlay(np.full([6, 4, 3], 9, np.uint8), larger, colours)
    np.testing.assert_array_equal(decoded(tmp_path / "overlays" / "x.png")[:6, :4], expected)


def test_brightness_beyond_what_a_file_has_is_cut_off(writer, tmp_path):
    image = np.array([[[-3, 300, 99.6]]], np.float32)
    writer(2)("x", {"image": image}, {"semantic": np.zeros([1, 1], np.int32)})
    assert decoded(tmp_path / "overlays" / "x.png").tolist() == [[[0, 255, 100]]]
    # Nothing else is computed.
    assert LabelsAndOverlays.predict_keys == ("semantic",)


def test_classes_are_described_by_their_shares(tmp_path):
    painting = Painting(num_classes=3, class_names=("background", "cell"))
    writer = LabelsAndOverlays(str(tmp_path), painting)
    classes = np.array([[0, 0, 0, 0], [0, 0, 1, 2]])
    assert writer.describe("x", {}, {"semantic": classes}) == [
        *(" 75.0%  background", " 12.5%  class 2", " 12.5%  cell"),
        f"drawn in {tmp_path}/overlays/x.png",
    ]
