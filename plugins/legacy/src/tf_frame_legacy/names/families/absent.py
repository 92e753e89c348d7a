"""Modules of tf.contrib that are not offered, with the reason and the remedy."""

from tf_frame_legacy.names.row import not_offered

_NO_OPS = "TensorFlow 2 has not its operations; "
_IO = "the package tensorflow_io has such a dataset"
_REASONS = {
    "all_reduce": "use tf-frame's clones, or tensorflow.python.distribute",
    "bayesflow": "the package tensorflow_probability has it (tfp.monte_carlo)",
    "bigtable": _NO_OPS + _IO,
    "boosted_trees": _NO_OPS + "use the package tensorflow_decision_forests",
    "cloud": _NO_OPS + _IO,
    "cmake": "it has no functions",
    "coder": _NO_OPS + "use the package tensorflow_compression",
    "constrained_optimization": "the package tensorflow_constrained_optimization has it",
    "copy_graph": "copy a graph by tf.import_graph_def(graph.as_graph_def())",
    "decision_trees": _NO_OPS + "use the package tensorflow_decision_forests",
    "ffmpeg": _NO_OPS + "decode with the package tensorflow_io, or by ffmpeg beforehand",
    "fused_conv": _NO_OPS + "use tf.nn.conv2d, tf.nn.bias_add and an activation",
    "graph_editor": "it changed graphs in ways that functions of TensorFlow 2 do not allow; build "
    "the graph anew, or edit its GraphDef",
    "grid_rnn": "use tf.contrib.rnn.GridLSTMCell, or keep a copy of the cells",
    "hadoop": _NO_OPS + _IO,
    "ignite": _NO_OPS + _IO,
    "input_pipeline": _NO_OPS + "use tf.data",
    "integrate": "use tfp.math.ode of tensorflow_probability, or scipy.integrate in tf.py_func",
    "kafka": _NO_OPS + _IO,
    "kernel_methods": "use tf.keras.layers.experimental.RandomFourierFeatures or scikit-learn",
    "kfac": "the package kfac had it; it does not support TensorFlow 2",
    "kinesis": _NO_OPS + _IO,
    "labeled_tensor": "use plain tensors, or the package xarray",
    "libsvm": _NO_OPS + "convert the files, for instance by sklearn.datasets.load_svmlight_file",
    "linear_optimizer": "use tf.train.FtrlOptimizer",
    "makefile": "it has no functions",
    "meta_graph_transform": "it stood on the graph transform tool, which is gone; use tf.lite",
    "model_pruning": "use the package tensorflow_model_optimization, or mask the weights in the "
    "model",
    "mpi_collectives": _NO_OPS + "use Horovod, or tf-frame's worker processes",
    "nearest_neighbor": _NO_OPS + "use tf.math.top_k of distances, or the package scann",
    "periodic_resample": _NO_OPS + "use tf.reshape and tf.transpose, or tf.nn.depth_to_space",
    "quantization": "use tf.quantization",
    "receptive_field": "the package receptive_field has it",
    "recurrent": "use tf.while_loop or tf.nn.dynamic_rnn",
    "reduce_slice_ops": _NO_OPS + "use tf.cumsum and tf.gather",
    "remote_fused_graph": _NO_OPS + "use TensorFlow Lite's delegates",
    "rpc": _NO_OPS + "call the server in tf.py_func",
    "saved_model": "Keras 3 has no such format; use model.export and tf.saved_model.load",
    "session_bundle": "use tf.saved_model",
    "solvers": "use tfp.math of tensorflow_probability, or tf.linalg",
    "specs": "write the layers out",
    "stat_summarizer": "use RunMetadata, or --profile_at_step",
    "tensor_forest": _NO_OPS + "use the package tensorflow_decision_forests",
    "tensorrt": "tensorflow.python.compiler.tensorrt converts saved models where TensorFlow is "
    "built with TensorRT; 2.18 and later are not",
    "testing": "use tf.test, and tf.train.summary_iterator",
    "text": _NO_OPS + "compute skip-grams in NumPy, or use the package tensorflow_text",
    "timeseries": "use tfp.sts of tensorflow_probability",
    "verbs": "use grpc, TensorFlow's default",
}

ROWS = [
    row
    for name, reason in _REASONS.items()
    for row in not_offered(f"tf.contrib.{name}", "*", reason)
]
