"""Exports in any format: destination, overwriting, and refused arguments."""

import dataclasses
import os
import resource

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from export_formats import WRITABLE
from sessions import save_variables
from slow_cases import slow_but
from tf_frame import Input, ModelOutput, export_format
from tf_frame.errors import EXIT_USAGE, CheckpointError, ConfigError, PluginError, TfFrameError
from tf_frame.runs.export.formats import FORMATS, frozen_graph, saved_model_format
from tf_frame.runs.export.staging import Written
from tf_frame.runs.export.verify import Comparison, DifferenceError

from .conftest import Classifier, Data, W, changed

every_format = pytest.mark.parametrize("name", slow_but((0, 2), WRITABLE))


@pytest.mark.parametrize(("quantized", "tflite"), [(False, 1e-4), (True, 0.1)])
def test_the_tolerances_are_those_that_the_documentation_states(quantized, tflite):
    found = {name: each.tolerance_for(quantized=quantized) for name, each in FORMATS.items()}
    others = {"tflite": tflite, "onnx": tflite, "tflite_int8": 0.05}
    assert found == {**dict.fromkeys(FORMATS, 1e-5), **others}


@every_format
def test_a_model_is_told_the_format_that_it_is_built_for(export, name):
    told = []

    class Told(Classifier):
        def build(self, features, labels, mode):
            told.append(export_format())
            return super().build(features, labels, mode)

    export(name, model=Told)
    assert set(told) == {name}
    assert export_format() == ""


@pytest.mark.parametrize("delay_step", slow_but(1, [-1, 0]))
@every_format
def test_quantised_graphs_are_compared_as_they_are_written(export, monkeypatch, name, delay_step):
    requests = []

    def noted(request, folder):
        requests.append(request)
        return Written("", {}, {}, {}, Comparison())

    monkeypatch.setattr(f"{FORMATS[name].module}.export", noted)
    export(name, options={"quantize_delay_step": delay_step})
    (request,) = requests
    is_quantized = delay_step == 0
    assert request.tolerance == FORMATS[name].tolerance_for(quantized=is_quantized)
    options = request.session_config().graph_options
    as_written = is_quantized and name not in ("tflite", "onnx")
    assert options.rewrite_options.disable_meta_optimizer == as_written
    assert (options.optimizer_options.opt_level == tf.OptimizerOptions.L0) == as_written


@pytest.mark.parametrize("module", [frozen_graph, saved_model_format])
def test_both_sessions_run_by_the_same_configuration(request_of, monkeypatch, module, tmp_path):
    (tmp_path / "out").mkdir()
    request = dataclasses.replace(request_of(), runs_as_written=True)
    configs, session = [], tf.Session

    def noted(*arguments, config=None, **keywords):
        configs.append(config)
        return session(*arguments, config=config, **keywords)

    run = module.run

    def run_noted(*arguments):
        monkeypatch.setattr(tf, "Session", noted)
        return run(*arguments)

    monkeypatch.setattr(module, "run", run_noted)
    module.export(request, str(tmp_path / "out"))
    assert configs == [request.session_config()]


@every_format
def test_the_newest_checkpoint_of_a_folder_is_exported_with_path_size_and_difference(
    export, name, tmp_path
):
    exported = export(name, checkpoint=str(tmp_path / "run"))
    out = os.path.dirname(exported.path)
    sizes = [os.path.getsize(os.path.join(p, f)) for p, _, files in os.walk(out) for f in files]
    assert exported.size_bytes == sum(sizes) > 0
    assert exported.on_real_data
    assert exported.tolerance == FORMATS[name].tolerance
    assert 0 <= exported.comparison.largest_difference < 1e-6
    assert exported.comparison.output == "logits"
    assert not [entry for entry in os.listdir(out) if "tmp" in entry]


class Empty(Data):
    def dataset(self, mode, context):
        return super().dataset(mode, context).take(0)


@every_format
def test_without_data_random_numbers_are_compared(export, name):
    exported = export(name, source=Empty)
    assert not exported.on_real_data
    assert exported.comparison.output == "logits"


@every_format
@pytest.mark.parametrize("where", ["out", "out/deeper"])
def test_a_file_in_the_way_is_refused_before_any_work(export, name, where, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ConfigError, match=r"out is a file; take another --output"):
        export(name, output=str(tmp_path / where), checkpoint="/not/looked/at")
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("name", ["saved_model", "checkpoint"])
def test_a_folder_that_tensorflow_cannot_restore_from_is_refused(export, name, tmp_path):
    with pytest.raises(ConfigError, match=r"--output .*out\[1\]: TensorFlow's savers read"):
        export(name, output=str(tmp_path / "out[1]"))


FILES = {"frozen_graph": "frozen_graph.json", "tflite": "model.tflite", "checkpoint": "checkpoint"}


@pytest.mark.parametrize("name", slow_but(0, FILES))
def test_files_of_an_earlier_export_are_only_replaced_on_demand(export, name, tmp_path):
    (tmp_path / "out").mkdir()
    path = tmp_path / "out" / FILES[name]
    path.write_text("earlier")
    with pytest.raises(ConfigError, match=f"{FILES[name]} exists; .* replace it with --overwrite"):
        export(name)
    assert [p.name for p in (tmp_path / "out").iterdir()] == [FILES[name]]
    assert path.read_text() == "earlier"
    export(name, overwrite=True)
    assert path.read_bytes() != b"earlier"


def test_a_folder_is_never_replaced(export, tmp_path):
    (tmp_path / "out" / "model.tflite").mkdir(parents=True)
    with pytest.raises(ConfigError, match="model.tflite exists"):
        export("tflite", overwrite=True)


@every_format
def test_a_folder_that_cannot_be_made_is_told(export, name):
    with pytest.raises(TfFrameError, match="export to /proc/no/folder could not be written: "):
        export(name, output="/proc/no/folder")


def add_large_variable(predictions):
    logits, large = predictions["logits"], tf.get_variable("net/large", [100, 400])
    # The sum depends on the input, so that no converter folds it to a single constant.
    return ModelOutput(predictions={"sum": logits + tf.reduce_sum(large + logits[0, 0])})


@pytest.fixture
def full_disk():
    """Lets no file grow beyond 64 KiB, as a disk without space would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@every_format
def test_a_full_disk_leaves_nothing_behind(export, name, tmp_path, request):
    values = {"global_step": np.int64(0), "net/w": W, "net/b": W[0]}
    large = np.random.RandomState(0).rand(100, 400).astype(np.float32)
    path = save_variables(tmp_path / "large.ckpt", {**values, "net/large": large})
    request.getfixturevalue("full_disk")
    with pytest.raises(TfFrameError, match="could not be written.*: .*File too large") as error:
        export(name, model=changed(add_large_variable), checkpoint=path)
    assert "nothing of it was left behind; free space" in str(error.value)
    assert not (tmp_path / "out").exists()


@every_format
def test_what_differs_by_more_than_the_tolerance_is_not_kept(export, name, tmp_path, monkeypatch):
    """No format is exact to minus one."""
    monkeypatch.setitem(FORMATS, name, dataclasses.replace(FORMATS[name], tolerance=-1.0))
    with pytest.raises(DifferenceError, match="the largest difference is .* allowed: -1"):
        export(name)
    assert not (tmp_path / "out").exists()


def test_other_files_in_the_folder_stay(export, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    monkeypatch.setattr(frozen_graph, "run", lambda *_: {})
    with pytest.raises(DifferenceError):
        export("frozen_graph")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


@every_format
def test_a_model_without_predictions_is_refused(export, name, tmp_path):
    with pytest.raises(PluginError, match="neither exports nor predictions"):
        export(name, model=changed(lambda predictions: ModelOutput()))
    assert not (tmp_path / "out").exists()


@every_format
def test_a_checkpoint_of_another_model_is_refused(export, name, tmp_path):
    class Other(Classifier):
        def build(self, features, labels, mode):
            for name in ("net/other", "net/w2"):
                tf.get_variable(name, [2])
            return super().build(features, labels, mode)

    with pytest.raises(CheckpointError, match=r"2 variables differ\s+net/other \[2\]: not in the"):
        export(name, model=Other)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "hint"), [("saved_modl", "did you mean 'saved_model'"), ("xml", "there are saved_")]
)
def test_an_unknown_format_is_refused(export, name, hint):
    with pytest.raises(ConfigError, match=f"unknown format '{name}'; {hint}") as error:
        export(name)
    assert error.value.exit_code == EXIT_USAGE


@pytest.mark.parametrize("name", ["saved_model", "checkpoint"])
def test_a_signature_is_chosen_only_where_there_is_room_for_one(export, name):
    with pytest.raises(ConfigError, match=f"a {name} holds the whole model; leave --signature out"):
        export(name, signature="serving_default")


def test_no_checkpoint_is_an_error(export, tmp_path):
    (tmp_path / "nothing").mkdir()
    with pytest.raises(ConfigError, match="nothing"):
        export("frozen_graph", checkpoint=str(tmp_path / "nothing"))
    with pytest.raises(ConfigError, match=r"no checkpoint .*model.ckpt-8; "):
        export("frozen_graph", checkpoint=str(tmp_path / "run" / "model.ckpt-8"))


def test_errors_that_are_not_about_writing_pass(export):
    class Broken(Input):
        def dataset(self, mode, context):
            raise OSError("my own file is missing")

    with pytest.raises(OSError, match="my own file is missing"):
        export("frozen_graph", source=Broken)
