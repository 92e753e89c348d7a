"""List of the private parts of TensorFlow that tf-frame and tf-frame-legacy use, with reasons.

A new TensorFlow may change private parts without notice; to move tf-frame to a new
version, begin here. A test finds private imports and attributes that are not
listed, and lines of the list that nothing uses any more.
"""

from __future__ import annotations

# Module -> why it is imported.
MODULES = {
    "tensorflow.core.framework.dataset_options_pb2": (
        "the options that a data set has in a graph, for deterministic; tf.data does not read them"
    ),
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
    "tensorflow.python.autograph.core.config": (
        "its rules keep AutoGraph, which converts the cells of programs, off tf-frame's functions"
    ),
    "tensorflow.python.client.device_lib": "the memory limits of devices, for memory_stats",
    "tensorflow.python.eager.context": "the names of devices, for list_devices of contrib.eager",
    "tensorflow.python.framework.op_def_registry": (
        "whether this TensorFlow has an operation that a wrapper of contrib.rnn needs"
    ),
    "tensorflow.python.framework.smart_cond": "conditions that may be known, of contrib.training",
    "tensorflow.python.ops.script_ops": "the Python functions of an input, which hints name",
    "tensorflow.python.keras": "tf.keras of old programs without tf_keras; so are the next ones",
    "tensorflow.python.keras.engine.functional": "checkpoints of its models in graphs",
    "tensorflow.python.keras.engine.training": "weights of its models in the session of Keras",
    "tensorflow.python.keras.engine.training_v1": "as in the line above",
    "tensorflow.python.keras.saving.saved_model_experimental": (
        "tf.keras.experimental.export_saved_model"
    ),
    "tensorflow.python.keras.activations": "cells of contrib.rnn take names of activations",
    "tensorflow.python.keras.backend": "tf.keras of old programs without tf_keras, as the next two",
    "tensorflow.python.keras.constraints": "of the layers below",
    "tensorflow.python.keras.regularizers": "of the layers below",
    "tensorflow.python.keras.layers": "the layers of Keras 2, for programs without tf_keras",
    "tensorflow.python.keras.layers.*": "likewise: all layers that TensorFlow still contains",
    "tensorflow.python.keras.layers.recurrent": "the recurrent layers of TensorFlow 1 among them",
    "tensorflow.python.keras.utils.control_flow_util": "conditions on the learning phase",
    "tensorflow.python.keras.optimizer_v2.adadelta": "tf.keras without tf_keras",
    "tensorflow.python.keras.optimizer_v2.adagrad": "tf.keras without tf_keras",
    "tensorflow.python.keras.optimizer_v2.adam": "tf.keras without tf_keras",
    "tensorflow.python.keras.optimizer_v2.adamax": "tf.keras without tf_keras",
    "tensorflow.python.keras.optimizer_v2.ftrl": "tf.keras without tf_keras",
    "tensorflow.python.keras.optimizer_v2.gradient_descent": "tf.keras without tf_keras",
    "tensorflow.python.keras.optimizer_v2.learning_rate_schedule": "tf.keras without tf_keras",
    "tensorflow.python.keras.optimizer_v2.nadam": "tf.keras without tf_keras",
    "tensorflow.python.keras.optimizer_v2.optimizer_v2": "tf.keras without tf_keras",
    "tensorflow.python.keras.optimizer_v2.rmsprop": "tf.keras without tf_keras",
    "tensorflow.python.keras.optimizers": "likewise, their names and configurations",
    "tensorflow.python.keras.engine.input_spec": "cells of contrib.rnn declare the ranks of inputs",
    "tensorflow.python.keras.initializers": "cells of contrib.rnn take names of initializers",
    "tensorflow.python.keras.layers.legacy_rnn.rnn_cell_impl": (
        "RNNCell and the basic cells of tf.nn.rnn_cell, which programs subclass; a test notices "
        "the day they go"
    ),
    "tensorflow.python.ops.clustering_ops": "k-means, of contrib.factorization",
    "tensorflow.python.ops.confusion_matrix": "remove_squeezable_dimensions of contrib.framework",
    "tensorflow.python.ops.lookup_ops": "tables of contrib.lookup; tf.lookup has a part of them",
    "tensorflow.python.ops.nn_impl": "the logits of sampled classes, for rank_sampled_softmax_loss",
    "tensorflow.python.ops.resource_variable_ops": "variables from protocol buffers, of old",
    "tensorflow.python.ops.summary_ops_v2": "the summaries of metrics of contrib.eager",
    "tensorflow.python.ops.rnn": "the order of axes and sizes of batches, as dynamic_rnn has them",
    "tensorflow.python.trackable.base": "cells do not track the cells that wrappers hold twice",
    "tensorflow.python.training.checkpoint_ops": "initializers from a checkpoint with a vocabulary",
    "tensorflow.python.training.input": "the queues of tf.train.batch, for contrib.training.bucket",
    "tensorflow.python.util.nest": "contrib.framework.nest; tf.nest has a part of it",
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
    "_as_original_type": "of tensorflow.python.training.input, see above",
    "_as_tensor_list": "as in the line above",
    "_best_effort_input_batch_size": "of tensorflow.python.ops.rnn, see above",
    "_beta1_t": "optimizers of contrib.opt change the step of Adam, which keeps its tensors there",
    "_beta2_t": "as in the line above",
    "_compile_config": "the losses and metrics that a compiled model of Keras got",
    "_make_test_function": "as in the line below",
    "_make_train_function": "the operations of a Keras model, for model_to_estimator",
    "_compute_sampled_logits": "of tensorflow.python.ops.nn_impl, see above",
    "_control_outputs": "operations that wait for the change of the global step, to tell reads "
    "before it from reads after it, or for the change of a moving statistic; no public way",
    "_dtypes": "of the queues of tensorflow.python.training.input",
    "_epsilon_t": "as _beta1_t, see above",
    "_load_and_remap_matrix_initializer": "of tensorflow.python.training.checkpoint_ops",
    "_lr_t": "as _beta1_t, see above",
    "_restore_sparse_tensors": "of tensorflow.python.training.input, see above",
    "_shapes": "as in the line above",
    "_should_cache": "whether dynamic_decode caches variables, as dynamic_rnn does",
    "_store_sparse_tensors": "of tensorflow.python.training.input, see above",
    "_transpose_batch_time": "of tensorflow.python.ops.rnn, see above",
    "_validate_keep_input": "of tensorflow.python.training.input, see above",
    "_which_queue": "as in the line above",
    "_zero_state_tensors": "of rnn_cell_impl: zeros of the shapes of a state",
    "_funcs": "token of a Python function in a graph -> the function, of script_ops",
    "_get_control_flow_context": "whether an op runs in a tf.cond or a loop; no public way",
    "_py_funcs": "the table of these functions",
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
