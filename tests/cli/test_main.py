"""`tf-frame` itself: commands, errors, and that quick answers never import TensorFlow."""

import json
import re
import subprocess
import sys

import pytest

from step_profiles import make_profile, write_profile
from tf_frame.cli.main import main

# Every command in one process: what TensorFlow is imported by is the first case that says so.
RUN_ALL = """
import contextlib, io, json, sys
from tf_frame.cli.main import main
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    printed = [out.getvalue(), err.getvalue()]
    print(json.dumps([code, "tensorflow" in sys.modules, *printed]), flush=True)
"""

# Words after `tf-frame` (D: run --plugin deeplab, FOLDER: of a run), exit code, part of the output.
QUICK = [
    ("--help", 0, "usage: tf-frame COMMAND"),
    ("--version", 0, "tf-frame 0"),
    ("", 2, "usage: tf-frame COMMAND"),
    ("rn", 2, "did you mean 'run'?"),
    ("plugins list", 0, "deeplab"),
    ("plugins list --json", 0, '"name": "deeplab"'),
    ("plugins list --check", 0, "deeplab"),
    ("plugins show deeplab", 0, "--model.output_stride 8|16"),
    ("plugins show nothing", 2, "tf-frame plugins list shows the"),
    ("plugins new --help", 0, "--kind model|input|gradient_transform|hook|command|bundle"),
    ("plugins new --help", 0, "  model               a model and an input"),
    ("plugins new deeplab --kind model", 2, "has a model 'deeplab'"),
    ("plugins why deeplab", 0, "can be used"),
    ("plugins why deeplb", 2, "did you mean 'deeplab'?"),
    ("plugins lst", 2, "did you mean 'list'?"),
    ("plugins why --help", 0, "usage: tf-frame plugins list"),
    ("run", 2, "--plugin NAME (installed: classification, deeplab"),
    ("D --optimizer adm", 2, "did you mean 'adam'"),
    ("D --schedule pol", 2, "did you mean 'poly'"),
    ("D --transform clip:3", 2, "no gradient transform"),
    ("D --optimizer.momentum 2", 2, "allowed: 0 to 1"),
    ("run --help", 0, "--num_clones INT"),
    ("run --help_all", 0, "--[no]trace_memory"),
    ("D --print_config", 0, "max_steps: 320  # run_defaults of"),
    ("D --set max_step=5", 2, "did you mean max_steps?"),
    ("completion bash", 0, "complete -o bashdefault"),
    ("completion words run --plugin deeplab --model.asp", 0, "--model.aspp_chan"),
    ("completion bsh", 2, "did you mean 'bash'?"),
    ("D --help", 0, "--input.crop_size INT"),
    ("run --plugin deeplb", 2, "did you mean 'deeplab'?"),
    ("D --num_clone 2", 2, "did you mean --num_clones?"),
    ("D --model.output_strid 8", 2, "did you mean --model.output_stride?"),
    ("D --max_steps many", 2, "not a whole number"),
    ("D --model.output_stride 7", 2, "allowed: 8, 16"),
    ("D --num_clones 0", 2, "allowed: 1 or more"),
    ("D --num_clones 3", 2, "not divisible"),
    ("D --input.data_dir /no/such", 2, "/no/such"),
    ("D --config /no/such.yaml", 2, "No such file"),
    (
        "D --input image_folder",
        2,
        "of tf-frame-deeplab 0.1.0 needs; inputs for it: coco_masks, labelme_masks, nuclei",
    ),
    ("D --strict --warm_start_map a=b", 2, "--warm_start_from (an error because of --strict)"),
    ("D --warm_start_from mobilenet_v1_imagnet", 2, "did you mean 'mobilenet_v1_imagenet'"),
    ("D --warm_start_from xyz", 2, "no weights have this name; tf-frame weights list shows all"),
    ("predict --plugin deeplab --warm_start_from mobilenet_v1_imagnet", 2, "did you mean 'mobile"),
    ("predict --input new", 2, "or, without a run, which weights: --weights NAME; or which publ"),
    ("predict --weigths NAME --input new", 2, "unknown option --weigths; did you mean --weights?"),
    ("evaluate --checkpiont x", 2, "unknown option --checkpiont; did you mean --checkpoint?"),
    ("D --warm_start_map fc1", 2, "expected REGEX=REPLACE"),
    ("D --graph_hook edits", 2, "expected module:function"),
    ("D --schedule multi_steps", 2, "boundaries"),
    ("D --optimizer adam --optimizer.beta1 1", 2, "--optimizer.beta1 1.0: must be below 1"),
    ("D --optimizer.beta1 0.8", 2, "beta1 belongs to adam, adamw, lamb; the optimizer is momen"),
    ("D --schedule.decay_factor 8", 2, "belongs to exponential, step; the schedule is poly"),
    (
        "run --plugin classification --input.crop_size 9",
        2,
        "crop_size belongs to coco_masks, labelme_masks, nuclei, segmen",
    ),
    ("D --model.max_class_metrics 9", 2, "belongs to classification; the model is deeplab"),
    ("D --transform noise --transform.noise.norm 9", 2, "clip_by_norm; the transform is noise"),
    ("D --hook.heartbeat.every_secs 9", 2, "heartbeat is not in use; give --hook heartbeat"),
    ("D --transform freeze:(", 2, "not a regular expression"),
    ("doctor --help", 0, "usage: tf-frame doctor [MODEL_DIR]"),
    ("doctor --jsn", 2, "did you mean --json?"),
    ("doctor a b", 2, "takes one folder, MODEL_DIR; given: a b"),
    ("tensorboard --help", 0, "usage: tf-frame tensorboard MODEL_DIR"),
    ("tensorboard --port 1", 2, "takes folders of runs, MODEL_DIR ...; given: none"),
    ("tensorboard /no/such", 2, "/no/such: there is no such folder"),
    ("evaluate --help", 0, "usage: tf-frame evaluate MODEL_DIR"),
    ("evaluate somewhere -h", 0, "--[no]continuous"),
    ("evaluate", 2, "usage: tf-frame evaluate MODEL_DIR"),
    ("launch --help", 0, "--gpus_per_worker INT"),
    ("launch --num_ps 1 -- run --plugin deeplb", 2, "did you mean 'deeplab'?"),
    ("launch --on slrm -- run", 2, "did you mean 'slurm'?"),
    ("status --help", 0, "usage: tf-frame status MODEL_DIR"),
    ("status /no/such", 2, "there is no such folder"),
    ("predict --help", 0, "usage: tf-frame predict MODEL_DIR"),
    ("predict --help", 0, "--format csv|jsonl"),
    ("export --help", 0, "usage: tf-frame export MODEL_DIR"),
    ("run --mode export --help", 0, "usage: tf-frame export MODEL_DIR"),
    ("run --mode evaluate --help", 0, "usage: tf-frame evaluate MODEL_DIR"),
    ("run --mode predict --help", 0, "usage: tf-frame predict MODEL_DIR"),
    ("run --mode fit --plugin deeplab", 2, "--mode: 'fit' is not known; allowed: train, train_and"),
    ("profile show", 2, "usage: tf-frame profile show MODEL_DIR"),
    ("profile show --help", 0, "--task TEXT"),
    ("profile show FOLDER --json", 0, '"task": "worker_0"'),
    ("profile merge FOLDER", 0, "on 2 rows"),
    ("profile diff --help", 0, "usage: tf-frame profile diff BEFORE AFTER"),
    ("profile merge --help", 0, "usage: tf-frame profile merge MODEL_DIR"),
    ("profile merge a b", 2, "tf-frame profile merge takes one folder, MODEL_DIR; given: a b"),
    ("profile gc --help", 0, "usage: tf-frame profile gc MODEL_DIR --keep N"),
    ("checkpoint --help", 0, "tf-frame checkpoint diff PATH PATH"),
    ("checkpoint rename --help", 0, "tf-frame checkpoint rename PATH NEW"),
    ("checkpoint", 2, "usage: tf-frame checkpoint list DIR"),
    ("checkpoint lst", 2, "tf-frame checkpoint: 'lst' is not known; did you mean 'list'?"),
    ("checkpoint qqqq", 2, "allowed: list, show, diff, rename, average"),
    ("checkpoint list", 2, "tf-frame checkpoint list takes DIR; given: none"),
    ("checkpoint diff a", 2, "tf-frame checkpoint diff takes PATH PATH; given: a"),
    ("checkpoint show a b", 2, "takes PATH; given: a b"),
    ("checkpoint average new", 2, "takes NEW PATH PATH ..., or NEW DIR; given: new"),
    ("checkpoint show a --valus", 2, "unknown option --valus; did you mean --values?"),
    ("checkpoint rename a b --rul x=y", 2, "unknown option --rul; did you mean --rule?"),
    ("checkpoint show a --filter", 2, "Missing value for flag --filter"),
    ("checkpoint rename a b", 2, "takes --rule REGEX=REPLACEMENT, or --drop"),
    ("checkpoint average a b --last 0", 2, "--last: 0 is out of range; allowed: 1 or more"),
    ("checkpoint average a b --last x", 2, "--last: 'x' is not a whole number"),
    ("checkpoint list a --json=maybe", 2, "--json: 'maybe' is not true or false"),
    ("export /no/such --format tflite", 2, "/no/such: there is no such folder"),
    ("export FOLDER --format tfl", 2, "did you mean 'tflite'?"),
    ("export FOLDER", 2, "say what to write: --format saved_model|frozen_graph|tflite|tflite_i"),
    ("plugins check --help", 0, "usage: tf-frame plugins check NAME"),
    ("plugins check cosin", 2, "did you mean 'cosine'?"),
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Exit code, whether TensorFlow was imported, output and messages of every command."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "config.yaml").write_text("plugin: deeplab\n")
    device = "/job:localhost/replica:0/task:0/device:CPU:0"
    profile = make_profile("worker_0", [(device, "a", "Add", 0, 10)])
    write_profile(folder, "2026_01_31_12_00_00", profile)
    texts = [text for text, _, _ in QUICK]
    words = [re.sub(r"^D\b", "run --plugin deeplab", text) for text in texts]
    words = [text.replace("FOLDER", str(folder)).split() for text in words]
    process = subprocess.run(
        [sys.executable, "-c", RUN_ALL],
        input=json.dumps(words),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.stderr == ""
    results = [json.loads(line) for line in process.stdout.splitlines()]
    return dict(zip(texts, results, strict=True))


@pytest.mark.parametrize(("words", "code", "expected"), QUICK)
def test_no_tensorflow(answers, words, code, expected):
    found_code, imported, out, err = answers[words]
    assert (found_code, imported) == (code, False)
    assert expected in out + err
    assert "Traceback" not in err
    assert not out or not err
    assert len(err.splitlines()) <= 1


def test_importing_the_package_does_not_import_tensorflow():
    program = "import sys, tf_frame, tf_frame.testing.toy; print('tensorflow' in sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert output.stdout.strip() == "False"


@pytest.mark.parametrize("words", [["run", "--model_dir", "caf\udce9"], ["evaluate", "caf\udce9"]])
def test_a_path_that_is_not_utf_8_is_refused(words, capsys):
    assert main(words) == 2
    assert "the argument 'caf\\udce9' is not UTF-8" in capsys.readouterr().err
