"""Makes the folder of a run from a published checkpoint, without a training.

`tf-frame evaluate`, `predict` and `export` then treat the folder like the folder of a run.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.names import checkpoint_path
from tf_frame.checkpoint.warm_start.plan import WarmStart, plan_warm_start
from tf_frame.checkpoint.warm_start.rows import Outcome
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError
from tf_frame.graph.inference.build_inference import build_inference
from tf_frame.graph.ready import add_ready_operations
from tf_frame.plugin import Mode
from tf_frame.runs.error_translation import translated_errors
from tf_frame.runs.export.input_signature import input_signature
from tf_frame.runs.setup.model_dir import write_configuration
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.build import unmatched_patterns
from tf_frame.runs.warm_start.options import check_readable
from tf_frame.weights.resolve import resolve_values

_SHOWN = 8


def restore_without_training(setup: TrainingSetup, source: Any, observer: RunObserver) -> None:
    """Writes a checkpoint of step 0 and the configuration into the folder of a setup.

    The setup has the rules of the warm start.

    Raises:
      CheckpointError: the checkpoint cannot be read, or lacks variables of the model, and the
        options do not allow it.
      Interrupted: a signal stopped the command.
    """
    config, model = setup.config, setup.make_model(source.info)
    serving = getattr(source, "serving_features", lambda: None)()
    # Only types and shapes of the data are needed.
    inputs = input_signature(source, config, no_data="" if serving is None else "it is not read")
    warnings = unmatched_patterns(strict=config.strict, report=observer.report)
    with translated_errors(setup.model_dir), warnings, tf.Graph().as_default():
        tf.set_random_seed(config.random_seed)
        received = inputs.receive()
        inference = build_inference(
            model=model, features=received.features, labels=None, mode=Mode.PREDICT, config=config
        )
        path = resolve_values(config.warm_start_from, observer.report)
        plan = _plan(dataclasses.replace(config, warm_start_from=path), source.info.num_classes)
        check_readable(plan.path)
        observer.report("\n".join([plan.summary(), *_not_restored(plan)]))
        _save(plan, inference.scaffold, setup.model_dir)
    observer.interrupts.raise_if_received("stopped; nothing was written")
    write_configuration(setup, source.info)


def _plan(config: RunOptions, num_classes: int | None) -> WarmStart:
    """Returns the plan for the default graph; an error has the number of classes of the model."""
    try:
        plan = plan_warm_start(config, tf.global_variables())
    except CheckpointError as error:
        if num_classes is None:
            raise
        raise CheckpointError(
            f"{error}\nThe model was built for {num_classes} classes: does the checkpoint have "
            "another number?"
        ) from error
    assert plan is not None, "the options name a checkpoint"
    return plan


def _save(plan: WarmStart, scaffold: Any, model_dir: str) -> None:
    step = tf.train.get_global_step()
    saver = tf.train.Saver(save_relative_paths=True)
    add_ready_operations()
    scaffold.finalize()
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run([scaffold.init_op, scaffold.local_init_op], scaffold.init_feed_dict)
        plan.init_fn(scaffold, session)
        saver.save(
            session,
            checkpoint_path(model_dir, session.run(step)),
            write_meta_graph=False,
        )


def _not_restored(plan: WarmStart) -> list[str]:
    """Returns a line with the variables that the checkpoint does not restore."""
    names = [row.name for row in plan.rows if row.outcome != Outcome.RESTORED]
    if not names:
        return []
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return [
        f"warning: with initial values, as after no training: {', '.join(names[:_SHOWN])}{more}"
    ]
