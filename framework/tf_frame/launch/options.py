"""Options of `tf-frame launch`: those of every job, and where a job may run."""

from __future__ import annotations

from tf_frame.config.option import Option

# --on NAME -> module with `OPTIONS` and `main(job, values)`, imported only if it is asked for.
PLACES = {
    "local": "tf_frame.launch.local",
    "slurm": "tf_frame.launch.slurm",
    "kubernetes": "tf_frame.launch.kubernetes",
    "env": "tf_frame.launch.env",
}
# Where a scheduler gives GPUs to the tasks.
GPUS_PER_WORKER = Option(
    "gpus_per_worker",
    int | None,
    None,
    "GPUs that the scheduler gives each task that trains; none: as it is set up",
    min=0,
)
ON = Option(
    "on",
    str,
    "local",
    "where the tasks run: on this machine; in Slurm, to which the job is submitted; in Kubernetes, "
    "for which a manifest is printed; or wherever the printed TF_CONFIG of each task is set",
    choices=tuple(PLACES),
)
OPTIONS = (
    Option(
        "num_ps",
        int,
        0,
        "parameter servers; 0: every worker holds the variables, and all-reduces the gradients",
        min=0,
    ),
    Option("num_workers", int, 1, "tasks that train, the chief among them", min=1),
    Option(
        "evaluator",
        bool,
        False,
        "a task of its own evaluates the checkpoints, while the others go on training",
    ),
    ON,
)
