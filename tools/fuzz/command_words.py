"""Commands with odd words: values and names of options, names of sub-commands, folders."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator, Sequence
from typing import Any

from odd_values import odd_name, odd_text

RUN = ("run", "--plugin", "classification", "--model.name", "lenet", "--input", "image_folder")
RUN += ("--input.data_dir", "data", "--input.image_size", "28")


def odd_command(chance: random.Random) -> list[str]:
    """Returns the words of a command, one or two of them odd, that ends before it trains."""
    return chance.choice((_run_words, _run_words, _launch_words, _other_words))(chance)


def _some_options(options: Sequence[Any], chance: random.Random) -> Iterator[str]:
    """Yields one or two options with odd values; sometimes a word, or a name with a mistake."""
    for _ in range(chance.choice((1, 1, 2))):
        option = chance.choice(list(options))
        name = odd_name(option.name, chance) if chance.random() < 0.2 else option.name
        form = chance.random()
        if form < 0.4:
            yield f"--{name}={odd_text(chance)}"
        elif form < 0.8:
            yield from (f"--{name}", odd_text(chance))
        elif form < 0.95:
            yield from ("--set", f"{name}={odd_text(chance)}")
        else:
            yield odd_text(chance)


def _run_words(chance: random.Random) -> list[str]:
    from tf_frame.command_line.parsing import parse_command_line
    from tf_frame.command_line.selection import SELECTION, TRYING
    from tf_frame.config.run_options import run_options

    chosen = parse_command_line(RUN[1:]).chosen
    assert chosen is not None
    options = [*SELECTION, *TRYING, *run_options(), *chosen.plugin_options()]
    return [*RUN, *_some_options(options, chance), "--print_config"]


def _launch_words(chance: random.Random) -> list[str]:
    from tf_frame.cli.launch import options_for

    place = chance.choice(("env", "slurm", "kubernetes"))
    own = options_for(["--on", place])
    words = ["launch", "--on", place, *(["--print_only"] if place == "slurm" else [])]
    words += ["--image", "image"] if place == "kubernetes" else []
    run_words = ["--model_dir", chance.choice((odd_text(chance), "/runs/a", "gs://b/a"))]
    return [*words, *_some_options(own, chance), "--", *RUN, *run_words]


def _other_words(chance: random.Random) -> list[str]:
    from tf_frame.cli.main import COMMANDS

    command = chance.choice(("evaluate", "predict", "export", "status", "doctor"))
    options = importlib.import_module(COMMANDS[command][0]).OPTIONS
    folder = chance.choice((odd_text(chance), "no_such_run"))
    words = {"doctor": [], "predict": [folder, "--output", odd_text(chance)]}.get(command, [folder])
    several = (
        [command, *words, *(_some_options(options, chance) if options else ())],
        ["checkpoint", chance.choice(("show", odd_text(chance))), folder],
        ["plugins", chance.choice(("show", "why", odd_text(chance))), odd_text(chance)],
        ["convert", chance.choice(("image_folder", odd_text(chance))), folder, "out"],
        ["completion", "words", "run", f"--{odd_text(chance)}"],
        ["profile", chance.choice(("show", "diff", odd_text(chance))), folder],
        [odd_text(chance), odd_text(chance)],
    )
    return chance.choice(several)
