"""Messages about faulty plugins: the first line names plugin, method, cause and place."""

import pytest

import faulty
import faulty.inputs
import faulty.models
import faulty.parts
import faulty.sound_models
from slow_cases import slow
from source_plugins import install_source
from tf_frame.cli.main import main
from tf_frame.testing.distributions import write_distribution, write_toy_distribution

pytestmark = pytest.mark.usefixtures("filtered_tracebacks")

# Faults that are reported in the same way as others; `tox -e slow` runs them.
FURTHER = {
    *("hook_call_raises", "hook_begin_raises", "hook_before_run_raises", "hook_before_step_raises"),
    *("hook_after_step_takes_less", "hook_end_raises", "hook_is_text", "hook_of_model_raises"),
    *("hook_of_tensor_flow_fails", "listener_raises", "optimizer_of_keras", "transform_drops_all"),
    *("optimizer_raises_when_applied", "transform_of_wrong_type", "transform_of_wrong_shape"),
    *("transform_returns_twice", "transform_returns_none", "transform_returns_gradients"),
    *("schedule_raises", "schedule_returns_vector", "network_of_wrong_shapes"),
    *("preprocessing_takes_less", "shapes_that_never_fit", "labels_of_another_shape_later"),
    *("reads_missing_file", "opens_missing_file", "index_out_of_range", "indexes_features"),
    *("map_fails_later", "generator_raises", "empty_training", "build_raises_much"),
    *("build_imports_missing", "needs_feature", "returns_dict", "loss_none"),
    *("build_fills_its_disk", "build_loses_pipe", "build_raises_from_deep_inside"),
    *("build_raises_in_helper", "build_raises_unusual", "dataset_is_arrays", "dataset_is_none"),
    *("default_of_wrong_type", "generator_yields_other_types", "hooks_of_model_are_none"),
    *("info_is_none", "info_raises", "integer_variables", "labels_of_another_length"),
    *("loss_is_list", "loss_is_number", "loss_without_variables", "metric_name_is_number"),
    *("metric_named_loss", "metrics_are_list", "network_raises", "no_variables"),
    *("own_variables_per_clone", "params_raise", "python_function_raises", "queue_function_raises"),
    *("really_ahook", "run_defaults_are_list", "scalars", "schedule_returns_none"),
    *("summary_is_number", "takes_other_arguments", "transform_is_never_ready"),
    *("update_op_asserts", "variables_in_loop", "yields_features_only", "keras_layers_in_clones"),
    *("endless_evaluation"),
}
# Faults that are found by the stack of an operation.
OF_OPERATIONS = {"labels_of_another_shape_later", "index_out_of_range", "update_op_asserts"}
WORDS = ("--max_steps", "3", "--train_batch_size", "8", "--eval_batch_size", "8", "--noevaluate")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    write_distribution(folder, "faulty", faulty.entry_points())
    write_toy_distribution(folder)
    return folder


@pytest.fixture
def command(site, tmp_path, monkeypatch, capsys):
    """Runs `tf-frame` in this process; returns the exit code and standard error."""
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(tmp_path)

    def command(*words):
        code = main(list(words))
        return code, capsys.readouterr().err

    return command


@pytest.fixture
def run(command):
    return lambda *words: command("run", *WORDS, "--model_dir", "run", *words)


@pytest.mark.parametrize(
    "case",
    [slow(case) if case.name in FURTHER else case for case in faulty.CASES],
    ids=lambda case: case.name,
)
def test_the_first_line_names_the_plugin_and_the_fault(run, case, request):
    if case.name in OF_OPERATIONS:
        request.getfixturevalue("own_stacks")
    code, stderr = run(*case.words)
    first, *further = stderr.splitlines()
    assert case.matches(first), first
    assert code == case.code
    frames = [line for line in further if line.startswith("  File ")]
    assert all("/faulty/" in frame for frame in frames)
    assert "Traceback" not in stderr


def test_below_the_line_are_the_frames_of_the_plugin_and_a_hint(run):
    _, stderr = run("--plugin", "linear", "--input", "unbatched")
    _, frame, code, hint, more = stderr.splitlines()
    assert frame.endswith(
        'faulty/sound_models.py", line ' + faulty.find_line("linear") + ", in build"
    )
    assert code == "    error = features @ self.weights() - labels  # here"
    assert more == "--verbosity debug shows the whole traceback"
    assert hint == (
        "build() was given features float32 (3,) and labels float32 (1,), which have no first "
        "dimension in common; if they are one example, dataset() of the input must end with "
        ".batch(context.batch_size)"
    )


def test_a_shape_that_a_python_function_lost_has_a_remedy(run):
    _, stderr = run("--plugin", "counts_features", "--input", "loses_shapes")
    assert stderr.splitlines()[-2] == (
        "build() was given features float32 <unknown> and labels float32 (8, 1), where <unknown> "
        "has no known rank: a Python function loses the shape; give its result to "
        "tf.ensure_shape(result, [height, width, 3]) in dataset()"
    )


@pytest.mark.usefixtures("own_stacks")
def test_a_placeholder_has_the_hint_that_nothing_is_fed(run):
    _, stderr = run("--plugin", "makes_placeholder", "--input", "toy")
    assert stderr.startswith(
        "tf-frame: at step 1, the operation 'x' of build() of the model 'makes_"
    )
    assert "\nnothing is fed: build() gets the batch of the input as features and labels" in stderr


def test_debug_shows_the_whole_traceback_below_the_line(run):
    case = next(case for case in faulty.CASES if case.name == "build_raises")
    _, quiet = run(*case.words)
    code, stderr = run(*case.words, "--verbosity", "debug")
    assert (code, stderr.splitlines()[0]) == (2, quiet.splitlines()[0])
    assert "Traceback (most recent call last):" in stderr
    assert "tf_frame/graph/train_graph.py" in stderr


def test_of_many_frames_the_first_and_the_last_are_shown_and_the_cause(run):
    _, stderr = run("--plugin", "build_raises_from_deep_inside", "--input", "toy")
    lines = stderr.splitlines()
    assert sum(line.startswith("  File ") for line in lines) == 20
    assert "  ... 32 more frames" in lines
    assert lines[-3] == "it was raised because of KeyError: 'first'"


@pytest.mark.slow
def test_a_fault_is_the_same_line_in_every_command(run, command):
    assert run("--plugin", "fails_later", "--input", "toy")[0] == 0
    expected = (
        "tf-frame: build() of the model 'fails_later' of faulty 1.0 raised ValueError: made for "
        f"training alone (faulty/sound_models.py, line {faulty.find_line('fails_later')})"
    )
    assert run("--plugin", "fails_later", "--input", "toy", "--evaluate")[1].startswith(expected)
    for words in (
        ["evaluate", "run"],
        ["predict", "run", "--output", "out"],
        ["export", "run", "--format", "saved_model"],
    ):
        code, stderr = command(*words)
        assert (code, stderr.splitlines()[0]) == (2, expected)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "scalar_predictions",
            "Batch length of predictions should be same. error is a scalar and has no row for each "
            "example; make it one for each, or pass yield_single_examples=False to "
            "Estimator.predict.",
        ),
        (
            "narrow_writer",
            "prediction_writer() of the model 'narrow_writer' of faulty 1.0 raised TypeError: "
            "NarrowWriter.prediction_writer.<locals>.<lambda>() takes 1 positional argument but 3 "
            "were given ({here})",
        ),
    ],
)
def test_a_fault_in_predictions_is_a_line(run, command, name, line):
    assert run("--plugin", name, "--input", "toy")[0] == 0
    code, stderr = command("predict", "run", "--output", "out")
    place = f"faulty/sound_models.py, line {faulty.find_line(name)}"
    assert (code, stderr.splitlines()[0]) == (2, f"tf-frame: {line.format(here=place)}")


def test_a_model_that_needs_labels_to_predict_is_told_that_there_are_none(run, command):
    assert run("--plugin", "needs_labels", "--input", "toy")[0] == 0
    predicted = command("predict", "run", "--output", "out")
    exported = command("export", "run", "--format", "saved_model")
    assert predicted == exported
    assert "\nin Mode.PREDICT labels are None, and build() must not use them\n" in predicted[1]


@pytest.mark.usefixtures("command")
def test_what_a_plugin_prints_at_its_import_is_no_result(tmp_path, monkeypatch, capsys):
    text = "from tf_frame.testing.toy import ToyModel as Loud\nprint('hello')"
    install_source(monkeypatch, tmp_path, "loud", text, models="Loud")
    assert main(["run", "--plugin", "loud", "--input", "toy", "--print_config"]) == 0
    out, err = capsys.readouterr()
    assert ("hello" in out, "hello" in err) == (False, True)


@pytest.mark.usefixtures("command")
def test_the_check_of_the_list_finds_what_loading_finds(capsys):
    assert main(["plugins", "list", "--check"]) == 2
    listed = capsys.readouterr().out
    assert "broken: class ReallyAHook is a hook (tf_frame.HookPlugin)" in listed
    assert "broken: TakesNoContext.dataset() takes (mode), but is called with" in listed
