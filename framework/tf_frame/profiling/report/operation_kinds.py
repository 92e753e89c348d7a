"""Finds the kind and the priority of an operation from its type and name.

A kind, such as `convolution`, groups operations in the tables of a report. A priority says whether
an operation computes, waits for input or waits for other tasks, to divide a step into phases.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable

from tf_frame.profiling.operation_names import is_gpu, plain_type
from tf_frame.profiling.step_profile import Node

INPUT, COMMUNICATION, PYTHON = "input", "communication", "Python function"
CONVOLUTION, MATMUL, BATCH_NORM, OPTIMIZER = "convolution", "matmul", "batch norm", "optimizer"
SUMMARY, GRADIENT_SUM, POOLING, RESIZE = "summary", "gradient sum", "pooling", "resize"
WEIGHT_PENALTY, RECURRENT = "weight penalty", "recurrent cell"
REDUCTION, LOSS, RANDOM, ELEMENTWISE = "reduction", "softmax and loss", "random", "elementwise"
MOVEMENT, VARIABLES, FILES = "data movement", "variables", "files"
CONTROL, FUNCTION, OTHER = "constants and control flow", "function call", "other"

# Kinds that are expected to take the time of a step.
NUMERIC = {CONVOLUTION, MATMUL, BATCH_NORM, OPTIMIZER, GRADIENT_SUM, POOLING, RESIZE}
NUMERIC |= {WEIGHT_PENALTY, RECURRENT, REDUCTION, LOSS, RANDOM, ELEMENTWISE}


class Priority(enum.IntEnum):
    """Priority of an operation: if several run at an instant, its time goes to the smallest."""

    DEVICE = 0
    HOST = 1
    FUNCTION = 2  # The operations inside have records of their own.
    INPUT = 3
    WAIT = 4


_SYNC = re.compile(r"(^|/)(sync_replicas|sync_token)|SyncAccumulator")
_INPUT = re.compile(r"(Iterator\w*GetNext\w*|OptionalGetValue|(Queue|Barrier)\w*(Dequeue|Take)\w*)")
_WAIT = re.compile(
    r"_?(Host)?(Send|Recv)|RecvTensor|Collective\w+|_?Nccl\w+|\w*AccumulatorTakeGradient"
)
_FUNCTION = re.compile(
    r"(Stateful)?PartitionedCall|(Stateless)?(While|If|Case)|_While|_If|RemoteCall"
    r"|SymbolicGradient|XlaLaunch|_XlaRun"
)
_OPTIMIZER_SCOPE = re.compile(
    r"(Adam\w*|LAMB|Lamb|LARS|Momentum|RMSProp|GradientDescent|Adagrad\w*|Adadelta|Ftrl"
    r"|ExponentialMovingAverage)(_\d+)?|update_.+"
)
_SUM_SCOPE = re.compile(r"accumulate(_\d+)?|all_reduce\w*|sum_grads(_\d+)?")
_PENALTY_SCOPE = re.compile(r"(Regularizer|l[12]_regularizer|l1_l2_regularizer)(_\d+)?")
_NORM_SCOPE = re.compile(r"batch_?norm(alization)?\w*|assignmovingavg\w*", re.IGNORECASE)

# The first pattern that is the whole type decides.
_TYPES = [
    (PYTHON, r"PyFunc\w*|EagerPyFunc|NumpyFunction"),
    (COMMUNICATION, _WAIT.pattern),
    (INPUT, _INPUT.pattern),
    (SUMMARY, r"\w*Summary\w*"),
    (OPTIMIZER, r"(Resource)?(Sparse)?Apply[A-Z]\w*"),
    (BATCH_NORM, r"_?FusedBatchNorm\w*|BatchNorm\w*"),
    (CONVOLUTION, r"\w*Conv[23]D\w*|\w*DepthwiseConv\w*|Dilation2D\w*|Conv"),
    (MATMUL, r"\w*MatMul\w*|Einsum"),
    (RECURRENT, r"BlockLSTM\w*|LSTMBlockCell\w*|GRUBlockCell\w*|CudnnRNN\w*"),
    (POOLING, r"\w*(Max|Avg)Pool\w*"),
    (RESIZE, r"Resize\w+|CropAndResize\w*"),
    (LOSS, r"\w*Softmax\w*|\w*CrossEntropy\w*|CTCLoss\w*|L2Loss"),
    (REDUCTION, r"Sum|Mean|Max|Min|Prod|All|Any|Arg(Max|Min)|BiasAddGrad|(Uns|S)egment\w+|Cumsum"),
    (RANDOM, r"\w*Random\w*|Multinomial|TruncatedNormal"),
    (FILES, r"Save\w*|Restore\w*|MergeV2Checkpoints|ReadFile|WriteFile|ShardedFilename"),
    (
        MOVEMENT,
        r"Gather\w*|ScatterNd\w*|(Strided)?Slice\w*|Concat\w*|Split\w*|Pack|Unpack|Tile\w*|"
        r"Transpose|Reshape|(Mirror)?Pad\w*|ExpandDims|Squeeze|Reverse\w*|Where|BroadcastTo|"
        r"DynamicStitch|DynamicPartition|OneHot|(Space|Depth|Batch)To\w+|Shape\w*|Fill|ZerosLike|"
        r"OnesLike|MEMCPY\w*|Memcpy\w*|Copy|DeepCopy|Roll|BroadcastGradientArgs|ConcatOffset",
    ),
    (VARIABLES, r"\w*VariableV?\d*|ReadVariableOp|Assign\w*|_?VarHandles?Op|VarIsInitializedOp\w*"),
    (
        CONTROL,
        r"(Ref)?(Switch|Merge|Enter|Exit|NextIteration|Identity)N?|LoopCond|NoOp|Const|_Arg|"
        r"_Retval|PlaceholderWithDefault|Placeholder|StopGradient|PreventGradient|Assert|"
        r"_SwitchN",
    ),
    (FUNCTION, _FUNCTION.pattern),
    (
        ELEMENTWISE,
        r"_?(Fused)?(Add|Sub|Mul|Div|RealDiv|Maximum|Minimum|BiasAdd|SquaredDifference|Pow|Mod|"
        r"FloorDiv|FloorMod|TruncateDiv|DivNoNan|MulNoNan|Xdivy|Xlogy|Select)(V1|V2|N)?|"
        r"(Relu|Relu6|LeakyRelu|Elu|Selu|Sigmoid|Tanh|Softplus|Softsign|Rsqrt|Sqrt|Reciprocal|"
        r"Inv)(Grad)?|Neg|Square|Exp|Expm1|Log|Log1p|Abs|Sign|Erf|Erfc|Floor|Ceil|Round|Rint|Sin|"
        r"Cos|Cast|ClipByValue|Less(Equal)?|Greater(Equal)?|(Not)?Equal|Logical\w+|Is(Nan|Finite|Inf)|"
        r"Range|LinSpace|FakeQuant\w*|_FusedElementwise\w*|LRN\w*",
    ),
]
_COMPILED = [(kind, re.compile(pattern)) for kind, pattern in _TYPES]
# Kinds of types that occur everywhere: the scope of such an operation says more.
_BROAD = {REDUCTION, ELEMENTWISE, MOVEMENT, VARIABLES, CONTROL, OTHER, MATMUL, LOSS, RANDOM}


def operation_kind(node: Node) -> str:
    """Returns the kind of an operation, such as `convolution`, by its type or by its scope."""
    type_ = plain_type(node.type)
    kind = _type_kind(type_)
    if kind == INPUT:
        return COMMUNICATION if _SYNC.search(node.name) else INPUT
    if kind not in _BROAD:
        return kind
    parts = node.name.split("/")
    if parts[0] == "input":
        return INPUT
    if type_ == "AddN" and any(part.startswith("gradients") for part in parts):
        return GRADIENT_SUM
    return _scope_kind(parts) or kind


def _type_kind(type_: str) -> str:
    return next((kind for kind, pattern in _COMPILED if pattern.fullmatch(type_)), OTHER)


def _scope_kind(parts: list[str]) -> str:
    matches: list[tuple[str, Callable[[str], object]]] = [
        (OPTIMIZER, _OPTIMIZER_SCOPE.fullmatch),
        (GRADIENT_SUM, _SUM_SCOPE.fullmatch),
        (WEIGHT_PENALTY, _PENALTY_SCOPE.fullmatch),
        (BATCH_NORM, _NORM_SCOPE.fullmatch),
    ]
    return next((kind for kind, matched in matches if any(map(matched, parts))), "")


def operation_priority(node: Node, device: str) -> Priority:
    """Returns the priority of an operation on a device."""
    if _WAIT.fullmatch(node.type):
        return Priority.WAIT
    if _INPUT.fullmatch(node.type):
        # The queue of tokens of synchronous training.
        return Priority.WAIT if _SYNC.search(node.name) else Priority.INPUT
    if _FUNCTION.fullmatch(node.type):
        return Priority.FUNCTION
    return Priority.DEVICE if is_gpu(device) else Priority.HOST
