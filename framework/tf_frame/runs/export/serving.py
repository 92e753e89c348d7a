"""`Serving`: a restored model with placeholders as inputs, the source of all exports.

A training graph reads its data from an input pipeline; a `Serving` is fed. Every export is written
from the session of a `Serving`, or compared with the outputs of that session.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import inference_session_config
from tf_frame.errors import ConfigError, PluginError
from tf_frame.graph.inference.build_inference import build_inference, restore_session
from tf_frame.graph.update.moving_averages import averaged_saver_map
from tf_frame.plugin import Mode, ModelOutput
from tf_frame.runs.export.export_outputs import DEFAULT_KEY, ClassificationOutput, RegressionOutput
from tf_frame.runs.export.input_signature import InputSignature, operation_name
from tf_frame.runs.export.signatures import find_exports
from tf_frame.text import brief


@dataclasses.dataclass(frozen=True)
class Request:
    """A request to export a model.

    Attributes:
      model: the model plugin, constructed.
      config: the run options.
      checkpoint: path prefix of the checkpoint.
      inputs: the inputs of the model, with a batch.
      tolerance: largest allowed difference of outputs.
      signature: the signature, for formats that hold one; None for the only signature, or for
        `serving_default` if all signatures are equal.
      runs_as_written: compare graphs without TensorFlow's graph rewriting.
      freeze: write a SavedModel with constants instead of variables.
    """

    model: Any
    config: RunOptions
    checkpoint: str
    inputs: InputSignature
    tolerance: float
    signature: str | None = None
    runs_as_written: bool = False
    freeze: bool = False

    @property
    def ranked_by(self) -> str:
        """Name of the output with the scores that sort the rows; empty without any."""
        return getattr(self.model, "ranked_by", "")

    def session_config(self) -> Any:
        """Returns the `ConfigProto` of the compared sessions.

        TensorFlow rewrites graphs with constants and with variables in different ways. This
        changes the last bit of values, and quantisation may round them to different levels.
        """
        config = inference_session_config(self.config)
        if self.runs_as_written:
            config.graph_options.rewrite_options.disable_meta_optimizer = True
            config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
        return config


@dataclasses.dataclass(frozen=True)
class Serving:
    """A restored model.

    Attributes:
      session: the session, with restored variables and a finalized graph.
      inputs: input name -> placeholder.
      forms: prefix of signature names -> names of inputs that are fed together.
      signatures: signature name -> output name -> tensor.
      scores: floating-point predictions, for the detection of ties.
      saver: saves the variables.
    """

    session: Any
    inputs: Mapping[str, Any]
    forms: Mapping[str, Sequence[str]]
    signatures: Mapping[str, Mapping[str, Any]]
    scores: Mapping[str, Any]
    saver: Any

    def run(self, outputs: Any, batch: Mapping[str, Any], form: str = "") -> Any:
        """Computes arrays in the structure of `outputs` from a batch, input name -> array."""
        fed = {self.inputs[name]: batch[name] for name in self.forms[form]}
        return self.session.run(outputs, fed)


@contextlib.contextmanager
def restore_serving(request: Request, inputs: InputSignature | None = None) -> Iterator[Serving]:
    """Builds the model on placeholders in a new graph, and restores it.

    `inputs` replaces `request.inputs`.

    Yields:
      A `Serving`; its graph is the default graph.

    Raises:
      CheckpointError: the checkpoint belongs to another model.
      PluginError: the model has nothing to export.
    """
    with tf.Graph().as_default():
        tf.set_random_seed(request.config.random_seed)
        received = (inputs or request.inputs).receive()
        inference = build_inference(
            model=request.model,
            features=received.features,
            labels=None,
            mode=Mode.PREDICT,
            config=request.config,
        )
        forms = received.forms()
        placeholders = {name: tensor for form in forms.values() for name, tensor in form.items()}
        signatures = _name_outputs(outputs_by_signature(inference.output))
        # Saves moving averages under the names of the variables.
        saver = tf.train.Saver(averaged_saver_map([]), save_relative_paths=True)
        with restore_session(inference, request.checkpoint, request.session_config()) as session:
            scores = _scores(inference.output)
            names = {key: list(form) for key, form in forms.items()}
            yield Serving(session, placeholders, names, signatures, scores, saver)


def outputs_by_signature(output: ModelOutput) -> dict[str, dict[str, Any]]:
    """Returns signature name -> output name -> tensor of a model's outputs for prediction.

    Raises:
      PluginError: the model has nothing to export, or a value is not a tensor.
    """
    try:
        exports = find_exports(output, Mode.PREDICT)
    except ValueError as error:  # The class of tf.estimator's errors.
        raise PluginError(f"the exports of the model are wrong: {error}") from error
    return {name: named_outputs(export) for name, export in exports.items()}


def named_outputs(export: Any) -> dict[str, Any]:
    """Returns output name -> tensor of an `ExportOutput`, with the names of a SavedModel."""
    if isinstance(export, RegressionOutput):
        return {tf.saved_model.REGRESS_OUTPUTS: export.value}
    if isinstance(export, ClassificationOutput):
        outputs = {
            tf.saved_model.CLASSIFY_OUTPUT_CLASSES: export.classes,
            tf.saved_model.CLASSIFY_OUTPUT_SCORES: export.scores,
        }
        return {name: tensor for name, tensor in outputs.items() if tensor is not None}
    return dict(export.outputs)


def choose_signature(
    signatures: Mapping[str, Mapping[str, Any]], asked: str | None, format_name: str
) -> str:
    """Returns the signature to export, for a format that has only one.

    Args:
      signatures: signature name -> output name -> tensor.
      asked: the requested signature, or None.
      format_name: the format, for the message.

    Raises:
      ConfigError: the signature does not exist; or there are several, and none was requested.
    """
    listed = ", ".join(sorted(signatures))
    if asked is not None:
        if asked not in signatures:
            raise ConfigError(f"the model has no signature {brief(asked)}; it has: {listed}")
        return asked
    names = sorted(signatures, key=lambda name: name != DEFAULT_KEY)
    first = signatures[names[0]]
    if all(
        outputs.keys() == first.keys() and all(outputs[key] is first[key] for key in first)
        for outputs in signatures.values()
    ):
        return names[0]
    raise ConfigError(
        f"the model has {len(names)} signatures ({listed}), and a {format_name} holds one; choose "
        "one with --signature NAME, or export all of them with --format saved_model"
    )


def tensor_specs(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Returns name -> `tf.TensorSpec` of some tensors."""
    return {name: tf.TensorSpec(t.shape, t.dtype) for name, t in sorted(tensors.items())}


def _name_outputs(signatures: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Returns the outputs as operations `outputs/NAME`, one for each tensor."""
    operations: dict[tuple[str, int], Any] = {}

    def operation(name: str, tensor: Any) -> Any:
        key = name, id(tensor)
        if key not in operations:
            operations[key] = tf.identity(tensor, name=operation_name(name))
        return operations[key]

    with tf.name_scope("outputs"):
        return {
            signature: {name: operation(name, tensor) for name, tensor in outputs.items()}
            for signature, outputs in signatures.items()
        }


def _scores(output: ModelOutput) -> dict[str, Any]:
    """Returns the floating-point predictions, in or outside of signatures."""
    if tf.is_tensor(output.predictions):
        return {}
    return {
        name: tensor
        for name, tensor in (output.predictions or {}).items()
        if isinstance(tensor, tf.Tensor) and tensor.dtype.is_floating
    }
