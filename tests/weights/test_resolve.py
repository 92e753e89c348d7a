import numpy as np
import pytest

from tf_frame.errors import ConfigError, PluginError
from tf_frame.weights import store
from tf_frame.weights.plugins import check_source, fitting_weights, is_weights_name, load_weights
from tf_frame.weights.resolve import resolve_values

NAME = "mobilenet_v1_imagenet"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(store.CACHE, str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


def test_names_are_fetched_and_told(cache):
    for name in (NAME, f"tf-frame-weights:{NAME}"):
        lines = []
        path = resolve_values(name, lines.append)
        assert path.startswith(str(cache)) and lines == [f"weights {name}: {path}"]


def test_a_source_is_a_file_or_a_name_or_none(tmp_path):
    """In a folder without hidden files, too."""
    (tmp_path / "model.ckpt-3.index").touch()
    for source in ("", NAME, "model.ckpt-3", "elsewhere/model.ckpt-3"):
        check_source(source)
    with pytest.raises(ConfigError, match="mobilenet_v1_imagenett: there is no such file"):
        check_source(f"{NAME}t")


def test_a_file_of_that_name_comes_first(tmp_path):
    assert is_weights_name(NAME)
    (tmp_path / NAME).mkdir()
    assert not is_weights_name(NAME)
    assert resolve_values(NAME, print) == NAME


@pytest.mark.parametrize("text", ["runs/first", "model.ckpt-5", "", "a b", "gs://bucket/run"])
def test_everything_else_is_a_path(text):
    assert not is_weights_name(text) and resolve_values(text, print) == text


def test_arrays_become_a_checkpoint(cache, tmp_path):
    np.savez(tmp_path / "a.npz", kernel=np.ones([2]))
    assert resolve_values("a.npz", print).startswith(str(cache))
    assert resolve_values("missing.npz", print) == "missing.npz"


def test_unknown_weights_are_an_error_with_similar_names():
    with pytest.raises(PluginError, match="did you mean 'mobilenet_v1_imagenet'"):
        load_weights("mobilenet_v1_imagnet")


def test_weights_fit_the_model_that_they_name():
    assert fitting_weights("classification") == [NAME]
    assert fitting_weights("no_such_model") == []


def test_weights_of_the_network_come_first():
    detector = "ssdlite_mobilenet_v2_pedestrians"
    assert fitting_weights("detection", "resnet_v1_18") == [detector]
    assert fitting_weights("detection", "mobilenet_v1") == [NAME, detector]
    assert fitting_weights("deeplab", "mobilenet_v2") == [detector]
    assert fitting_weights("classification", "lenet") == [NAME]
    assert fitting_weights("classification", "lenet", is_chosen=True) == []
