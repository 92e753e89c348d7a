"""List of the private parts of TensorFlow that tf-frame and tf-frame-legacy use, with reasons.

A new TensorFlow may change private parts without notice; to move tf-frame to a new
version, begin here. A test finds private imports and attributes that are not
listed, and lines of the list that nothing uses any more.
"""

from __future__ import annotations

# Module -> why it is imported.
MODULES = {
    "tensorflow.core.protobuf.config_pb2": (
        "the message CallableOptions of a prepared call; tf.compat.v1 does not export it"
    ),
    "tensorflow.core.protobuf.rewriter_config_pb2": (
        "the message of ConfigProto.graph_options.rewrite_options, for its enums; "
        "tf.compat.v1 does not export it"
    ),
    "tensorflow.python.client.session": (
        "its class BaseSession: ProfileContext of old patches it, and tests count its runs; "
        "tf.compat.v1.Session is only a subclass"
    ),
    "tensorflow.python.util.deprecation": "its switch, see _PRINT_DEPRECATION_WARNINGS",
    "tensorflow.python.profiler.internal._pywrap_profiler": (
        "tells whether another profiler session is active, which the public API only raises for"
    ),
    "tensorflow.python.profiler.profiler_v2": (
        "lets go of a profiler session whose export failed; the public tf.profiler.experimental "
        "keeps it, and no other can begin"
    ),
}

# Attribute -> why it is used.
ATTRIBUTES = {
    "_PRINT_DEPRECATION_WARNINGS": "old programs call little else than deprecated functions; the "
    "public silence() holds for a block of code, and hides deprecations of everybody",
    "_add_control_input": "orders an op after another that was made later; no public way",
    "_cache": "closes one writer of tf.summary.FileWriterCache; clear() closes all",
    "_coverage": "ProfileContext of old sets how much of the steps the profiler has seen",
    "_create_slots": "an optimizer overrides it to make its slots; Optimizer documents it",
    "_get_save_slice_info": "name and place of a part of a partitioned variable in a checkpoint",
    "_graph": "ProfileContext of old gives the profiler its graph",
    "_listeners": "listeners join a CheckpointSaverHook that a script has made",
    "_make_callable_from_options": "prepares a call of a session: Session.make_callable has twice "
    "the Python in every call; Keras's own backend of TensorFlow 1 calls it as well",
    "_original_op": "the operation that a gradient belongs to, to name the line of the plugin that "
    "made it in an error",
    "_profiler": "of profiler_v2, see above",
    "_profiler_lock": "of profiler_v2, see above",
    "_replicas_to_aggregate": "the replicas that a SyncReplicasOptimizer waits for, for an error",
    "_set_evals_completed_tensor": (
        "gives the counter of evaluated batches to hooks that stop an evaluation, such as "
        "TensorFlow's"
    ),
    "_total_num_replicas": "likewise, the number of tasks",
    "_update_input": "quantisation puts an op between two others, and batch norm of several clones "
    "is connected once all are built; tf.contrib.graph_editor is gone",
}
