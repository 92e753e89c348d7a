"""Features and labels that a model needs, compared with the features and labels of an input."""

import contextlib
import importlib

import pytest

from tf_frame import Input, Model
from tf_frame.errors import ConfigError
from tf_frame.plugin.kinds import INPUT, MODEL
from tf_frame.plugin.load import load_plugin
from tf_frame.plugin.needs import check_batch, check_declared, fitting_inputs, fitting_models
from tf_frame.testing.distributions import write_distribution

SOURCE = """
from tf_frame import Input, Model
class Segments(Model):
    feature_names = ("photo",)
    label_names = ("outline",)
    def build(self, features, labels, mode): ...
class Outlines(Input):
    feature_names = ("photo", "name")
    label_names = ["outline"]
    def dataset(self, mode, context): ...
class Classes(Input):
    feature_names = ("photo",)
    label_names = ("class",)
    def dataset(self, mode, context): ...
class Silent(Input):
    def dataset(self, mode, context): ...
"""


@pytest.fixture
def plugin(site):
    """Loads a plugin of a package with a model and three inputs."""
    (site / "fake_needs.py").write_text(SOURCE)
    (site / "fake_broken.py").write_text("1 / 0")
    inputs = {f"tf_frame.inputs: {n.lower()}": f"fake_needs:{n}" for n in ("Outlines", "Classes")}
    inputs["tf_frame.inputs: silent"] = "fake_needs:Silent"
    models = {"tf_frame.models: segments": "fake_needs:Segments"}
    write_distribution(site, "fake-needs", models | inputs)
    write_distribution(site, "fake-broken", {"tf_frame.inputs: broken": "fake_broken:Net"})
    importlib.invalidate_caches()
    return lambda name: load_plugin(MODEL if name == "segments" else INPUT, name)


def test_an_input_that_declares_other_labels_is_refused_with_inputs_that_fit(plugin):
    with pytest.raises(ConfigError) as error:
        check_declared(plugin("segments"), plugin("classes"))
    assert str(error.value) == (
        "the input 'classes' of fake-needs 1.0 yields no labels['outline'], which the model "
        "'segments' of fake-needs 1.0 needs; inputs for it: outlines"
    )


def test_an_input_that_declares_all_or_nothing_is_taken_and_found_only_with_all(plugin):
    for name in ("outlines", "silent"):
        check_declared(plugin("segments"), plugin(name))
    assert fitting_inputs(plugin("segments").cls) == ["outlines"]
    assert fitting_models(plugin("outlines").cls) == ["segments"]
    assert "segments" not in fitting_models(plugin("classes").cls)


class Needy(Model):
    feature_names = ("image",)
    label_names = ("class",)


NEEDY, SOURCE_OBJECT = Needy(params=None, info=None), Input(params=None)


@pytest.mark.parametrize(
    ("features", "labels", "missing"),
    [
        ({"image": 1, "more": 2}, {"class": 3}, None),
        ({"image": 1}, None, None),
        ([{"other": 1}, {"image": 1}], [1, 2], None),
        ({"photo": 1}, {"class": 3}, r"Input yields no features\['image'\], which Needy needs"),
        ({"image": 1}, {"mask": 3}, r"Input yields no labels\['class'\], which Needy needs"),
        ({"image": 1}, 3, r"Input yields no labels\['class'\], which Needy needs"),
    ],
)
def test_a_batch_without_a_name_is_refused(features, labels, missing):
    refused = pytest.raises(ConfigError, match=missing) if missing else contextlib.nullcontext()
    with refused:
        check_batch(NEEDY, SOURCE_OBJECT, features, labels)
    check_batch(Model(params=None, info=None), SOURCE_OBJECT, 3, 4)
