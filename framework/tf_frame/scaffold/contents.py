"""The plugins that a new distribution gets for each value of `--kind`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from tf_frame.plugin.kinds import COMMAND, GRADIENT_TRANSFORM, HOOK, INPUT, MODEL, Kind
from tf_frame.scaffold.names import class_name, package_name
from tf_frame.text import with_article


@dataclasses.dataclass(frozen=True)
class Part:
    """A plugin in a distribution.

    Attributes:
      folder: its folder of templates.
      kind: its kind.
      module: the module of its class, below the package.
      option: the option of `tf-frame run` that chooses it; empty for a command.
      suffix: end of the name of its class, next to a model.
    """

    folder: str
    kind: Kind
    module: str
    option: str
    suffix: str


_MODEL = Part("model", MODEL, "model", "--plugin", "")
_INPUT = Part("input", INPUT, "digits", "--input", "Input")
_TRANSFORM = Part(
    "gradient_transform", GRADIENT_TRANSFORM, "normalized", "--transform", "Transform"
)
_HOOK = Part("hook", HOOK, "hook", "--hook", "Hook")
_COMMAND = Part("command", COMMAND, "command", "", "Command")
# The value of --kind -> parts of the distribution.
CONTENTS: Mapping[str, Sequence[Part]] = {
    "model": (_MODEL, _INPUT),  # A model that can be tried needs data.
    "input": (_INPUT,),
    "gradient_transform": (_TRANSFORM,),
    "hook": (_HOOK,),
    "command": (_COMMAND,),
    "bundle": (_MODEL, _INPUT, _TRANSFORM, _HOOK),
}


def plugin_class_name(name: str, part: Part, choice: str) -> str:
    """Returns the name of a plugin's class."""
    is_first = part == CONTENTS[choice][0]
    return class_name(name) + ("" if is_first else part.suffix)


def describe(choice: str) -> str:
    """Returns the kinds of the plugins in words: `a model and an input`."""
    named = [with_article(part.kind.word) for part in CONTENTS[choice]]
    return " and ".join([", ".join(named[:-1]), named[-1]] if named[1:] else named)


def run_command(name: str, choice: str) -> str:
    """Returns the command that runs the plugins; without a model the reader completes it."""
    parts = CONTENTS[choice]
    plugin = package_name(name)
    if _COMMAND in parts:
        return f"tf-frame {plugin} --help"
    words = [] if _MODEL in parts else ["--plugin MODEL"]
    # The model chooses the input as its default.
    words += [f"{p.option} {plugin}" for p in parts if p != _INPUT or _MODEL not in parts]
    command = f"tf-frame run {' '.join(words)}"
    return command if _MODEL in parts else f"{command}  # MODEL: one that is installed"
