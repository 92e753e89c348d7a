"""Raw serving of images: what a graph prepares is what `predict` would."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import compute, save_values
from slow_cases import slow_but
from tf_frame import Input, InputInfo, Model, ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.runs.export.export import export_model
from tf_frame.runs.export.formats import frozen_graph, tflite
from tf_frame_vision import raw_serving
from tf_frame_vision.preprocessing import load_preprocessing

FAMILIES = ["none", "lenet", "inception", "vgg", "cifarnet"]
SIZE = 24


class Photos(Input):
    """Images prepared by one of the families."""

    family = "none"

    def prepare(self, image):
        seed = tf.zeros([2], tf.int64)
        size = {"height": SIZE, "width": SIZE}
        return load_preprocessing(self.family)(image, **size, is_training=False, seed=seed)

    def raw_serving(self, *, fixed_size=False):
        return raw_serving.image_forms(
            self.prepare,
            raw_serving.random_pictures,
            fixed_size=(SIZE, SIZE) if fixed_size else None,
        )


class Copy(Model):
    """Returns the image of the features."""

    def build(self, features, labels, mode):
        scale = tf.get_variable("scale", initializer=1.0)
        return ModelOutput(predictions={"image": features["image"] * scale})


@pytest.fixture
def export(tmp_path):
    """Exports `Copy` with a family of preprocessing; returns the folder."""
    values = {"scale": np.float32(1), "global_step": np.int64(0)}
    path = save_values(tmp_path / "model.ckpt", values)

    def export(name, family):
        source = Photos(params=None)
        source.family = family
        model = Copy(params=None, info=InputInfo())
        config = RunOptions(eval_batch_size=4)
        output = str(tmp_path / "out")
        return export_model(
            name, model=model, source=source, config=config, checkpoint=path, output=output
        )

    return export


def prepared(picture, family):
    source = Photos(params=None)
    source.family = family
    return compute(source.prepare, picture)


@pytest.mark.slow
@pytest.mark.parametrize("family", slow_but(FAMILIES.index("vgg"), FAMILIES))
def test_tensorflow_lite_prepares_pixels_of_the_size_of_the_network(export, tmp_path, family):
    assert export("tflite", family).inputs["image"].shape.as_list() == [1, SIZE, SIZE, 3]
    picture = np.random.RandomState(2).randint(0, 256, [SIZE, SIZE, 3]).astype(np.uint8)
    (found,) = tflite.run(str(tmp_path / "out"), [{"image": picture[np.newaxis]}])
    np.testing.assert_allclose(found["image"][0], prepared(picture, family), atol=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["inception", "vgg"])
def test_files_and_pixels_of_any_size_are_prepared(export, tmp_path, family):
    export("frozen_graph", family)
    pictures = raw_serving.random_pictures(3)
    files = raw_serving._encoded(pictures)
    found = frozen_graph.run(str(tmp_path / "out"), {"image_bytes": files})["image"]
    for number, picture in enumerate(pictures):
        expected = prepared(picture, family)
        np.testing.assert_allclose(found[number], expected, atol=1e-5)
        pixels = {"image": picture[np.newaxis]}
        (image,) = frozen_graph.run(str(tmp_path / "out"), pixels)["image"]
        np.testing.assert_allclose(image, expected, atol=1e-5)


def test_pictures_have_one_size_where_asked_for_and_become_colour():
    forms = raw_serving.image_forms(lambda image: image, raw_serving.random_pictures)
    assert forms["pixels"].examples(3)["image"].shape == (3, 48, 64, 3)
    assert len(forms["encoded"].examples(2)["image_bytes"]) == 2
    assert list(raw_serving.image_forms(None, None, fixed_size=(8, 8))) == ["pixels"]

    sizes = [raw_serving.size_of_pixels(asked, [8, 8]) for asked in (False, True, (4, 6))]
    assert sizes == [None, [8, 8], (4, 6)]

    # Grey pictures become colour ones.
    def images():
        return tf.data.Dataset.from_tensor_slices(
            np.arange(24, dtype=np.float32).reshape(3, 2, 4, 1)
        )

    first, second = raw_serving.first_pictures(images, 2)
    assert (first.shape, first.dtype) == ((2, 4, 3), np.uint8)
    assert second[0, 0].tolist() == [8, 8, 8]
