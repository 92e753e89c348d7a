"""The format `frozen_graph`: one GraphDef with constants instead of variables.

For programs that load a graph of TensorFlow 1 from a single file and restore no variables. A JSON
file in the same folder names the tensors to feed and to fetch:

    {"inputs": {"image": {"tensor": "inputs/image:0", "shape": [null, 128, 128, 3],
                          "dtype": "float32"}},
     "outputs": {"semantic": {"tensor": "outputs/semantic:0", ...}}}

A model that takes images as bytes or as pixels, for example, has an input for each: feed only one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.file_system import read_bytes, read_text
from tf_frame.runs.export.freeze import frozen
from tf_frame.runs.export.serving import (
    Request,
    Serving,
    choose_signature,
    restore_serving,
    tensor_specs,
)
from tf_frame.runs.export.staging import Written
from tf_frame.runs.export.verify import compare_batches, translated_run_errors

FILE = "frozen_graph.pb"
SIGNATURE_FILE = "frozen_graph.json"


def export(request: Request, folder: str) -> Written:
    """Writes a frozen graph and its signature into a folder, and verifies it.

    Raises:
      ConfigError: the model has several signatures, and none was chosen.
      DifferenceError: the graph computes other outputs than the restored session.
    """
    with restore_serving(request) as serving:
        name = choose_signature(serving.signatures, request.signature, "frozen_graph")
        outputs = serving.signatures[name]
        graph_def = frozen(serving.session, outputs.values(), fold=not request.runs_as_written)
        inputs = used_inputs(serving, graph_def)
        write_file(os.path.join(folder, FILE), graph_def.SerializeToString())
        signature = {"inputs": _describe(inputs), "outputs": _describe(outputs)}
        write_file(os.path.join(folder, SIGNATURE_FILE), json.dumps(signature, indent=2) + "\n")
        fed = {key: [n for n in names if n in inputs] for key, names in serving.forms.items()}
        batches = [{n: request.inputs.batch[n] for n in names} for names in fed.values()]
        expected = [
            serving.run((outputs, serving.scores), request.inputs.batch, form) for form in fed
        ]
    comparison = compare_batches(
        expected,
        (run(folder, batch, request.session_config()) for batch in batches),
        tolerance=request.tolerance,
        ranked_by=request.ranked_by,
    )
    signatures = {f"{form}{name}": tensor_specs(outputs) for form in fed}
    named = {f"{form}{name}": names for form, names in fed.items()}
    return Written(FILE, tensor_specs(inputs), signatures, named, comparison)


def used_inputs(serving: Serving, graph_def: Any) -> dict[str, Any]:
    """Returns input name -> placeholder of the inputs that a frozen graph depends on."""
    nodes = {node.name for node in graph_def.node}
    return {name: tensor for name, tensor in serving.inputs.items() if tensor.op.name in nodes}


def run(folder: str, batch: Mapping[str, Any], session_config: Any = None) -> dict[str, Any]:
    """Loads an export into a new graph; computes output name -> array from some of its inputs."""
    graph_def = tf.GraphDef()
    graph_def.ParseFromString(read_bytes(os.path.join(folder, FILE)))
    signature = json.loads(read_text(os.path.join(folder, SIGNATURE_FILE)))
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with (
            tf.Session(graph=graph, config=session_config) as session,
            translated_run_errors("frozen graph"),
        ):
            fed = {signature["inputs"][name]["tensor"]: array for name, array in batch.items()}
            fetched = {name: output["tensor"] for name, output in signature["outputs"].items()}
            arrays: dict[str, Any] = session.run(fetched, fed)
            return arrays


def _describe(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {
            "tensor": tensor.name,
            "shape": tensor.shape.as_list() if tensor.shape.rank is not None else None,
            "dtype": tensor.dtype.name,
        }
        for name, tensor in sorted(tensors.items())
    }
