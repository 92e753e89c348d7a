"""`tf-frame` itself: commands, errors, and that quick answers never import TensorFlow."""

import json
import subprocess
import sys

import pytest

RUN_WITHOUT_TENSORFLOW = """
import json, sys
from tf_frame.cli.main import main
code = main(sys.argv[1:])
print(json.dumps([code, "tensorflow" in sys.modules]), file=sys.stderr)
"""


def run(*words):
    """Exit code, whether TensorFlow was imported, and the output."""
    process = subprocess.run(
        [sys.executable, "-c", RUN_WITHOUT_TENSORFLOW, *words],
        capture_output=True,
        text=True,
        timeout=60,
    )
    *messages, last = process.stderr.splitlines()
    code, imported = json.loads(last)
    return code, imported, process.stdout + "\n".join(messages)


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["--help"], 0, "usage: tf-frame COMMAND"),
        (["--version"], 0, "tf-frame 0"),
        ([], 2, "usage: tf-frame COMMAND"),
        (["rn"], 2, "did you mean 'run'?"),
        (["plugins", "list"], 0, "deeplab"),
        (["plugins", "list", "--json"], 0, '"name": "deeplab"'),
        (["plugins", "list", "--check"], 0, "deeplab"),
        (["plugins", "show", "deeplab"], 0, "--model.output_stride 8|16"),
        (["plugins", "show", "nothing"], 2, "installed: "),
        (["run"], 2, "--plugin NAME (installed: classification, deeplab"),
        (["run", "--plugin", "deeplab", "--optimizer", "adm"], 2, "did you mean 'adam'"),
        (["run", "--plugin", "deeplab", "--schedule", "pol"], 2, "did you mean 'poly'"),
        (["run", "--plugin", "deeplab", "--transform", "clip:3"], 2, "no gradient transform"),
        (["run", "--plugin", "deeplab", "--optimizer.momentum", "2"], 2, "allowed: 0 to 1"),
        (["run", "--help"], 0, "--num_clones INT"),
        (["run", "--help_all"], 0, "--[no]trace_gzip"),
        (["run", "--plugin", "deeplab", "--help"], 0, "--input.crop_size INT"),
        (["run", "--plugin", "deeplb"], 2, "did you mean 'deeplab'?"),
        (["run", "--plugin", "deeplab", "--num_clone", "2"], 2, "did you mean --num_clones?"),
        (
            ["run", "--plugin", "deeplab", "--model.output_strid", "8"],
            2,
            "did you mean --model.output_stride?",
        ),
        (["run", "--plugin", "deeplab", "--max_steps", "many"], 2, "not a whole number"),
        (["run", "--plugin", "deeplab", "--model.output_stride", "7"], 2, "allowed: 8, 16"),
        (["run", "--plugin", "deeplab", "--num_clones", "0"], 2, "allowed: 1 or more"),
        (["run", "--plugin", "deeplab", "--num_clones", "3"], 2, "not divisible"),
        (["run", "--plugin", "deeplab", "--input.data_dir", "/no/such"], 2, "/no/such"),
        (["run", "--plugin", "deeplab", "--config", "/no/such.yaml"], 2, "No such file"),
        (
            ["run", "--plugin", "deeplab", "--strict", "--warm_start_map", "a=b"],
            2,
            "no effect without --warm_start_from (an error because of --strict)",
        ),
        (["run", "--plugin", "deeplab", "--warm_start_map", "fc1"], 2, "expected REGEX=REPLACE"),
        (["run", "--plugin", "deeplab", "--graph_hook", "edits"], 2, "expected module:function"),
        (["run", "--plugin", "deeplab", "--schedule", "multi_steps"], 2, "boundaries"),
        (
            ["run", "--plugin", "deeplab", "--optimizer", "adam", "--optimizer.beta1", "1"],
            2,
            "--optimizer.beta1 1.0: must be below 1",
        ),
        (["run", "--plugin", "deeplab", "--transform", "freeze:("], 2, "not a regular expression"),
        (["checkpoint", "--help"], 0, "rename"),
        (["evaluate", "--help"], 0, "usage: tf-frame evaluate MODEL_DIR"),
        (["predict", "--help"], 0, "usage: tf-frame predict MODEL_DIR"),
        (["export", "--help"], 0, "usage: tf-frame export MODEL_DIR"),
        (["run", "--mode", "export", "--help"], 0, "usage: tf-frame export MODEL_DIR"),
        (["checkpoint", "shw", "x"], 2, "shw"),
    ],
)
def test_no_tensorflow(words, code, expected):
    found_code, imported, output = run(*words)
    assert (found_code, imported) == (code, False)
    assert expected in output
    assert "Traceback" not in output


def test_importing_the_package_does_not_import_tensorflow():
    program = "import sys, tf_frame, tf_frame.testing.toy; print('tensorflow' in sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert output.stdout.strip() == "False"


@pytest.mark.parametrize("words", [["--num_clone", "2"], ["--max_steps", "x"], ["--bogus"]])
def test_a_wrong_option_is_one_line(words):
    _, _, output = run("run", "--plugin", "deeplab", *words)
    assert len(output.strip().splitlines()) == 1
