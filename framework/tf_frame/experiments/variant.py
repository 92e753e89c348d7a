"""`Variant`: changes of a training: options and environment variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from tf_frame.config.option import EXCLUSIVE


@dataclasses.dataclass(frozen=True)
class Variant:
    """Changes of a training.

    Attributes:
      options: option of the run -> its value, as on the command line; `hook` has the names of all
        hooks, with commas.
      environment: variables of the process.
    """

    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        return " ".join([*variables, *_option_words(self.options)])

    def __or__(self, other: Variant) -> Variant:
        """Returns the changes of both; those of the other win."""
        return Variant({**self.options, **other.options}, {**self.environment, **other.environment})

    def words(self, words: Sequence[str]) -> list[str]:
        """Returns the words of `tf-frame run` with the changes, which come last and so win."""
        options = dict(self.options)
        hooks = options.pop("hook", None)
        # Of some pairs of options only one may be given.
        unset = {EXCLUSIVE[name]: "none" for name in options if name in EXCLUSIVE}
        changed = [*words, *_option_words({**unset, **options})]
        changed += [f"--environment={name}={value}" for name, value in self.environment.items()]
        if hooks is not None:
            changed += ["--hook=", *(f"--hook={name}" for name in hooks.split(",") if name)]
        return changed


def _option_words(options: Mapping[str, str]) -> list[str]:
    return [f"--{name}={value}" for name, value in options.items()]
