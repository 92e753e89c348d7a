"""The cache of weights: from packages, from the web, from files of users."""

import hashlib
import io
import json
import sys
import tarfile
import threading

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from faulty_server import resumable, status, whole
from tf_frame import Weights, WeightsFile
from tf_frame.errors import ConfigError, DataError, PluginError
from tf_frame.file_lock import file_lock
from tf_frame.weights import store
from tf_frame.weights.download import DownloadError
from tf_frame.weights.store import cache_file, cache_weights, cached_checkpoint

VALUES = {"net/kernel": np.array([[1.0, 2.0]], np.float32), "net/bias": np.array([3.0], np.float32)}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(store.CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def arrays():
    file = io.BytesIO()
    np.savez(file, **VALUES)
    return file.getvalue()


def weights(**file):
    class Some(Weights):
        def file(self):
            return WeightsFile(**file)

    return Some(params=None)


def read(prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def assert_has_values(prefix):
    found = read(prefix)
    assert found.keys() == VALUES.keys()
    for name, value in VALUES.items():
        np.testing.assert_array_equal(found[name], value)


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """Weights of a package."""
    package = tmp_path / "site" / "some_weights"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "values.npz").write_bytes(arrays())
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.delitem(sys.modules, package.name, raising=False)
    digest = hashlib.sha256(arrays()).hexdigest()
    return weights(package="some_weights", path="values.npz", sha256=digest), package


def published(content, **file):
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest(), **file}


def checkpoint_archive(tmp_path, prefix="net/model.ckpt"):
    """An archive as slim, DeepLab and the detection API publish them."""
    with tf.Graph().as_default(), tf.Session() as session:
        variables = {k: tf.get_variable(k, initializer=v) for k, v in VALUES.items()}
        session.run(tf.global_variables_initializer())
        tf.train.Saver(variables).save(session, str(tmp_path / "model.ckpt"), write_state=False)
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for path in sorted(tmp_path.glob("model.ckpt*")):
            archive.add(path, path.name.replace("model.ckpt", prefix))
        archive.add(__file__, "net/train.py")
    return file.getvalue()


def test_values_of_a_package(cache, packaged):
    some, package = packaged
    assert cached_checkpoint("some", some) is None
    prefix = cache_weights("some", some)
    assert_has_values(prefix)
    assert prefix.startswith(str(cache)) and cached_checkpoint("some", some) == prefix
    (package / "values.npz").unlink()  # The cache has all.
    assert cache_weights("some", some) == prefix
    note = json.loads((cache / prefix.split("/")[-2] / store.SOURCE).read_text())
    assert note["from"] == "package some_weights: values.npz" and note["size"] == len(arrays())


def test_a_damaged_or_missing_file_of_a_package(cache, packaged):
    some, package = packaged
    (package / "values.npz").write_bytes(b"damaged")
    with pytest.raises(DataError, match=r"values.npz is damaged: its SHA-256 is"):
        cache_weights("some", some)
    (package / "values.npz").unlink()
    with pytest.raises(PluginError, match=r"Some: the package some_weights has no file values.npz"):
        cache_weights("some", some)
    assert not [path for path in cache.iterdir() if path.is_dir()]


@pytest.mark.parametrize("path", ["", "net/model.ckpt"])
def test_a_checkpoint_in_an_archive_of_the_web(cache, server, tmp_path, path):
    content = checkpoint_archive(tmp_path)
    server.behaviours[:] = [lambda handler: whole(handler, content)]
    some = weights(url=f"{server.url}.tar.gz", path=path, **published(content))
    shown = []
    prefix = cache_weights("some", some, show=lambda *numbers: shown.append(numbers))
    assert_has_values(prefix)
    assert shown[-1] == (len(content), len(content))
    assert cache_weights("some", some) == prefix and len(server.ranges) == 1
    assert {path.name for path in cache.iterdir() if not path.is_dir()} == {
        f"{prefix.split('/')[-2]}.lock"
    }


def test_unverified_weights_are_recorded(cache, server, tmp_path):
    server.behaviours[:] = [lambda handler: whole(handler, arrays())]
    prefix = cache_weights("some", weights(url=f"{server.url}.npz"))
    note = json.loads((cache / prefix.split("/")[-2] / store.SOURCE).read_text())
    assert note["sha256"] == hashlib.sha256(arrays()).hexdigest()
    assert note["from"] == f"{server.url}.npz"


def test_a_failed_download_leaves_no_folder_and_goes_on_later(cache, server):
    content = arrays()
    some = weights(url=f"{server.url}.npz", **published(content))
    server.behaviours[:] = [lambda h: resumable(h, upto=100, content=content), status(404)]
    with pytest.raises(DownloadError, match="404"):
        cache_weights("some", some)
    assert cached_checkpoint("some", some) is None
    server.behaviours[:] = [lambda handler: resumable(handler, content=content)]
    assert_has_values(cache_weights("some", some))
    assert server.ranges[-1] == "bytes=100-"


def test_an_archive_with_something_else(cache, server, tmp_path):
    content = checkpoint_archive(tmp_path, prefix="other.ckpt")
    server.behaviours[:] = [lambda handler: whole(handler, content)]
    some = weights(url=f"{server.url}.tar.gz", path="net/model.ckpt", **published(content))
    with pytest.raises(DataError, match="not the one checkpoint that was published: net/model"):
        cache_weights("some", some)


def test_another_file_has_another_folder(cache, packaged):
    some, package = packaged
    first = cache_weights("some", some)
    (package / "values.npz").write_bytes(content := arrays() + b"\n")
    digest = hashlib.sha256(content).hexdigest()
    newer = weights(package="some_weights", path="values.npz", sha256=digest)
    assert cached_checkpoint("some", newer) is None
    assert first != cache_weights("some", newer)


def test_who_comes_second_waits_for_the_first(cache, packaged):
    some, _ = packaged
    folder = store._folder("some", some.file())
    cache.mkdir()
    lines, done = [], []

    def report(line):
        lines.append(line)

    with file_lock(f"{folder}.lock"):
        thread = threading.Thread(
            target=lambda: done.append(cache_weights("some", some, report=report))
        )
        thread.start()
        thread.join(0.8)
        assert thread.is_alive() and not done
    thread.join()
    assert_has_values(done[0])
    assert len(lines) == 1 and "which fetches some" in lines[0]


def test_a_cache_that_cannot_be_written(cache, packaged):
    cache.write_text("a file")
    with pytest.raises(ConfigError, match=f"the cache of weights {cache} cannot be written.*TF_FR"):
        cache_weights("some", packaged[0])


def test_a_file_of_the_user_becomes_a_checkpoint(cache, tmp_path):
    (tmp_path / "mine.npz").write_bytes(arrays())
    prefix = cache_file(str(tmp_path / "mine.npz"))
    assert_has_values(prefix)
    (tmp_path / "mine.npz").rename(tmp_path / "renamed.npz")
    assert cache_file(str(tmp_path / "renamed.npz")) == prefix
