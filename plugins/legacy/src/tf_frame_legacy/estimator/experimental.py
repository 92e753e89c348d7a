"""The names of `tf.estimator.experimental`, for scripts that were written for tf.estimator."""

from tf_frame.estimator.early_stopping import (
    make_early_stopping_hook as make_early_stopping_hook,
    stop_if_higher_hook as stop_if_higher_hook,
    stop_if_lower_hook as stop_if_lower_hook,
    stop_if_no_decrease_hook as stop_if_no_decrease_hook,
    stop_if_no_increase_hook as stop_if_no_increase_hook,
)
from tf_frame.estimator.export import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
    build_supervised_input_receiver_fn_from_input_fn,  # noqa: F401
)
from tf_frame.estimator.in_memory_evaluator import InMemoryEvaluatorHook as InMemoryEvaluatorHook
from tf_frame.estimator.train_and_eval.stop_at_checkpoint import (
    make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook,
)
