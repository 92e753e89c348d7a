"""`tf.contrib.learn` as thin as programs used it: experiments, estimators and small data sets.

    def experiment_fn(run_config, hparams):
        estimator = tf.estimator.Estimator(model_fn, config=run_config, params=hparams)
        return learn.Experiment(estimator, train_input_fn, eval_input_fn, train_steps=1000)

    learn.learn_runner.run(experiment_fn, run_config=learn.RunConfig(model_dir="runs/first"))

Everything trains by tf-frame's `Estimator`; the canned estimators are in `canned`, and the readers
with queues in `readers`. Most monitors of tf.contrib.learn are not here; session hooks
replaced them.
"""

from tf_frame_legacy.contrib.learn import (
    datasets as datasets,
    learn_runner as learn_runner,
    preprocessing as preprocessing,
)
from tf_frame_legacy.contrib.learn.constants import (
    Environment as Environment,
    MetricKey as MetricKey,
    ModeKeys as ModeKeys,
    PredictionKey as PredictionKey,
    ProblemType as ProblemType,
    TaskType as TaskType,
)
from tf_frame_legacy.contrib.learn.estimator import Estimator as Estimator, SKCompat as SKCompat
from tf_frame_legacy.contrib.learn.experiment import Experiment as Experiment
from tf_frame_legacy.contrib.learn.export_strategy import (
    ExportStrategy as ExportStrategy,
    make_export_strategy as make_export_strategy,
)
from tf_frame_legacy.contrib.learn.metric_spec import MetricSpec as MetricSpec
from tf_frame_legacy.contrib.learn.model_fn_ops import ModelFnOps as ModelFnOps
from tf_frame_legacy.contrib.learn.run_config import RunConfig as RunConfig
