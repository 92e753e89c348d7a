import importlib
import inspect
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

import tf_frame.estimator.estimator
import tf_frame.hooks
from tf_frame_legacy import estimator


def words(text):
    return text.split()


NAMES = words(
    """
    BestExporter CheckpointSaverHook CheckpointSaverListener Estimator EstimatorSpec EvalSpec
    Exporter FeedFnHook FinalExporter FinalOpsHook GlobalStepWaiterHook LatestExporter
    LoggingTensorHook ModeKeys NanLossDuringTrainingError NanTensorHook ProfilerHook RunConfig
    SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook SessionRunValues
    StepCounterHook StopAtStepHook SummarySaverHook TrainSpec VocabInfo WarmStartSettings
    add_metrics experimental export inputs train_and_evaluate
"""
)
IN_PARTS = {
    "export": """
        ClassificationOutput EvalOutput ExportOutput PredictOutput RegressionOutput
        ServingInputReceiver TensorServingInputReceiver build_parsing_serving_input_receiver_fn
        build_raw_serving_input_receiver_fn
    """,
    "experimental": """
        InMemoryEvaluatorHook make_early_stopping_hook make_stop_at_checkpoint_step_hook
        stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook stop_if_no_increase_hook
    """,
    "inputs": "numpy_input_fn pandas_input_fn",
}


def arguments(function):
    """The arguments of a function, with their defaults, in order, as one line."""
    parameters = inspect.signature(function).parameters.values()
    texts = [
        p.name if p.default is p.empty else f"{p.name}={p.default!r}"
        for p in parameters
        if p.name != "self"
    ]
    return ", ".join(texts)


def test_the_package_has_the_old_names_and_no_others():
    assert dir(estimator) == NAMES
    for name in NAMES:
        assert getattr(estimator, name) is getattr(estimator, name)


@pytest.mark.parametrize("part", IN_PARTS)
def test_its_parts_have_the_old_names(part):
    module = getattr(estimator, part)
    assert module is importlib.import_module(f"tf_frame_legacy.estimator.{part}")
    for name in words(IN_PARTS[part]):
        assert callable(getattr(module, name)), name


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'DNNClassifier'"):
        estimator.DNNClassifier  # noqa: B018


def test_importing_the_package_loads_nothing():
    program = (
        "import sys; from tf_frame_legacy import estimator; assert estimator\n"
        "print([name for name in sys.modules if name.startswith('tensorflow')])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_classes_of_sessions_are_those_of_tensorflow():
    for name in ("SessionRunHook", "SessionRunArgs", "SessionRunContext", "SessionRunValues"):
        assert getattr(estimator, name) is getattr(tf.train, name)
    assert estimator.CheckpointSaverListener is tf.train.CheckpointSaverListener
    assert estimator.NanLossDuringTrainingError is tf.train.NanLossDuringTrainingError
    assert estimator.SecondOrStepTimer is tf.train.SecondOrStepTimer
    assert estimator.VocabInfo is tf.train.VocabInfo


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("Hook")])
def test_stock_hooks_are_hooks_of_tensorflow_with_its_arguments(name):
    hook, stock = getattr(estimator, name), getattr(tf.train, name)
    assert issubclass(hook, tf.train.SessionRunHook)
    if name != "SessionRunHook":
        assert hook is getattr(tf_frame.hooks, name)
        of_stock = list(inspect.signature(stock).parameters)
        assert list(inspect.signature(hook).parameters)[: len(of_stock)] == of_stock


def test_an_estimator_is_one_of_tf_frame():
    assert issubclass(estimator.Estimator, tf_frame.estimator.estimator.Estimator)
    exporters = (estimator.BestExporter, estimator.FinalExporter, estimator.LatestExporter)
    assert all(issubclass(exporter, estimator.Exporter) for exporter in exporters)
    outputs = ("ClassificationOutput", "PredictOutput", "RegressionOutput")
    for name in outputs:
        assert issubclass(getattr(estimator.export, name), estimator.export.ExportOutput)


def test_modes_are_the_old_words():
    modes = estimator.ModeKeys
    assert (modes.TRAIN, modes.EVAL, modes.PREDICT) == ("train", "eval", "infer")


def test_the_estimator_has_the_old_arguments():
    cls = estimator.Estimator
    assert arguments(cls) == "model_fn, model_dir=None, config=None, params=None, " + (
        "warm_start_from=None"
    )
    assert arguments(cls.train) == (
        "input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None"
    )
    assert arguments(cls.evaluate) == (
        "input_fn, steps=None, hooks=None, checkpoint_path=None, name=None"
    )
    assert arguments(cls.predict) == (
        "input_fn, predict_keys=None, hooks=None, checkpoint_path=None, yield_single_examples=True"
    )
    assert arguments(cls.export_saved_model) == (
        "export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False, "
        "checkpoint_path=None, experimental_mode='infer'"
    )
    assert arguments(cls.export_savedmodel) == (
        "export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False, "
        "checkpoint_path=None, strip_default_attrs=False"
    )
    assert arguments(cls.experimental_export_all_saved_models) == (
        "export_dir_base, input_receiver_fn_map, assets_extra=None, as_text=False, "
        "checkpoint_path=None"
    )
    assert arguments(cls.eval_dir) == "name=None"


def test_specs_settings_and_functions_have_the_old_arguments():
    assert arguments(estimator.WarmStartSettings) == (
        "ckpt_to_initialize_from, vars_to_warm_start='.*', var_name_to_vocab_info=None, "
        "var_name_to_prev_var_name=None"
    )
    assert arguments(estimator.TrainSpec) == (
        "input_fn, max_steps=None, hooks=None, saving_listeners=None"
    )
    assert arguments(estimator.EvalSpec) == (
        "input_fn, steps=100, name=None, hooks=None, exporters=None, start_delay_secs=120, "
        "throttle_secs=600"
    )
    assert arguments(estimator.train_and_evaluate) == "estimator, train_spec, eval_spec"
    assert arguments(estimator.add_metrics) == "estimator, metric_fn"
    assert arguments(estimator.EstimatorSpec) == (
        "mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, "
        "export_outputs=None, training_chief_hooks=None, training_hooks=None, scaffold=None, "
        "evaluation_hooks=None, prediction_hooks=None"
    )


def test_hooks_that_stop_training_have_the_old_arguments():
    every = "eval_dir=None, min_steps=0, run_every_secs=60, run_every_steps=None"
    experimental = estimator.experimental
    for name, limit in [
        ("higher", "threshold"),
        ("lower", "threshold"),
        ("no_increase", "max_steps_without_increase"),
        ("no_decrease", "max_steps_without_decrease"),
    ]:
        function = getattr(experimental, f"stop_if_{name}_hook")
        assert arguments(function) == f"estimator, metric_name, {limit}, {every}"
    assert arguments(experimental.make_early_stopping_hook) == (
        "estimator, should_stop_fn, run_every_secs=60, run_every_steps=None"
    )
    assert arguments(experimental.make_stop_at_checkpoint_step_hook) == (
        "estimator, last_step, wait_after_file_check_secs=30"
    )
    assert arguments(experimental.InMemoryEvaluatorHook) == (
        "estimator, input_fn, steps=None, hooks=None, name=None, every_n_iter=100"
    )


def test_input_functions_have_the_old_arguments():
    queue = "batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1"
    assert arguments(estimator.inputs.numpy_input_fn) == f"x, y=None, {queue}"
    assert arguments(estimator.inputs.pandas_input_fn) == (
        f"x, y=None, {queue}, target_column='target'"
    )
