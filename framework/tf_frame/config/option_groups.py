"""The run options, which belong to no plugin, in the groups of `tf-frame run --help_all`.

Names and meanings follow the flags of slim, DeepLab and tf.estimator, so that their users
find the names they know. The docstring of each group is its heading in the help.
"""

from __future__ import annotations

import dataclasses

from tf_frame.config.option import option

# For `requires`: an option has an effect only if one of these is set.
_SUMMARIES = ("save_summaries_steps", "save_summaries_secs")
_PROFILES = ("profile_at_step", "profile_every_n_steps")
_TIMELINES = ("trace_at_step", "trace_every_n_steps")


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """Length of training, batch sizes, randomness."""

    max_steps: int = option(1000, "train up to this global step", min=1)
    train_batch_size: int = option(
        32, "examples per step, summed over all clones of this worker", min=1
    )
    eval_batch_size: int = option(32, "examples per evaluation step", min=1)
    eval_steps: int | None = option(
        None, "maximum number of evaluation steps; none: the whole evaluation split", min=1
    )
    evaluate: bool = option(True, "evaluate the last checkpoint after training")
    random_seed: int = option(1, "seed of initial values, shuffling and augmentation", min=0)
    overfit_batches: int = option(
        0,
        "train on the first N batches again and again, and evaluate on them too, to see whether "
        "the model can learn; 0: off",
        min=0,
    )
    strict: bool = option(
        False,
        "treat as errors: patterns without a match, options without effect, data warnings, an "
        "input whose position cannot be saved",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerOptions:
    """Learning rate and update of the variables."""

    learning_rate: float = option(0.01, "learning rate before any decay", min=0)
    warmup: str = option(
        "constant",
        "learning rate during --warmup_steps: constant --warmup_learning_rate (DeepLab's slow "
        "start), or a linear or exponential rise from there to --learning_rate",
        choices=("constant", "linear", "exponential"),
        requires="warmup_steps",
    )
    warmup_steps: int = option(0, "number of warm-up steps; 0: no warm-up", min=0)
    warmup_learning_rate: float = option(
        1e-4, "learning rate at the start of the warm-up", min=0, requires="warmup_steps"
    )
    decay_start: str = option(
        "after_warmup",
        "first step of --schedule: the end of the warm-up, or step 0 as in DeepLab before 2020",
        choices=("after_warmup", "step_0"),
    )
    trainable_scopes: tuple[str, ...] = option(
        (), "train only the variables in these scopes; empty: all"
    )
    moving_average_decay: float | None = option(
        None,
        "decay of the moving averages of the variables, such as 0.9999; 0 or none: no averages",
        min=0,
        max=1,
    )
    # The averages of the object detection API (tf.contrib.opt.MovingAverageOptimizer) have no
    # limit, the averages of slim's trainers have it.
    moving_average_num_updates: bool = option(
        True,
        "limit the decay of the moving averages to (1 + step) / (10 + step)",
        requires="moving_average_decay",
    )
    eval_moving_averages: bool = option(
        True,
        "evaluate and export the moving averages instead of the variables",
        requires="moving_average_decay",
    )
    sync_replicas: bool = option(
        False, "synchronous training: average the gradients of all worker replicas"
    )
    replicas_to_aggregate: int | None = option(
        None,
        "number of gradients that --sync_replicas averages; none: --worker_replicas",
        min=1,
        requires="sync_replicas",
    )
    summarize_gradients: bool = option(
        False, "write histogram and norm of every gradient", requires=_SUMMARIES
    )
    summarize_variables: bool = option(
        False,
        "write a histogram of every model variable and its moving average",
        requires=_SUMMARIES,
    )
    loss_average_decay: float | None = option(
        None,
        "decay of a moving average of every loss, such as 0.9; 0 or none: no averages",
        min=0,
        max=1,
        requires=_SUMMARIES,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class CloneOptions:
    """Combination of clones; values other than the defaults repeat older trainers."""

    batch_size_scope: str = option(
        "worker",
        "--train_batch_size counts the examples of one clone, of all clones of a worker, or of "
        "all workers that average gradients (--sync_replicas, or no parameter servers)",
        choices=("clone", "worker", "global"),
    )
    regularization: str = option(
        "full",
        "weight of the regularisation losses in the gradient; scaled: 1 / number of clones",
        choices=("full", "scaled", "none"),
    )
    total_loss: str = option(
        "mean", "mean or sum of the clones' losses as the reported loss", choices=("mean", "sum")
    )
    update_ops: str = option(
        "first_clone",
        "clones that run their update ops (moving statistics of batch norm)",
        choices=("first_clone", "all_clones"),
    )
    gradient_reduction: str = option(
        "sum",
        "add up the clones' gradients on the CPU, or by all-reduce between the clones' devices "
        "(NCCL between GPUs), so that only the sum goes to the CPU, where the variables are",
        choices=("sum", "all_reduce"),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """Precision, compilation and edits of the graph."""

    mixed_precision: str = option(
        "none", "compute in 16 bits where it is safe", choices=("none", "float16", "bfloat16")
    )
    loss_scale: float = option(0.0, "fixed loss scale for float16; 0: dynamic loss scaling", min=0)
    xla: bool = option(False, "compile the clones with XLA")
    recompute: tuple[str, ...] = option(
        (),
        "name scopes of the model, such as resnet_v1_50/block1,resnet_v1_50/block2: the gradients "
        "compute their activations again; less memory, the same gradients, longer steps",
    )
    show_model: bool = option(
        False, "show layers, output shapes, parameters, multiply-adds and activations, and stop"
    )
    # A screen of rows cannot show every layer of a large network.
    show_model_depth: int | None = option(
        None,
        "levels of scopes in the table of --show_model; none: a screen of rows, the costliest "
        "scopes in detail",
        min=1,
        requires="show_model",
    )
    graph_hook: str = option("", "module:function that edits the graph after the clones are built")
    quantize_delay_step: int = option(
        -1, "first step with weights and activations quantised to 8 bits; -1: never", min=-1
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class WarmStartOptions:
    """Fine-tuning: initial values from another model's checkpoint."""

    warm_start_from: str = option(
        "",
        "a checkpoint, a folder with checkpoints, a SavedModel, a frozen graph (.pb), arrays "
        "(.npz, .h5), a network of Keras (.h5, .keras), or the name of weights (tf-frame weights "
        "list; auto: the best that fit); empty: none",
    )
    warm_start_include: tuple[str, ...] = option(
        (),
        "only variables with names that begin with one of these; empty: all",
        requires="warm_start_from",
    )
    warm_start_exclude: tuple[str, ...] = option(
        (), "leave out variables that begin with one of these", requires="warm_start_from"
    )
    warm_start_map: tuple[str, ...] = option(
        (),
        "REGEX=REPLACEMENT: turns a name in the graph into a name in the checkpoint; repeatable",
        verbatim=True,
        requires="warm_start_from",
    )
    warm_start_ignore_missing: bool = option(
        False, "ignore variables that the checkpoint does not have", requires="warm_start_from"
    )
    warm_start_skip_mismatched: bool = option(
        False,
        "ignore variables that have another shape in the checkpoint",
        requires="warm_start_from",
    )
    warm_start_global_step: bool = option(
        False, "also restore the global step", requires="warm_start_from"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceOptions:
    """Clones, GPUs, threads, placement of variables."""

    num_clones: int = option(
        1, "copies of the model that share a batch: one per GPU, or per logical CPU", min=1
    )
    batch_shards: int = option(
        0,
        "parts of the batch of all workers, each with its own part of the data: training does not "
        "depend on the number of workers, and resumes with any number up to this one; 0: off",
        min=0,
    )
    clone_on_cpu: bool = option(False, "put every clone on CPU:0")
    gpus: tuple[int, ...] = option(
        (),
        "numbers of the GPUs to use, such as 0,2, which become GPU:0 and GPU:1; empty: all",
        min=0,
    )
    gpu_memory_growth: bool = option(
        False, "take memory of the GPUs as it is needed, not all of it at the start"
    )
    gpu_memory_fraction: float | None = option(
        None, "part of the memory of each GPU to take, such as 0.9; none: all", min=0.01, max=1
    )
    intra_op_threads: int = option(
        0, "threads that share one operation on the CPU; 0: one for each core", min=0, max=1024
    )
    inter_op_threads: int = option(
        0, "operations that run at the same time; 0: one for each core", min=0, max=1024
    )
    environment: tuple[str, ...] = option(
        (),
        "NAME=VALUE: a variable for the process, such as LD_PRELOAD of an allocator; the command "
        "starts itself again with it; repeatable",
        verbatim=True,
    )
    placement: str = option(
        "round_robin",
        "distribution of variables over parameter servers: in turn, or balanced by bytes",
        choices=("round_robin", "balanced"),
    )
    show_placement: bool = option(False, "show the device of each variable, and stop")


# The value of `--warm_start_from` that lets tf-frame choose.
BEST_WEIGHTS = "auto"
# The value of `--cluster_from` for tasks that meet.
FOLDER = "folder"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Tasks that train together; tf-frame launch starts them."""

    cluster_from: str = option(
        "environment",
        "where the tasks of the job are described, unless by --worker_hosts or --master: in "
        "TF_CONFIG if it is set, or by Slurm; or the tasks meet in the model folder, and their "
        "number may change (needs --batch_shards)",
        choices=("environment", "slurm", FOLDER, "none"),
    )
    worker_hosts: tuple[str, ...] = option(
        (), "addresses of the workers, such as a:2222,b:2222; the first is the chief"
    )
    ps_hosts: tuple[str, ...] = option((), "addresses of the parameter servers")
    job_name: str | None = option(
        None,
        "job of this process, one of --worker_hosts or --ps_hosts, or the evaluator",
        choices=("worker", "ps", "evaluator"),
        requires="worker_hosts",
    )
    task: int = option(0, "index of this task in its job; worker 0 is the chief", min=0)
    master: str = option(
        "",
        "address of this worker's server, such as grpc://localhost:2222, if the servers are "
        "started elsewhere",
    )
    num_ps_tasks: int = option(
        0,
        "parameter server tasks, with --master or Slurm; 0: every worker holds the variables, "
        "and several workers all-reduce their gradients",
        min=0,
    )
    worker_replicas: int = option(1, "worker tasks that train together, with --master", min=1)
    dedicated_evaluator: bool = option(
        False, "a task of its own evaluates the checkpoints, and the chief does not"
    )
    startup_delay_steps: int = option(
        0, "worker K starts when the global step has reached K times this number", min=0
    )
    cluster_timeout_secs: float = option(
        300,
        "seconds to wait for the servers of other tasks, for the chief's variables, and for a "
        "model folder that does not answer",
        min=1,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoopOptions:
    """Training loop and hooks."""

    steps_per_loop: int = option(
        1, "steps in one session call, between steps that hooks want; for small models", min=1
    )
    show_hooks: bool = option(False, "show the hooks of a step in their order, and stop")
    on_nan: str = option(
        "raise",
        "fail, or stop training normally, at a loss that is NaN or infinite; this step is "
        "not saved",
        choices=("raise", "stop"),
    )
    eval_every_n_steps: int = option(
        0, "steps between evaluations during training; 0: evaluate only at the end", min=0
    )
    eval_every_secs: float | None = option(
        None,
        "seconds of training between evaluations, instead of or besides --eval_every_n_steps",
        min=0.001,
    )
    max_secs: float | None = option(
        None,
        "end training so many seconds after the start of the process: it saves, evaluates and says "
        "how to go on; leave time for both before a job's wall clock ends; none: no limit",
        min=0.001,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckpointOptions:
    """Checkpoints and their retention."""

    save_checkpoint_secs: float | None = option(
        600, "seconds between checkpoints; none: use --save_checkpoint_steps", min=0.001
    )
    save_checkpoint_steps: int | None = option(None, "steps between checkpoints", min=1)
    max_to_keep: int = option(5, "number of newest checkpoints to keep; 0: all", min=0)
    keep_checkpoint_every_n_hours: float | None = option(
        None, "also keep one checkpoint per this many hours of training", min=0.001
    )
    keep_best: int = option(
        0,
        "also keep this many checkpoints with the best --best_metric, in MODEL_DIR/best",
        min=0,
        requires=("evaluate", "eval_every_n_steps", "eval_every_secs"),
    )
    best_metric: str = option("loss", "evaluation metric for --keep_best", requires="keep_best")
    best_mode: str | None = option(
        None,
        "the best --best_metric is the smallest or the largest; none: as its name says (accuracy "
        "and IoU rise, loss and errors fall)",
        choices=("min", "max"),
        requires="keep_best",
    )
    async_checkpoint: bool = option(
        False, "write checkpoints in the background, from a copy of the variables"
    )
    allow_inexact_resume: bool = option(
        False,
        "train even if a resumed run cannot be exact, for queues of the input or random operations "
        "of the model cannot be saved; an input without a saved position begins a new pass",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProfilingOptions:
    """Profiles for TensorBoard, timelines for chrome://tracing."""

    profile_at_step: tuple[int, ...] = option(
        (), "global steps where a profile of --profile_num_steps steps begins", min=1
    )
    profile_num_steps: int = option(
        8,
        "steps in each profile; of 6 or more the Profile tab leaves out the first and the last",
        min=1,
        requires=_PROFILES,
    )
    profile_every_n_steps: int = option(
        0, "steps between the beginnings of profiles; 0: none", min=0
    )
    profile_keep: int | None = option(
        None,
        "newest profiles to keep in the folder, of tf-frame profile attach as well; none: all",
        min=1,
    )
    profile_dir: str | None = option(
        None,
        "folder of the profiles, except for tf-frame profile attach; none: --model_dir",
        requires=_PROFILES,
    )
    profile_all_workers: bool = option(
        False, "profile every task, not only the chief", requires=_PROFILES
    )
    trace_at_step: tuple[int, ...] = option(
        (), "global steps to write a timeline of, as --trace_every_n_steps does", min=1
    )
    trace_every_n_steps: int = option(
        0, "steps between timelines, tf_trace-STEP.json for chrome://tracing; 0: none", min=0
    )
    # `show_memory` of tf.estimator's ProfilerHook; off, because recording allocations takes time.
    trace_memory: bool = option(False, "show memory in the timelines", requires=_TIMELINES)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Summaries and logs."""

    save_summaries_steps: int | None = option(
        100, "steps between summaries; 0 or none: no summaries, or --save_summaries_secs", min=0
    )
    save_summaries_secs: int | None = option(None, "seconds between summaries", min=1)
    log_every_n_steps: int = option(10, "steps between progress lines; 0: none", min=0)
    peak_gflops: float | None = option(
        None,
        "GFLOP/s that the devices of this process can reach, for the share of it in progress lines "
        "and result.json; none: as tf-frame doctor measured",
        min=0,
    )
    log_device_placement: bool = option(False, "log the device of every operation")
    verbosity: str = option(
        "none",
        "level of TensorFlow's own log messages that are shown; debug also shows the whole "
        "traceback of an error in a plugin",
        choices=("none", "warning", "info", "debug"),
    )


# Shown by `--help`, in this order; `--help_all` shows all options.
EVERYDAY = (
    *("max_steps", "train_batch_size", "learning_rate", "warmup_steps", "random_seed"),
    *("evaluate", "eval_every_n_steps", "eval_batch_size"),
    *("warm_start_from", "trainable_scopes", "mixed_precision", "num_clones"),
    *("save_checkpoint_secs", "save_checkpoint_steps", "max_to_keep", "keep_best"),
    *("save_summaries_steps", "log_every_n_steps", "profile_at_step", "trace_every_n_steps"),
)
