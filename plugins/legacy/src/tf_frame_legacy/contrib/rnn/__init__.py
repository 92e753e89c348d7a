"""`tf.contrib.rnn` and `tf.nn.rnn_cell`: cells, wrappers and the functions that unroll them."""

import tensorflow.compat.v1 as _tf
from tensorflow.python.ops import rnn as _rnn

from tf_frame_legacy.contrib.rnn.attention import AttentionCellWrapper as AttentionCellWrapper
from tf_frame_legacy.contrib.rnn.bidirectional import (
    stack_bidirectional_dynamic_rnn as stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn as stack_bidirectional_rnn,
)
from tf_frame_legacy.contrib.rnn.block import (
    GRUBlockCell as GRUBlockCell,
    GRUBlockCellV2 as GRUBlockCellV2,
    LSTMBlockCell as LSTMBlockCell,
    LSTMBlockFusedCell as LSTMBlockFusedCell,
    LSTMBlockWrapper as LSTMBlockWrapper,
)
from tf_frame_legacy.contrib.rnn.core import (
    _BIAS_VARIABLE_NAME as _BIAS_VARIABLE_NAME,
    _WEIGHTS_VARIABLE_NAME as _WEIGHTS_VARIABLE_NAME,
    BasicLSTMCell as BasicLSTMCell,
    BasicRNNCell as BasicRNNCell,
    DeviceWrapper as DeviceWrapper,
    DropoutWrapper as DropoutWrapper,
    GRUCell as GRUCell,
    LayerRNNCell as LayerRNNCell,
    LSTMCell as LSTMCell,
    LSTMStateTuple as LSTMStateTuple,
    MultiRNNCell as MultiRNNCell,
    ResidualWrapper as ResidualWrapper,
    RNNCell as RNNCell,
    _like_rnncell as _like_rnncell,
    assert_like_rnncell as assert_like_rnncell,
)
from tf_frame_legacy.contrib.rnn.coupled import (
    CoupledInputForgetGateLSTMCell as CoupledInputForgetGateLSTMCell,
)
from tf_frame_legacy.contrib.rnn.fused import (
    FusedRNNCell as FusedRNNCell,
    FusedRNNCellAdaptor as FusedRNNCellAdaptor,
    TimeReversedFusedRNN as TimeReversedFusedRNN,
)
from tf_frame_legacy.contrib.rnn.gated import (
    CFNCell as CFNCell,
    IntersectionRNNCell as IntersectionRNNCell,
    MinimalRNNCell as MinimalRNNCell,
    SRUCell as SRUCell,
    UGRNNCell as UGRNNCell,
)
from tf_frame_legacy.contrib.rnn.grid import (
    BidirectionalGridLSTMCell as BidirectionalGridLSTMCell,
    GridLSTMCell as GridLSTMCell,
    TimeFreqLSTMCell as TimeFreqLSTMCell,
)
from tf_frame_legacy.contrib.rnn.independent import (
    IndRNNCell as IndRNNCell,
    IndyGRUCell as IndyGRUCell,
    IndyLSTMCell as IndyLSTMCell,
)
from tf_frame_legacy.contrib.rnn.layer_norm import (
    LayerNormBasicLSTMCell as LayerNormBasicLSTMCell,
    LayerNormLSTMCell as LayerNormLSTMCell,
    WeightNormLSTMCell as WeightNormLSTMCell,
)
from tf_frame_legacy.contrib.rnn.parts import _Linear as _Linear, _linear as _linear
from tf_frame_legacy.contrib.rnn.special import (
    Conv1DLSTMCell as Conv1DLSTMCell,
    Conv2DLSTMCell as Conv2DLSTMCell,
    Conv3DLSTMCell as Conv3DLSTMCell,
    ConvLSTMCell as ConvLSTMCell,
    GLSTMCell as GLSTMCell,
    NASCell as NASCell,
    PhasedLSTMCell as PhasedLSTMCell,
)
from tf_frame_legacy.contrib.rnn.wrappers import (
    CompiledWrapper as CompiledWrapper,
    EmbeddingWrapper as EmbeddingWrapper,
    HighwayWrapper as HighwayWrapper,
    InputProjectionWrapper as InputProjectionWrapper,
    OutputProjectionWrapper as OutputProjectionWrapper,
)

static_rnn = _tf.nn.static_rnn
static_state_saving_rnn = _tf.nn.static_state_saving_rnn
static_bidirectional_rnn = _tf.nn.static_bidirectional_rnn
transpose_batch_time = _rnn._transpose_batch_time
best_effort_input_batch_size = _rnn._best_effort_input_batch_size
