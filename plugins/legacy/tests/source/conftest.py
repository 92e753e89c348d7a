"""A small table of names, which stays as it is while the real one grows; programs in files."""

import pytest

from tf_frame_legacy.names.families import old_packages
from tf_frame_legacy.names.row import alias, not_offered, ours
from tf_frame_legacy.source import check, lookup, project, resolve

ROWS = [
    *ours(("tf.contrib.slim", "tf_slim"), "tf_frame_legacy.slim", "conv2d arg_scope dropout"),
    *ours("tf.contrib.training", "tf_frame_legacy.training", "HParams"),
    *ours("tf.layers", "tf_frame_legacy.layers", "dense"),
    *ours("tf.estimator", "tf_frame_legacy.estimator", "Estimator ModeKeys"),
    *ours("tf.estimator", "tf_frame_legacy.contrib.tpu", "_TPUEstimatorSpec=TPUEstimatorSpec"),
    *ours("deployment.model_deploy", "tf_frame_legacy.model_deploy", "deploy"),
    *ours("tf", "tf_frame_legacy.slim.scopes", "name_scope=arg_scope"),
    *alias("tf.contrib.data", "tensorflow.compat.v1.data.experimental", "AUTOTUNE"),
    *alias("tf.contrib.util", "tensorflow.python.framework.tensor_util", "make_tensor_proto"),
    *ours("tf.examples.mnist.input_data", "tf_frame_legacy.slim", "conv2d"),
    *not_offered("tf.examples", "*", "take the file from the repository"),
    *not_offered("tf.contrib.tensorrt", "*", "use the TensorRT of NVIDIA"),
    *old_packages.ROWS,
]
_CACHED = (lookup.look_up, lookup._namespaces, lookup._offering, lookup._module_today)


@pytest.fixture(autouse=True)
def table(monkeypatch):
    rows = {row.was: row for row in ROWS}
    monkeypatch.setattr(lookup, "table", lambda: rows)
    for function in _CACHED:
        function.cache_clear()
    yield
    for function in _CACHED:
        function.cache_clear()


@pytest.fixture
def write(tmp_path):
    """Returns a function that writes files, by path, to the folder of a program."""

    def write_files(files):
        for path, content in files.items():
            file = tmp_path / "program" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(tmp_path / "program")

    return write_files


@pytest.fixture
def names(write):
    """Returns a function that resolves `main.py`, with other files beside it."""

    def resolved(text, **others):
        files = {f"{path}.py": other for path, other in others.items()}
        folder = write({"main.py": text, **files})
        return resolve.resolve(project.Project(folder))["main.py"]

    return resolved


@pytest.fixture
def findings(write):
    """Returns a function that checks the files of a program."""
    return lambda files: check.check(write(files))
