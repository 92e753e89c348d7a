import importlib
import inspect
import operator
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

import tf_frame.estimator.estimator
import tf_frame.hooks
from tf_frame_legacy import estimator

from ...signatures import list_arguments


def words(text):
    return text.split()


NAMES = words(
    """
    BaselineClassifier BaselineEstimator BaselineRegressor BestExporter BinaryClassHead
    CheckpointSaverHook CheckpointSaverListener DNNClassifier DNNEstimator
    DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor DNNRegressor
    Estimator EstimatorSpec EvalSpec Exporter FeedFnHook FinalExporter FinalOpsHook
    GlobalStepWaiterHook Head LatestExporter LinearClassifier LinearEstimator LinearRegressor
    LoggingTensorHook LogisticRegressionHead ModeKeys MultiClassHead MultiHead MultiLabelHead
    NanLossDuringTrainingError NanTensorHook PoissonRegressionHead ProfilerHook RegressionHead
    RunConfig SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook SessionRunValues
    StepCounterHook StopAtStepHook SummarySaverHook TrainSpec VocabInfo WarmStartSettings
    add_metrics classifier_parse_example_spec experimental export inputs
    regressor_parse_example_spec train_and_evaluate
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


def test_the_package_has_the_old_names_and_no_others():
    assert dir(estimator) == NAMES
    for name in NAMES:
        assert getattr(estimator, name) is getattr(estimator, name)
    with pytest.raises(AttributeError, match="has no attribute 'BoostedTreesClassifier'"):
        estimator.BoostedTreesClassifier  # noqa: B018


@pytest.mark.parametrize("part", IN_PARTS)
def test_its_parts_have_the_old_names(part):
    module = getattr(estimator, part)
    assert module is importlib.import_module(f"tf_frame_legacy.estimator.{part}")
    for name in words(IN_PARTS[part]):
        assert callable(getattr(module, name)), name


def test_importing_the_package_loads_nothing():
    program = (
        "import sys; from tf_frame_legacy import estimator; assert estimator\n"
        "print([name for name in sys.modules if name.startswith('tensorflow')])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_classes_of_sessions_are_those_of_tensorflow():
    for name in words(
        "SessionRunHook SessionRunArgs SessionRunContext SessionRunValues CheckpointSaverListener "
        "NanLossDuringTrainingError SecondOrStepTimer VocabInfo"
    ):
        assert getattr(estimator, name) is getattr(tf.train, name)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("Hook")])
def test_stock_hooks_are_hooks_of_tensorflow_with_its_arguments(name):
    hook, stock = getattr(estimator, name), getattr(tf.train, name)
    assert issubclass(hook, tf.train.SessionRunHook)
    if name != "SessionRunHook":
        assert hook is getattr(tf_frame.hooks, name)
        names = list(inspect.signature(stock).parameters)
        assert list(inspect.signature(hook).parameters)[: len(names)] == names


def test_an_estimator_is_one_of_tf_frame():
    assert issubclass(estimator.Estimator, tf_frame.estimator.estimator.Estimator)
    exporters = (estimator.BestExporter, estimator.FinalExporter, estimator.LatestExporter)
    assert all(issubclass(exporter, estimator.Exporter) for exporter in exporters)
    outputs = ("ClassificationOutput", "PredictOutput", "RegressionOutput")
    for name in outputs:
        assert issubclass(getattr(estimator.export, name), estimator.export.ExportOutput)


EVERY = "eval_dir=None, min_steps=0, run_every_secs=60, run_every_steps=None"
QUEUE = "batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1"
EXPORT = "assets_extra=None, as_text=False, checkpoint_path=None"
ARGUMENTS = {
    "Estimator": "model_fn, model_dir=None, config=None, params=None, warm_start_from=None",
    "Estimator.train": "input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None",
    "Estimator.evaluate": "input_fn, steps=None, hooks=None, checkpoint_path=None, name=None",
    "Estimator.predict": "input_fn, predict_keys=None, hooks=None, checkpoint_path=None, "
    "yield_single_examples=True",
    "Estimator.export_saved_model": "export_dir_base, serving_input_receiver_fn, "
    f"{EXPORT}, experimental_mode='infer'",
    "Estimator.export_savedmodel": "export_dir_base, serving_input_receiver_fn, "
    f"{EXPORT}, strip_default_attrs=False",
    "Estimator.experimental_export_all_saved_models": "export_dir_base, input_receiver_fn_map, "
    f"{EXPORT}",
    "Estimator.eval_dir": "name=None",
    "WarmStartSettings": "ckpt_to_initialize_from, vars_to_warm_start='.*', "
    "var_name_to_vocab_info=None, var_name_to_prev_var_name=None",
    "TrainSpec": "input_fn, max_steps=None, hooks=None, saving_listeners=None",
    "EvalSpec": "input_fn, steps=100, name=None, hooks=None, exporters=None, "
    "start_delay_secs=120, throttle_secs=600",
    "train_and_evaluate": "estimator, train_spec, eval_spec",
    "add_metrics": "estimator, metric_fn",
    "EstimatorSpec": "mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, "
    "export_outputs=None, training_chief_hooks=None, training_hooks=None, scaffold=None, "
    "evaluation_hooks=None, prediction_hooks=None",
    "experimental.stop_if_higher_hook": f"estimator, metric_name, threshold, {EVERY}",
    "experimental.stop_if_lower_hook": f"estimator, metric_name, threshold, {EVERY}",
    "experimental.stop_if_no_increase_hook": "estimator, metric_name, "
    f"max_steps_without_increase, {EVERY}",
    "experimental.stop_if_no_decrease_hook": "estimator, metric_name, "
    f"max_steps_without_decrease, {EVERY}",
    "experimental.make_early_stopping_hook": "estimator, should_stop_fn, run_every_secs=60, "
    "run_every_steps=None",
    "experimental.make_stop_at_checkpoint_step_hook": "estimator, last_step, "
    "wait_after_file_check_secs=30",
    "experimental.InMemoryEvaluatorHook": "estimator, input_fn, steps=None, hooks=None, "
    "name=None, every_n_iter=100",
    "inputs.numpy_input_fn": f"x, y=None, {QUEUE}",
    "inputs.pandas_input_fn": f"x, y=None, {QUEUE}, target_column='target'",
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_classes_and_functions_have_the_old_arguments(name):
    assert list_arguments(operator.attrgetter(name)(estimator)) == ARGUMENTS[name]


def test_modes_are_the_old_words():
    modes = estimator.ModeKeys
    assert (modes.TRAIN, modes.EVAL, modes.PREDICT) == ("train", "eval", "infer")
