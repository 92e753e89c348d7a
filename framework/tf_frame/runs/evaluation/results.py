"""Writes the metrics of an evaluation: events for TensorBoard, `metrics.json` for programs.

Early stopping and `BestExporter` read the events.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from tf_frame.atomic_output import write_file
from tf_frame.graph.losses import TAG_PREFIX
from tf_frame.graph.model_output import LOSS, TOTAL_LOSS
from tf_frame.hooks.summary import cached_writer
from tf_frame.plugin.class_metric import is_undefined
from tf_frame.plugin.evaluation_file import EvaluationFile
from tf_frame.side_files import write_json

_LOG = logging.getLogger("tf_frame")


def numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Returns the metrics that are single numbers, as floats."""
    return {name: float(value) for name, value in metrics.items() if _is_number(value)}


def find_at_chance(model: Any, metrics: Mapping[str, Any]) -> dict[str, float]:
    """Returns the metrics that are not above the model's levels of chance, with these levels.

    The margin for what happens by chance is a fifth of the level, and for high levels 2 % of the
    rest up to 1, so that 0.995 is well above 0.99. A level of 1 says nothing.

    Args:
      model: a model; it need not inherit from `Model`, nor have levels.
      metrics: name -> value of all metrics of an evaluation.
    """
    find_levels = getattr(model, "chance_levels", None)
    levels = find_levels(metrics) if find_levels else {}
    limits = {name: level + min(0.2 * level, 0.02 * (1 - level)) for name, level in levels.items()}
    values = numbers(metrics)
    return {
        name: float(levels[name])
        for name, limit in limits.items()
        if name in values and values[name] <= limit < 1
    }


def write_evaluation(
    eval_dir: str,
    metrics: Mapping[str, Any],
    summary: bytes | None,
    step: int,
    *,
    prefix: str = "metrics/",
    checkpoint: str | None = None,
) -> None:
    """Writes the result of an evaluation as events, for TensorBoard and for exporters.

    Numbers become scalars, arrays become tensors, serialised summaries are written unchanged, as by
    `_write_dict_to_summary` of tensorflow_estimator (estimator.py). Figures of classes that are not
    defined are left out, and other values with a warning.

    Args:
      eval_dir: the folder; created if it does not exist.
      metrics: name -> value; None is left out.
      summary: further serialised summaries, or None.
      step: global step of the evaluated checkpoint.
      prefix: prefix of the tags of the metrics; with one, losses have the tags of training.
      checkpoint: path of the checkpoint, written as the text `checkpoint_path`; or None.
    """
    values = [
        part
        for name, value in metrics.items()
        if not is_undefined(name, value) and not isinstance(name, EvaluationFile)
        for part in _values(_tag(prefix, name), value)
    ]
    values += [
        _text_card(prefix, name, text)
        for name, text in evaluation_files(metrics).items()
        if name.is_text
    ]
    if checkpoint is not None:
        proto = tf.make_tensor_proto(checkpoint, tf.string)
        values.append(tf.Summary.Value(tag="checkpoint_path", tensor=proto))
    with tf.Graph().as_default():  # A writer is made in graph mode only.
        writer = cached_writer(eval_dir)
    if summary is not None:
        writer.add_summary(summary, step)
    # Written last: readers keep the last value of a tag, and `summary` has values of one batch.
    writer.add_summary(tf.Summary(value=values), step)
    writer.flush()


def log_result(result: Mapping[str, Any]) -> None:
    """Logs metrics but no bytes, like `_write_dict_to_summary` of tensorflow_estimator."""
    shown = [f"{name} = {value}" for name, value in sorted(result.items()) if not _is_text(value)]
    _LOG.info("Saving dict for global step %d: %s", result["global_step"], ", ".join(shown))


def write_figures(
    eval_dir: str, metrics: Mapping[str, Any], step: int, checkpoint: str
) -> dict[str, str]:
    """Writes the metrics of a checkpoint to `metrics.json`, with arrays as lists, without bytes.

    NaN is `null`.

    Pictures and files among them become files of their own, see `write_files`.

    Returns:
      Name of each array, picture and file -> path of the file that holds it.
    """
    figures = {
        name: tf.nest.map_structure(lambda part: np.asarray(part).tolist(), value)
        for name, value in metrics.items()
        if not _is_text(value)
    }
    result = {"checkpoint": checkpoint, "global_step": step, "metrics": figures}
    tf.io.gfile.makedirs(eval_dir)
    path = os.path.join(eval_dir, "metrics.json")
    write_json(path, result)
    arrays = {name: path for name in figures if not _is_number(metrics[name])}
    return {**arrays, **write_files(eval_dir, metrics)}


def evaluation_files(metrics: Mapping[str, Any]) -> dict[EvaluationFile, bytes]:
    """Returns the content of each file among the metrics."""
    return {
        name: bytes(value) for name, value in metrics.items() if isinstance(name, EvaluationFile)
    }


def write_files(eval_dir: str, metrics: Mapping[str, Any]) -> dict[str, str]:
    """Writes the files among the metrics; returns the path of each by the name of the metric.

    A metric that is a serialised summary of one image, NAME_image, becomes `NAME.png`.
    """
    paths: dict[str, str] = {}
    for file, content in evaluation_files(metrics).items():
        paths[file] = os.path.join(eval_dir, file)
        write_file(paths[file], content)
    for name, value in metrics.items():
        images = [part.image for part in _parts(value) or () if part.HasField("image")]
        if len(images) == 1:
            paths[name] = os.path.join(eval_dir, f"{name.removesuffix('_image')}.png")
            write_file(paths[name], images[0].encoded_image_string)
    return paths


def _parts(value: Any) -> Sequence[Any] | None:
    """Returns the values of a serialised summary; None for other objects."""
    try:
        parts: Sequence[Any] | None = tf.Summary.FromString(value).value
    except (DecodeError, TypeError):
        parts = None
    return parts


def _text_card(prefix: str, name: EvaluationFile, text: bytes) -> Any:
    """Returns the summary value of a text, which TensorBoard takes for Markdown."""
    code = "".join(f"    {line}\n" for line in text.decode("utf-8", "replace").splitlines())
    plugin = tf.SummaryMetadata.PluginData(plugin_name="text")
    return tf.Summary.Value(
        tag=prefix + name.stem,
        tensor=tf.make_tensor_proto(code, tf.string),
        metadata=tf.SummaryMetadata(plugin_data=plugin),
    )


def _tag(prefix: str, name: str) -> str:
    """Returns the tag of a metric; losses share the tag, and so the chart, of training."""
    return TAG_PREFIX + name if prefix and name in (LOSS, TOTAL_LOSS) else prefix + name


def _values(tag: str, value: Any) -> Iterator[Any]:
    """Yields the summary values of one metric."""
    if value is None:
        return
    if isinstance(value, bytes):
        parts = _parts(value)
        if parts is None:
            _LOG.warning("the metric %s is not written as an event: it is not a tf.Summary", tag)
            return
        for index, part in enumerate(parts):
            part.tag = f"{tag}/{index}"
            yield part
    elif _is_number(value):
        yield tf.Summary.Value(tag=tag, simple_value=float(value))
    elif isinstance(value, np.ndarray):
        proto = tf.make_tensor_proto(value)
        yield tf.Summary.Value(tag=tag, node_name=tag, tensor=proto)
    else:
        _LOG.warning("the metric %s is not written as an event: %r", tag, value)


def _is_number(value: Any) -> bool:
    """Returns whether a value is a single number or truth value, from Python or NumPy."""
    if tf.nest.is_nested(value):
        return False
    array = np.asarray(value)
    # bfloat16 is not a NumPy type, so its kind is none of these.
    return array.ndim == 0 and (array.dtype.kind in "biuf" or array.dtype == tf.bfloat16)


def _is_text(value: Any) -> bool:
    """Returns whether a value is a text, or a structure with one."""
    return any(np.asarray(part).dtype.kind in "OSU" for part in tf.nest.flatten(value))
