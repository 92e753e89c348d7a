"""Completion at TAB, asked as the scripts ask, and the scripts themselves in their shells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame.cli.completion import candidates, main
from tf_frame.errors import ConfigError
from tf_frame.text import printable

PROGRAM_FOLDER = str(Path(sys.executable).parent)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ev"], ["evaluate"]),
        (["run", "--learning_r"], ["--learning_rate"]),
        (["run", "--dry"], ["--dry_run"]),
        (["run", "--noeval"], ["--noeval_moving_averages", "--noevaluate"]),
        (["run", "--optimizer", "adam"], ["adam", "adamw"]),
        (["run", "--optimizer=adam"], ["--optimizer=adam", "--optimizer=adamw"]),
        (["run", "--optimizer", "=", "adam"], ["adam", "adamw"]),
        (["run", "--on_nan", "="], ["raise", "stop"]),
        (["run", "--on_nan", ""], ["raise", "stop"]),
        (["run", "--plugin", "deepl"], ["deeplab"]),
        (
            ["run", "--plugin", "classification", "--preset", "inception_d"],
            ["inception_distributed"],
        ),
        (["run", "--plugin", "deeplab", "--model.output_s"], ["--model.output_stride"]),
        (["run", "--plugin", "deeplab", "--model.output_stride", ""], ["8", "16", "32"]),
        (["run", "--optimizer", "adam", "--max_steps", "many", "--optimizer.beta1"], []),
        (["run", "--plugin", "no-such", "--num_cl"], ["--num_clones"]),
        (["run", "--config", ""], []),
        (["run", ""], []),
        (["plugins", "show", "classif"], ["classification"]),
        (["plugins", "check", "classif"], ["classification"]),
        (["plugins", "list", "--j"], ["--json"]),
        (["plugins", "n"], ["new"]),
        (["plugins", "new", "my-model", "--kind", "b"], ["bundle"]),
        (["plugins", "new", "my-model", "--d"], ["--directory"]),
        (["plugins", "why", "classif"], ["classification"]),
        (["plugins", "w"], ["why"]),
        (["checkpoint", "re"], ["rename"]),
        (["checkpoint", "rename", "--dr"], ["--drop", "--dry_run"]),
        (["completion", ""], ["bash", "zsh", "fish", "--help"]),
        (["export", "some/folder", "--format", "saved"], ["saved_model"]),
        (["evaluate", ""], []),
        (["launch", "--num_"], ["--num_ps", "--num_workers"]),
        (["launch", "--on", "sl"], ["slurm"]),
        (["launch", "--num_ps", "1", "--", ""], ["run"]),
        (["launch", "--", "run", "--plugin", "deepl"], ["deeplab"]),
        (["launch", "--", "run", "--plugin=deepl"], ["--plugin=deeplab"]),
        (["launch", "--", "run", "--model_d"], ["--model_dir"]),
        (["status", "some/folder", "--j"], ["--json"]),
        (["evaluate", "some/folder", "--contin"], ["--continuous"]),
        (["evaluate", "some/folder", "--loc"], ["--locked"]),
        (["run", "--loc"], ["--locked"]),
        (["doctor", "--j"], ["--json"]),
        (["profile", "a"], ["attach"]),
        (["profile", "--prove"], ["--prove", "--prove_secs"]),
        (["profile", "show", "--b"], ["--by"]),
        (["tune", "--plugin", "deeplab", "--ti"], ["--time"]),
        (["tensorboard", "some/folder", "--po"], ["--port"]),
        (["nonsense", "--"], []),
    ],
)
def test_the_last_word_is_completed(words, expected):
    assert sorted(candidates(words)) == sorted(expected)


def test_every_command_and_every_option_of_a_run_is_there():
    assert {"run", "evaluate", "predict", "export", "plugins", "checkpoint"} < set(candidates([""]))
    words_found = candidates(["run", "--plugin", "deeplab", "--"])
    assert {"--max_steps", "--model.aspp_channels", "--input.crop_size", "--set"} < set(words_found)


def test_options_of_the_plugins_of_a_folder(tmp_path):
    (tmp_path / "config.yaml").write_text("plugin: deeplab\n")
    words = ["evaluate", str(tmp_path), "--input.crop"]
    assert candidates(words) == ["--input.crop_size"]


def test_a_mistake_before_the_word_prints_nothing(capsys):
    assert main(["words", "run", "--plugin", "x", "--preset", ""]) == 0
    assert capsys.readouterr() == ("", "")


def test_an_unknown_shell_is_refused():
    with pytest.raises(ConfigError, match="'bsh' is not known; did you mean 'bash'"):
        main(["bsh"])


# What the shell would offer after these words, a line each.
BASH = """
source <(tf-frame completion bash)
COMP_WORDS=(tf-frame run --plugin deeplab --model.output_stride '')
COMP_CWORD=5
_tf_frame tf-frame
printf '%s\\n' "${COMPREPLY[@]}"
complete -p tf-frame
"""
ZSH = """
compdef() { print -- "compdef $@" }
compadd() { shift; print -l -- $@ }
source <(tf-frame completion zsh)
words=(tf-frame run --plugin deeplab --model.output_stride '')
CURRENT=6
_tf_frame
"""
FISH = """
tf-frame completion fish | source
complete -C 'tf-frame run --plugin deeplab --model.output_stride '
"""


@pytest.mark.parametrize(("shell", "program"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
def test_the_script_works_in_its_shell(shell, program):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    path = f"{PROGRAM_FOLDER}:{os.environ['PATH']}"
    done = subprocess.run(
        [shell, "-c", program],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert {"8", "16"} <= set(lines)
    if shell == "bash":
        assert lines[-1].split()[-1] == "tf-frame" and "-F _tf_frame" in lines[-1]


# The words that a shell reads if it takes what is offered.
OFFERED = """
source "$1"
COMP_WORDS=(program '')
COMP_CWORD=1
_tf_frame "$2"
eval "printf '%s\\0' end ${COMPREPLY[*]}"
"""


@COUNTS
def test_bash_offers_each_word_whole_and_in_quotes_where_it_needs_them(tmp_path, capsys, count):
    assert main(["bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/words\n")
    program.chmod(0o755)

    def check(words):
        (tmp_path / "words").write_text("".join(f"{word}\n" for word in words), newline="")
        paths = [str(tmp_path / "script"), str(program)]
        done = subprocess.run(
            ["bash", "-c", OFFERED, "bash", *paths], capture_output=True, check=True, cwd=tmp_path
        )
        assert done.stdout.decode().split("\0")[1:-1] == words

    # The command prints no others.
    words = TEXTS.filter(lambda text: text and printable(text) == text)
    hostile = strategies.sampled_from(["*", "$(id)", "`id`", "a b", "~", "--name=a b"])
    check_many(check, count, words=strategies.lists(words | hostile, max_size=5))
