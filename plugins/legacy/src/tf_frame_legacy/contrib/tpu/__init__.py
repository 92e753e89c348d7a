"""`tf.contrib.tpu` and `tf.estimator.tpu` on machines without a TPU.

    config = tpu.RunConfig(model_dir="runs/first", tpu_config=tpu.TPUConfig(num_shards=8))
    estimator = tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=32)
    estimator.train(input_fn, max_steps=1000)  # params["batch_size"] is 32

TPUEstimator is an `Estimator` that tells the functions of a program their batch size. The original
did the same with `use_tpu=False`; `use_tpu=True` is an error. The functions that compile for a TPU
are still in `tensorflow.compat.v1.tpu`.
"""

from tf_frame_legacy.contrib.tpu.config import (
    InputPipelineConfig as InputPipelineConfig,
    RunConfig as RunConfig,
    TPUConfig as TPUConfig,
)
from tf_frame_legacy.contrib.tpu.cross_shard_optimizer import (
    CrossShardOptimizer as CrossShardOptimizer,
)
from tf_frame_legacy.contrib.tpu.estimator import (
    ExportSavedModelApiVersion as ExportSavedModelApiVersion,
    TPUEstimator as TPUEstimator,
    export_estimator_savedmodel as export_estimator_savedmodel,
)
from tf_frame_legacy.contrib.tpu.spec import TPUEstimatorSpec as TPUEstimatorSpec
