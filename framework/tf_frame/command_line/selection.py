"""Options of `tf-frame run` that are not in `RunOptions`: plugins, folder, files, dry run."""

from __future__ import annotations

from tf_frame.config.option import Option
from tf_frame.runs.setup.training_setup import TRAIN, TRAIN_AND_EVALUATE

# Values of `--mode` that are sub-commands of their own.
COMMAND_MODES = ("evaluate", "predict", "export")
MODEL_DIR = Option(
    "model_dir", str, None, "where everything is written; default: a new folder in ./runs"
)
MODE = Option(
    "mode",
    str,
    TRAIN,
    "train, and evaluate at the end; train and evaluate every checkpoint that is saved; or do as "
    "tf-frame evaluate, predict and export with --model_dir",
    choices=(TRAIN, TRAIN_AND_EVALUATE, *COMMAND_MODES),
)
LOCKED = Option(
    "locked",
    bool,
    False,
    "refuse plugins of another version or content than the folder's config.yaml, or the one that "
    "--config names, has recorded, and plugins that it has not",
)
PLUGIN = Option("plugin", str, None, "the model to train; tf-frame plugins list shows all")
SELECTION = (
    PLUGIN,
    MODE,
    Option("input", str, None, "the input to train on; default: the model's own"),
    Option("optimizer", str, None, "how gradients become updates; default: the model's, momentum"),
    Option("schedule", str, None, "how the learning rate changes; default: the model's, fixed"),
    Option(
        "transform",
        tuple[str, ...],
        None,
        "a gradient transform, with a value for its first option after a colon "
        "(clip_by_norm:10); repeat it for several, they apply in this order",
        verbatim=True,
    ),
    Option(
        "hook",
        tuple[str, ...],
        None,
        "a hook in addition to the run options', with a value for its first option after a "
        "colon (heartbeat:60); repeat it for several",
        verbatim=True,
    ),
    Option(
        "preset",
        str,
        None,
        "a named set of options that the model provides; tf-frame plugins show lists them",
    ),
    MODEL_DIR,
    Option(
        "config",
        tuple[str, ...],
        None,
        "a YAML file with options; repeat it for several: later ones win; the command "
        "line wins over all",
        verbatim=True,
    ),
    Option(
        "set",
        tuple[str, ...],
        None,
        "KEY=VALUE sets any key of such a file, such as optimizer.momentum=0.8; repeatable; wins "
        "over the files",
        verbatim=True,
    ),
    LOCKED,
)
DRY_RUN = Option(
    "dry_run",
    bool,
    False,
    "build the graph, run two steps and one evaluation step, keep nothing, and stop",
)
PRINT_CONFIG = Option(
    "print_config",
    bool,
    False,
    "print every option with the source of its value, as YAML that --config reads, and stop",
)
PRINT_DATA = Option(
    "print_data",
    bool,
    False,
    "print the content of the data by split and class, unused files, and warnings where nothing "
    "can be learned, and stop; each run shows a short form",
)
# Options that try a training, or print it.
TRYING = (DRY_RUN, PRINT_CONFIG, PRINT_DATA)
