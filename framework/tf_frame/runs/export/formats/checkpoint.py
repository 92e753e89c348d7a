"""The format `checkpoint`: the variables of the inference model and nothing else.

For fine-tuning and for programs that have the model's code. The export has no slots of an
optimizer, so it is smaller than a checkpoint of the training. With moving averages in the run
options, the export has the averages under the names of the variables. `--warm_start_from` and a
`tf.train.Saver` of the same model can restore the export.
"""

from __future__ import annotations

import dataclasses
import os

from tf_frame.checkpoint.find.newest import read_step
from tf_frame.checkpoint.names import checkpoint_name
from tf_frame.runs.export.serving import Request, restore_serving, tensor_specs
from tf_frame.runs.export.staging import Written
from tf_frame.runs.export.verify import compare


def export(request: Request, folder: str) -> Written:
    """Writes the checkpoint into a folder, and verifies it.

    Raises:
      DifferenceError: a model restored from it computes other outputs.
    """
    name = exported_name(request.checkpoint)
    path, batch = os.path.join(folder, name), request.inputs.batch
    with restore_serving(request) as serving:
        serving.saver.save(serving.session, path, write_meta_graph=False)
        expected, scores = serving.run((serving.signatures, serving.scores), batch)
        inputs = tensor_specs(serving.inputs)
        signatures = {key: tensor_specs(outputs) for key, outputs in serving.signatures.items()}
    # The averages have the names of the variables now.
    config = dataclasses.replace(request.config, eval_moving_averages=False)
    with restore_serving(dataclasses.replace(request, config=config, checkpoint=path)) as serving:
        outputs = serving.run(serving.signatures, batch)
    comparison = compare(expected, outputs, tolerance=request.tolerance, scores=scores)
    return Written(name, inputs, signatures, {key: list(inputs) for key in signatures}, comparison)


def exported_name(checkpoint: str) -> str:
    """Returns the name of the exported checkpoint."""
    return checkpoint_name(read_step(checkpoint))
