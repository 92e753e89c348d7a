"""The options of a run that belong to no plugin, in the groups in which `--help` shows them.

Names and meanings follow the flags that users of slim, DeepLab and
tf.estimator know; the docstring of each group is its heading in the help.
"""

from __future__ import annotations

import dataclasses

from tf_frame.config.option import option


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """How long, how much, how random."""

    max_steps: int = option(1000, "global step at which training ends", min=1)
    train_batch_size: int = option(
        32, "examples per step, over all clones of this worker together", min=1
    )
    eval_batch_size: int = option(32, "examples per evaluation step", min=1)
    eval_steps: int | None = option(
        None, "evaluation steps at most; none: the whole evaluation split", min=1
    )
    evaluate: bool = option(True, "evaluate the last checkpoint after training")
    random_seed: int = option(1, "seed of initial values, shuffling and augmentation", min=0)
    strict: bool = option(False, "end with an error where a pattern matches no variable")


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerOptions:
    """Learning rate and update of the variables."""

    learning_rate: float = option(0.01, "learning rate before any decay", min=0)
    warmup: str = option(
        "constant",
        "the learning rate of the first --warmup_steps: constant (DeepLab's slow start), or a rise "
        "from --warmup_learning_rate to --learning_rate",
        choices=("constant", "linear", "exponential"),
    )
    warmup_steps: int = option(0, "steps of the warm-up; 0: none", min=0)
    warmup_learning_rate: float = option(1e-4, "learning rate at the start of the warm-up", min=0)
    decay_start: str = option(
        "end_of_warmup",
        "the step that counts as the first of --schedule; step_0 is what DeepLab did until 2020",
        choices=("end_of_warmup", "step_0"),
    )
    trainable_scopes: tuple[str, ...] = option(
        (), "train only the variables in these scopes; empty: all"
    )
    moving_average_decay: float | None = option(
        None,
        "decay of moving averages of the variables, such as 0.9999; none: no averages",
        min=0,
        max=1,
    )
    moving_average_num_updates: bool = option(
        True, "let the moving averages begin with a smaller decay, (1 + step) / (10 + step)"
    )
    eval_moving_averages: bool = option(
        True, "evaluate and export the moving averages, where there are any, for the variables"
    )
    sync_replicas: bool = option(
        False, "worker replicas average their gradients and wait for each other"
    )
    replicas_to_aggregate: int | None = option(
        None,
        "gradients in the average of --sync_replicas; none: as many as --worker_replicas",
        min=1,
    )
    summarize_gradients: bool = option(False, "write a histogram and the norm of every gradient")
    summarize_variables: bool = option(
        False, "write a histogram of every model variable, and of its moving average"
    )
    loss_average_decay: float | None = option(
        None,
        "also write every loss averaged over steps with this decay, such as 0.9",
        min=0,
        max=1,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class CloneOptions:
    """How clones become one model; the other choices are those of older trainers."""

    batch_size_scope: str = option(
        "total",
        "what --train_batch_size counts: all clones of a worker together, each, or what all "
        "workers of --sync_replicas aggregate",
        choices=("total", "per_clone", "aggregated"),
    )
    regularization: str = option(
        "full",
        "weight of the regularisation losses in the gradient; scaled: over the number of clones",
        choices=("full", "scaled", "none"),
    )
    total_loss: str = option(
        "mean", "how the clones' losses add up in what is reported", choices=("mean", "sum")
    )
    update_ops: str = option(
        "first_clone",
        "whose update ops (moving statistics of batch norm) are run",
        choices=("first_clone", "all_clones"),
    )
    clone_summaries: str = option(
        "first_clone", "whose summaries are written", choices=("first_clone", "all_clones")
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """Precision, compilation and edits of the graph."""

    mixed_precision: str = option(
        "none", "compute in 16 bits where it is safe", choices=("none", "float16", "bfloat16")
    )
    loss_scale: float = option(
        0.0,
        "factor on the loss in float16, undone before the update; 0: found while training",
        min=0,
    )
    xla: bool = option(False, "compile the clones with XLA")
    graph_hook: str = option("", "module:function that edits the graph after the clones are built")
    quantize_delay_step: int = option(
        -1, "step from which weights and activations are quantised to 8 bits; -1: never", min=-1
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class WarmStartOptions:
    """Fine-tuning: initial values from another model's checkpoint."""

    warm_start_from: str = option(
        "", "a checkpoint, a folder with checkpoints, or a SavedModel; empty: none"
    )
    warm_start_include: tuple[str, ...] = option(
        (), "only variables whose names begin with one of these; empty: all"
    )
    warm_start_exclude: tuple[str, ...] = option(
        (), "not the variables whose names begin with one of these"
    )
    warm_start_map: tuple[str, ...] = option(
        (),
        "REGEX=REPLACEMENT: how a name in the graph becomes one in the checkpoint; repeat it",
        verbatim=True,
    )
    warm_start_ignore_missing: bool = option(
        False, "pass over variables that the checkpoint does not have"
    )
    warm_start_skip_mismatched: bool = option(
        False, "pass over variables that have another shape in the checkpoint"
    )
    warm_start_global_step: bool = option(False, "take the global step as well")
    warm_start_allow_nothing: bool = option(False, "go on if nothing at all was restored")


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceOptions:
    """Clones, workers and parameter servers."""

    num_clones: int = option(
        1, "copies of the model that share a batch; on GPUs, or on logical CPUs without one", min=1
    )
    clone_on_cpu: bool = option(False, "put every clone on CPU:0")
    placement: str = option(
        "round_robin",
        "how variables are dealt out to parameter servers: in turn, or by their bytes",
        choices=("round_robin", "balanced"),
    )
    show_placement: bool = option(False, "show which device holds which variables, and stop")
    num_ps_tasks: int = option(0, "parameter server tasks; 0: variables on this machine", min=0)
    worker_replicas: int = option(1, "worker tasks that train together", min=1)
    task: int = option(0, "which worker this is; 0 is the chief", min=0)
    startup_delay_steps: int = option(
        0, "worker K begins when the chief has come to step K times this", min=0
    )
    master: str = option("", "address of this worker's server, such as grpc://localhost:2222")


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoopOptions:
    """The training loop and its hooks."""

    steps_per_loop: int = option(
        1, "steps that one call runs between the steps that hooks want, for small models", min=1
    )
    show_hooks: bool = option(False, "show the hooks of a step in their order, and stop")
    on_nan: str = option(
        "raise",
        "a loss that is NaN or infinite ends training as a failure, or like the last step; the "
        "step is not saved either way",
        choices=("raise", "stop"),
    )
    eval_every_n_steps: int = option(
        0, "steps from one evaluation during training to the next; 0: only at the end", min=0
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckpointOptions:
    """What is saved, and what is kept."""

    save_checkpoint_secs: float | None = option(
        600, "seconds between checkpoints; none: by --save_checkpoint_steps", min=0.001
    )
    save_checkpoint_steps: int | None = option(None, "steps between checkpoints", min=1)
    max_to_keep: int = option(
        5, "checkpoints kept; older ones are deleted; 0: keep all of them", min=0
    )
    keep_checkpoint_every_n_hours: float | None = option(
        None, "also keep one checkpoint for every so many hours of training", min=0.001
    )
    keep_best: int = option(
        0, "also keep, in MODEL_DIR/best, so many checkpoints with the best --best_metric", min=0
    )
    best_metric: str = option("loss", "the evaluation metric that --keep_best goes by")
    best_mode: str = option("lower", "which --best_metric is better", choices=("lower", "higher"))
    async_checkpoint: bool = option(
        False, "write checkpoints beside the training, from a copy made between two steps"
    )
    allow_inexact_resume: bool = option(
        False,
        "train although a resumed run will not be the same as one never stopped: the input, or "
        "random operations of the model, cannot be saved",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProfilingOptions:
    """What is traced: for TensorBoard's Profile tab, chrome://tracing and the graphs page."""

    profile_at_step: tuple[int, ...] = option(
        (), "global steps at which a profile of --profile_num_steps steps begins"
    )
    profile_num_steps: int = option(
        8,
        "steps in each profile; the Profile tab leaves out the first and last of 6 and more",
        min=1,
    )
    profile_every_n_steps: int = option(
        0, "steps from the beginning of one profile to that of the next; 0: none", min=0
    )
    profile_all_workers: bool = option(False, "profile every worker; else only the chief")
    trace_every_n_steps: int = option(
        0, "steps between timelines, tf_trace-STEP.json for chrome://tracing; 0: none", min=0
    )
    trace_gzip: bool = option(False, "compress the timelines")
    trace_memory: bool = option(False, "show memory in the timelines")
    trace_dataflow: bool = option(True, "show what depends on what in the timelines")


@dataclasses.dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is written and shown, and how often."""

    save_summaries_steps: int | None = option(
        100, "steps between summaries; 0 or none: no summaries, or by --save_summaries_secs", min=0
    )
    save_summaries_secs: int | None = option(None, "seconds between summaries", min=1)
    log_every_n_steps: int = option(10, "steps between progress lines; 0: none", min=0)
    log_device_placement: bool = option(False, "log the device of every operation")
    verbosity: str = option(
        "none",
        "how much of TensorFlow's own log is shown",
        choices=("none", "warning", "info", "debug"),
    )
