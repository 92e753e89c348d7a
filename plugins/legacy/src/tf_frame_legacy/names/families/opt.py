"""tf.contrib.opt."""

from tf_frame_legacy.names.row import alias, not_offered, reimplemented

_TRAINING = "tf.contrib.opt.python.training"
_OURS = "tf_frame_legacy.contrib.opt"
_FILES = {
    "adamax": "AdaMaxOptimizer",
    "addsign": "AddSignOptimizer",
    "external_optimizer": "ExternalOptimizerInterface ScipyOptimizerInterface",
    "lars_optimizer": "LARSOptimizer",
    "lazy_adam_optimizer": "LazyAdamOptimizer",
    "moving_average_optimizer": "MovingAverageOptimizer",
    "multitask_optimizer_wrapper": "MultitaskOptimizerWrapper clip_gradients_by_global_norm",
    "nadam_optimizer": "NadamOptimizer",
    "powersign": "PowerSignOptimizer",
    "variable_clipping_optimizer": "VariableClippingOptimizer",
    "weight_decay_optimizers": "AdamWOptimizer DecoupledWeightDecayExtension MomentumWOptimizer "
    "extend_with_decoupled_weight_decay",
}
_DISTRIBUTED = (
    "it needs parameter servers of its own kind; use tf.train.SyncReplicasOptimizer, or tf-frame's "
    "clones"
)

ROWS = [
    *(
        row
        for file, names in _FILES.items()
        for row in reimplemented(("tf.contrib.opt", f"{_TRAINING}.{file}"), _OURS, names)
    ),
    *not_offered(
        "tf.contrib.opt",
        "AGNCustomGetter AGNOptimizer DropStaleGradientOptimizer ElasticAverageCustomGetter "
        "ElasticAverageOptimizer ModelAverageCustomGetter ModelAverageOptimizer",
        _DISTRIBUTED,
    ),
    *not_offered(
        "tf.contrib.opt",
        "DelayCompensatedGradientDescentOptimizer",
        "its operation is gone; use tf.train.GradientDescentOptimizer",
    ),
    *not_offered(
        "tf.contrib.opt",
        "AdamGSOptimizer LazyAdamGSOptimizer",
        "use tf.train.AdamOptimizer or LazyAdamOptimizer, which keep the powers of the betas "
        "themselves",
    ),
    *not_offered(
        "tf.contrib.opt",
        "GGTOptimizer RegAdagradOptimizer ShampooOptimizer",
        "hardly any program used it; use tf.train.AdagradOptimizer",
    ),
    *alias(
        "tf.contrib.optimizer_v2",
        "tensorflow.compat.v1.train",
        "AdadeltaOptimizer AdagradOptimizer AdamOptimizer GradientDescentOptimizer "
        "MomentumOptimizer RMSPropOptimizer",
    ),
    *not_offered(
        "tf.contrib.optimizer_v2", "OptimizerV2", "derive from tf.train.Optimizer instead"
    ),
]
