"""`tf.contrib.predictor`: predictions of a SavedModel or an estimator, in a session that stays.

predict = predictor.from_saved_model("exported/1530000000")
predict({"x": [[1.0]]})  # {"y": array([[3.0]])}
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

_SERVING = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
DEFAULT_TAGS = tf.saved_model.tag_constants.SERVING


class Predictor:
    """Calls a model in a session.

    Args:
      session: the session with the model.
      feed_tensors, fetch_tensors: name -> tensor of the inputs and of the outputs.
    """

    def __init__(
        self, session: Any, feed_tensors: Mapping[str, Any], fetch_tensors: Mapping[str, Any]
    ) -> None:
        self.session = session
        self.graph = session.graph
        self.feed_tensors = dict(feed_tensors)
        self.fetch_tensors = dict(fetch_tensors)

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Returns name -> array of the outputs.

        Raises:
          ValueError: there is an input that the model does not have.
        """
        unexpected = set(input_dict) - set(self.feed_tensors)
        if unexpected:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unexpected}\nexpected: "
                f"{set(self.feed_tensors)}"
            )
        feeds = {self.feed_tensors[name]: v for name, v in input_dict.items() if v is not None}
        outputs: dict[str, Any] = self.session.run(self.fetch_tensors, feeds)
        return outputs

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self.feed_tensors} and fetch_tensors "
            f"{self.fetch_tensors}"
        )


def from_saved_model(
    export_dir: str | bytes,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """Loads a SavedModel.

    Args:
      export_dir: its folder.
      signature_def_key: name of the signature; default: `serving_default`.
      signature_def: the signature itself.
      input_names, output_names: name -> name of a tensor, instead of a signature.
      tags: tags of the graph, separated by commas; default: `serve`.
      graph: the graph to load into; default: a new one.
      config: the `ConfigProto` of the session.

    Raises:
      ValueError: the signature is given in two ways, or does not exist.
    """
    _check_signature(signature_def_key, signature_def, input_names, output_names)
    session = tf.Session(graph=graph or tf.Graph(), config=config)
    with session.graph.as_default():
        loaded = tf.saved_model.load(
            session, (tags or DEFAULT_TAGS).split(","), os.fsdecode(export_dir)
        )
    if input_names is None or output_names is None:
        if signature_def is None:
            signature_def = _signature(loaded, signature_def_key or _SERVING)
        input_names = {key: info.name for key, info in signature_def.inputs.items()}
        output_names = {key: info.name for key, info in signature_def.outputs.items()}
    tensor = session.graph.get_tensor_by_name
    return Predictor(
        session,
        {key: tensor(name) for key, name in input_names.items()},
        {key: tensor(name) for key, name in output_names.items()},
    )


def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """Loads the newest checkpoint of an estimator.

    Args:
      estimator: an `Estimator` of tf.estimator.
      serving_input_receiver_fn: returns a `ServingInputReceiver`.
      output_key: name of the export output; default: `serving_default`.
      graph, config: see `from_saved_model`.

    Raises:
      TypeError: `estimator` has another type.
      ValueError: there is no checkpoint, or no such output.
    """
    if not hasattr(estimator, "export_saved_model"):
        raise TypeError(
            "Expected estimator to be of type tf.estimator.Estimator, but got type "
            f"{type(estimator)}"
        )
    with tempfile.TemporaryDirectory() as folder:
        exported = estimator.export_saved_model(folder, serving_input_receiver_fn)
        return from_saved_model(exported, signature_def_key=output_key, graph=graph, config=config)


def _check_signature(key: Any, signature: Any, inputs: Any, outputs: Any) -> None:
    if (inputs is None) != (outputs is None):
        raise ValueError("input_names and output_names must both be specified or both be None")
    if sum(given is not None for given in (key, signature, inputs)) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR (input_names "
            f"AND output_names); got {key}, {signature}, {inputs} and {outputs}"
        )


def _signature(loaded: Any, key: str) -> Any:
    if key not in loaded.signature_def:
        raise ValueError(
            f'Got signature_def_key "{key}". Available signatures are '
            f"{sorted(loaded.signature_def)}."
        )
    return loaded.signature_def[key]
