"""tf.contrib.tfprof.model_analyzer, over `tf.profiler`: parameters, float operations, times.

stats = model_analyzer.print_model_analysis(
    tf.get_default_graph(),
    tfprof_options=model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
)
print(stats.total_parameters)
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

_DEFAULT: Any = 0
_BASE = {
    "max_depth": 10000,
    "min_bytes": 0,
    "min_micros": 0,
    "min_params": 0,
    "min_float_ops": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "trim_name_regexes": [],
    "show_name_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": True,
    "select": ["params"],
    "output": "stdout",
    "dump_to_file": "",
}
TRAINABLE_VARS_PARAMS_STAT_OPTIONS = {**_BASE, "account_type_regexes": ["_trainable_variables"]}
FLOAT_OPS_OPTIONS = {**_BASE, "min_float_ops": 1, "order_by": "float_ops", "select": ["float_ops"]}
PRINT_ALL_TIMING_MEMORY = {**_BASE, "min_bytes": 1, "min_micros": 1, "select": ["micros", "bytes"]}


def print_model_analysis(
    graph: Any,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Any = _DEFAULT,
) -> Any:
    """Prints an analysis of a graph and returns it as a message.

    Args:
      graph: the graph; variables need static shapes.
      run_meta: `tf.RunMetadata` of a step, for times and memory.
      op_log: `OpLogProto` with types and float operations of further operations.
      tfprof_cmd: `scope`, `graph`, `op` or `code`.
      tfprof_options: one of the dictionaries of this module, or one like them; 0: parameters.

    Returns:
      `GraphNodeProto`, or for `op` and `code` `MultiGraphNodeProto`.
    """
    options = {} if tfprof_options == 0 else {"options": tfprof_options}
    return tf.profiler.profile(graph, run_meta, op_log, tfprof_cmd, **options)


def advise(graph: Any, run_meta: Any = None, tfprof_options: Any = _DEFAULT) -> Any:
    """Prints and returns the profiler's advice; see `print_model_analysis`."""
    options = {} if tfprof_options == 0 else {"options": tfprof_options}
    return tf.profiler.advise(graph, run_meta, **options)
