import pytest

from tf_frame.profiling.report.operation_kinds import Priority, operation_kind, operation_priority
from tf_frame.profiling.step_profile import Node


@pytest.mark.parametrize(
    ("name", "type_", "kind"),
    [
        ("conv1/Relu", "_FusedConv2D", "convolution"),
        ("gradients/conv1/Conv2D_grad/Conv2DBackpropFilter", "Conv2DBackpropFilter", "convolution"),
        ("conv1/depthwise", "DepthwiseConv2dNative", "convolution"),
        ("fc/MatMul", "MatMul", "matmul"),
        ("fc/MatMul", "_MklMatMul", "matmul"),
        ("norm", "_MklNativeFusedBatchNormV3", "batch norm"),
        ("BatchNorm/FusedBatchNormV3", "FusedBatchNormV3", "batch norm"),
        ("conv1/BatchNorm/AssignMovingAvg/sub", "Sub", "batch norm"),
        ("conv1/batch_normalization/moments/mean", "Mean", "batch norm"),
        ("Momentum/update_w/ResourceApplyMomentum", "ResourceApplyMomentum", "optimizer"),
        ("AdamW/update_w/mul_3", "Mul", "optimizer"),
        ("ExponentialMovingAverage/AssignMovingAvg/sub", "Sub", "optimizer"),
        ("fc/kernel/Regularizer/l2_regularizer/L2Loss", "L2Loss", "weight penalty"),
        ("gradients/AddN_4", "AddN", "gradient sum"),
        ("conv1/weights/sum_grads", "AddN", "gradient sum"),
        ("accumulate/add", "AddV2", "gradient sum"),
        ("tower/AddN", "AddN", "elementwise"),
        ("histogram", "HistogramSummary", "summary"),
        ("metric/PyFunc", "EagerPyFunc", "Python function"),
        ("input/IteratorGetNext", "IteratorGetNext", "input"),
        ("input/Cast", "Cast", "input"),
        ("sync_replicas/fifo_queue_Dequeue", "QueueDequeueV2", "communication"),
        ("w/read/_3", "_HostRecv", "communication"),
        ("all_reduce/CollectiveReduceV2", "CollectiveReduceV2", "communication"),
        ("conv1/Conv2D-0-TransposeNHWCToNCHW-LayoutOptimizer", "Transpose", "data movement"),
        ("conv1/Relu", "Relu", "elementwise"),
        ("gradients/conv1/Relu_grad/ReluGrad", "ReluGrad", "elementwise"),
        ("pool1/MaxPool", "MaxPool", "pooling"),
        ("rnn/bw/BlockLSTMGrad", "BlockLSTMGrad", "recurrent cell"),
        ("up", "ResizeBilinear", "resize"),
        ("loss/xentropy", "SparseSoftmaxCrossEntropyWithLogits", "softmax and loss"),
        ("loss/Mean", "Mean", "reduction"),
        ("save/SaveV2", "SaveV2", "files"),
        ("x", "PartitionedCall", "function call"),
        ("x", "SomeOpOfAPlugin", "other"),
    ],
)
def test_kind(name, type_, kind):
    assert operation_kind(Node(name, type_)) == kind


@pytest.mark.parametrize(
    ("name", "type_", "device", "priority"),
    [
        ("a", "Conv2D", "/device:CPU:0", Priority.HOST),
        ("a", "Conv2D", "/device:GPU:0", Priority.DEVICE),
        ("a", "PyFunc", "/device:CPU:0", Priority.HOST),
        ("a", "While", "/device:CPU:0", Priority.FUNCTION),
        ("input/IteratorGetNext", "IteratorGetNext", "/device:CPU:0", Priority.INPUT),
        ("input/Cast", "Cast", "/device:CPU:0", Priority.HOST),
        ("sync_replicas/dequeue", "QueueDequeueV2", "/device:CPU:0", Priority.WAIT),
        ("mean", "ResourceAccumulatorTakeGradient", "/device:CPU:0", Priority.WAIT),
        ("a", "_Recv", "/device:GPU:0", Priority.WAIT),
    ],
)
def test_class(name, type_, device, priority):
    assert operation_priority(Node(name, type_), device) is priority
