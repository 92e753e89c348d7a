"""The names of `tf.estimator.export`, for scripts that were written for tf.estimator."""

from tf_frame.estimator.export import (
    ClassificationOutput as ClassificationOutput,
    EvalOutput as EvalOutput,
    ExportOutput as ExportOutput,
    PredictOutput as PredictOutput,
    RegressionOutput as RegressionOutput,
    ServingInputReceiver as ServingInputReceiver,
    TensorServingInputReceiver as TensorServingInputReceiver,
    build_parsing_serving_input_receiver_fn as build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn as build_raw_serving_input_receiver_fn,
)
