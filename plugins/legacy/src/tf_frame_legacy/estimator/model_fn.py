"""Names of losses in evaluations, of `tensorflow_estimator.python.estimator.model_fn`."""

LOSS_METRIC_KEY = "loss"
AVERAGE_LOSS_METRIC_KEY = "average_loss"
