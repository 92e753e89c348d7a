"""The optimizers of tf.contrib.opt, `tf.train.Optimizer` objects with the slot names of then."""

from tf_frame_legacy.contrib.opt.adam import (
    AdaMaxOptimizer as AdaMaxOptimizer,
    LazyAdamOptimizer as LazyAdamOptimizer,
    NadamOptimizer as NadamOptimizer,
)
from tf_frame_legacy.contrib.opt.external import (
    ExternalOptimizerInterface as ExternalOptimizerInterface,
    ScipyOptimizerInterface as ScipyOptimizerInterface,
)
from tf_frame_legacy.contrib.opt.lars import LARSOptimizer as LARSOptimizer
from tf_frame_legacy.contrib.opt.moving_average import (
    MovingAverageOptimizer as MovingAverageOptimizer,
)
from tf_frame_legacy.contrib.opt.sign import (
    AddSignOptimizer as AddSignOptimizer,
    PowerSignOptimizer as PowerSignOptimizer,
)
from tf_frame_legacy.contrib.opt.weight_decay import (
    AdamWOptimizer as AdamWOptimizer,
    DecoupledWeightDecayExtension as DecoupledWeightDecayExtension,
    MomentumWOptimizer as MomentumWOptimizer,
    extend_with_decoupled_weight_decay as extend_with_decoupled_weight_decay,
)
from tf_frame_legacy.contrib.opt.wrappers import (
    MultitaskOptimizerWrapper as MultitaskOptimizerWrapper,
    VariableClippingOptimizer as VariableClippingOptimizer,
    clip_gradients_by_global_norm as clip_gradients_by_global_norm,
)
