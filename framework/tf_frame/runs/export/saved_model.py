"""Writes SavedModels of a trained model, for serving and for other programs.

    export_saved_models(
        model=model,
        receivers={Mode.PREDICT: build_parsing_serving_input_receiver_fn(feature_spec)},
        config=config,
        checkpoint="runs/first/model.ckpt-500",
        export_dir_base="runs/first/export",
    )

A SavedModel has a meta graph for each mode, with the tags and signatures of tensorflow_estimator
(estimator.py), which existing clients use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import READ_ERRORS, saved_name, unreadable_error
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import inference_session_config
from tf_frame.errors import CheckpointError, ConfigError, PluginError, short_reason
from tf_frame.graph.inference.build_inference import Inference, build_inference
from tf_frame.plugin import Mode
from tf_frame.plugin.exporting import exporting
from tf_frame.runs.export.freeze import add_frozen_meta_graph
from tf_frame.runs.export.signatures import find_exports, make_signatures
from tf_frame.runs.export.staging import check_extra, copy_extra, put_in_place, staged_export
from tf_frame.text import brief, listed

# The variables are written with the first mode: a training graph has all of them. TensorFlow
# has no public constant for the tag of EVAL.
_TAGS = {
    Mode.TRAIN: tf.saved_model.TRAINING,
    Mode.EVAL: "eval",
    Mode.PREDICT: tf.saved_model.SERVING,
}
# The collection of train ops has none either (tensorflow, saved_model/constants.py).
_TRAIN_OP_KEY = "saved_model_train_op"

Receiver = Callable[[], Any]


def export_saved_models(
    *,
    model: Any,
    receivers: Mapping[Any, Receiver],
    config: RunOptions,
    checkpoint: str,
    export_dir_base: str,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    session_config: Any = None,
    freeze: bool = False,
) -> str:
    """Writes one SavedModel with a meta graph for each mode.

    All modes share the variables: the values in the checkpoint, or the moving averages if
    the options evaluate averages.

    Args:
      model: the model plugin, or a `ModelFn`.
      receivers: mode -> function that adds placeholders to the default graph and
        returns a receiver of `tf_frame.estimator.export`.
      config: seed, moving averages, quantisation.
      checkpoint: path prefix.
      export_dir_base: the folder of the export, which is named by the time.
      assets_extra: path below `assets.extra` in the export -> file to copy there.
      as_text: write `saved_model.pbtxt`, as text.
      session_config: a `ConfigProto` with fields that override `config`; default: with soft
        placement.
      freeze: write constants instead of variables, and fold batch norm into the weights before
        it; only for `Mode.PREDICT` by itself.

    Returns:
      The path of the new folder.

    Raises:
      ValueError: no mode has a receiver, or the model's outputs cannot be exported.
      ConfigError: an extra asset does not exist.
      CheckpointError: the checkpoint belongs to another model.
      PluginError: the return value of the model or of a receiver function is wrong.
      TfFrameError: the folder cannot be written.
    """
    receiver_fns = _sort(receivers)
    extra = check_extra(assets_extra)
    session_config = inference_session_config(config, session_config)
    with staged_export(tf.compat.as_text(export_dir_base)) as folder:
        builder = tf.saved_model.Builder(folder)
        written: set[str] = set()
        for mode, receiver_fn in receiver_fns.items():
            with tf.Graph().as_default(), tf.Session(config=session_config) as session:
                inference, meta_graph = _build(model, receiver_fn, mode, config)
                _restore(session, inference, checkpoint)
                if freeze:
                    add_frozen_meta_graph(
                        builder, session, meta_graph, fold=config.quantize_delay_step < 0
                    )
                elif written:
                    _check_written(mode, written)
                    builder.add_meta_graph(**meta_graph)
                else:
                    builder.add_meta_graph_and_variables(session, **meta_graph)
                    written = _variable_names()
        builder.save(as_text)
        copy_extra(extra, folder)
        return put_in_place(folder)


def _sort(receivers: Mapping[Mode, Receiver]) -> dict[Mode, Receiver]:
    """Returns mode -> receiver; the first mode writes the variables."""
    # A Mode equals its string, but they are different keys of a dict.
    by_name = {getattr(mode, "value", mode): receiver for mode, receiver in receivers.items()}
    by_mode = {mode: by_name[mode.value] for mode in _TAGS if by_name.get(mode.value)}
    if not by_mode or not by_name.keys() <= {str(mode.value) for mode in Mode}:
        raise ValueError(f"No valid modes for exporting found. Got {receivers.keys()}.")
    return by_mode


def _build(
    model: Any, receiver_fn: Receiver, mode: Mode, config: RunOptions
) -> tuple[Inference, dict[str, Any]]:
    """Builds the model for a mode; returns it with the arguments of its meta graph."""
    tf.set_random_seed(config.random_seed)
    tf.train.create_global_step()
    receiver = _receive(receiver_fn, mode)
    labels = getattr(receiver, "labels", None)
    with exporting("saved_model"):
        inference = build_inference(
            model=model, features=receiver.features, labels=labels, mode=mode, config=config
        )
    exports = find_exports(inference.output, mode)
    signatures = make_signatures(receiver, exports, serving=mode == Mode.PREDICT)
    if inference.output.train_op is not None:
        tf.add_to_collection(_TRAIN_OP_KEY, inference.output.train_op)
    local_init_op = inference.scaffold.local_init_op
    if local_init_op is None:
        local_init_op = tf.train.Scaffold.default_local_init_op()
    return inference, {
        "tags": [_TAGS[mode]],
        "signature_def_map": signatures,
        "assets_collection": tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
        "main_op": local_init_op,
        "saver": _saver(inference),
        # For older versions of TensorFlow.
        "strip_default_attrs": True,
    }


def _check_written(mode: Mode, written: set[str]) -> None:
    missing = sorted(_variable_names() - written)
    if missing:
        raise PluginError(
            f"the graph of mode {brief(mode.value)} has variables that the first one of this "
            f"export has not: {listed(missing)}; export this mode by itself"
        )


def _receive(receiver_fn: Receiver, mode: Mode) -> Any:
    receiver = receiver_fn()
    if not (hasattr(receiver, "features") and hasattr(receiver, "receiver_tensors")):
        raise ConfigError(
            f"the receiver function of mode {brief(mode.value)} returned {brief(receiver)}; it "
            "must return a receiver, such as tf_frame.estimator.export.ServingInputReceiver"
        )
    return receiver


def _model_saver(inference: Inference) -> Any:
    """Returns the saver of the model's own scaffold, if any."""
    scaffold = inference.output.scaffold
    saver = None if scaffold is None else scaffold.saver
    if isinstance(saver, tf.train.Checkpoint):
        raise PluginError(
            "the saver of the model's scaffold is a Checkpoint; a SavedModel needs one that uses "
            "the names of variables: use a tf.compat.v1.train.Saver"
        )
    return saver


def _saver(inference: Inference) -> Any:
    """Returns the saver of the meta graph, which gives averages the names of their variables."""
    if inference.averaged and _model_saver(inference) is None:
        return tf.train.Saver(sharded=True)
    return inference.scaffold.saver


def _restore(session: Any, inference: Inference, checkpoint: str) -> None:
    """Restores variables; does not finalize the graph, because the builder adds collections."""
    if _model_saver(inference) is None:
        inference.check(checkpoint)
    try:
        inference.scaffold.saver.restore(session, checkpoint)
    except tf.errors.NotFoundError as error:
        raise CheckpointError(
            "Could not load all requested variables from checkpoint. Please make sure your "
            "model_fn does not expect variables that were not saved in the checkpoint: "
            f"{checkpoint}: {short_reason(error)}"
        ) from error
    except READ_ERRORS as error:
        raise unreadable_error(checkpoint, error) from error


def _variable_names() -> set[str]:
    return {saved_name(variable) for variable in tf.global_variables()}
