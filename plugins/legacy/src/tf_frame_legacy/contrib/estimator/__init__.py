"""`tf.contrib.estimator`: towers of a model function, optimizers and estimators with additions.

model_fn = estimator.replicate_model_fn(model_fn, devices=["/device:GPU:0", "/device:GPU:1"])

The hooks are those of `tf.estimator.experimental`.
"""

from tf_frame_legacy.contrib.estimator.extenders import (
    clip_gradients_by_norm as clip_gradients_by_norm,
    export_all_saved_models as export_all_saved_models,
    export_saved_model_for_mode as export_saved_model_for_mode,
    forward_features as forward_features,
    read_eval_metrics as read_eval_metrics,
)
from tf_frame_legacy.contrib.estimator.replicate import (
    replicate_model_fn as replicate_model_fn,
)
from tf_frame_legacy.contrib.estimator.tower_optimizer import TowerOptimizer as TowerOptimizer
