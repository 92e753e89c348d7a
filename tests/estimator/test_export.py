from tf_frame.estimator import export


def test_the_namespace_has_the_names_of_tf_estimator_export_and_of_supervised_receivers():
    assert all(callable(getattr(export, name)) for name in export.__all__)
    assert {
        "ClassificationOutput",
        "EvalOutput",
        "ExportOutput",
        "PredictOutput",
        "RegressionOutput",
        "ServingInputReceiver",
        "TensorServingInputReceiver",
        "build_parsing_serving_input_receiver_fn",
        "build_raw_serving_input_receiver_fn",
        "build_raw_supervised_input_receiver_fn",
        "build_supervised_input_receiver_fn_from_input_fn",
        "SupervisedInputReceiver",
        "UnsupervisedInputReceiver",
        "TrainOutput",
    } == set(export.__all__)
