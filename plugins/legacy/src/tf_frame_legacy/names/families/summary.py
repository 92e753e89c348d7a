"""tf.contrib.summary."""

from tf_frame_legacy.names.row import alias, not_offered

_MODULES = ("tf.contrib.summary", "tf.contrib.summary.summary", "tf.contrib.summary.summary_ops")

ROWS = [
    *alias(
        _MODULES,
        "tensorflow.python.ops.summary_ops_v2",
        "SummaryWriter all_summary_ops=all_v2_summary_ops always_record_summaries audio "
        "create_file_writer create_summary_file_writer eval_dir flush generic histogram "
        "image import_event initialize never_record_summaries "
        "record_summaries_every_n_global_steps scalar should_record_summaries "
        "summary_writer_initializer_op",
    ),
    *not_offered(_MODULES, "create_db_writer", "TensorFlow 2 removed it; use create_file_writer"),
    *not_offered(_MODULES, "graph", "write it by tf.summary.FileWriter(folder).add_graph(graph)"),
]
