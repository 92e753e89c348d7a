"""Describes how the options of a run differ from those in the `config.yaml` of an earlier run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tf_frame.config.values import to_text
from tf_frame.config.yaml_file import Named, Settings

_NAMES = ("plugin", "input", "optimizer", "schedule")
_PREFIXES = {"plugin": "model."}
# These may differ between the workers of one run, or with the path of its folder.
_OF_A_PROCESS = ("model_dir", "task", "master")


def changed_options(before: Settings, now: Settings) -> list[str]:
    """Returns a line such as `learning_rate 0.9, was 0.1` for each option that differs.

    Of a plugin that replaces another one, only the name is listed. An option that the earlier run
    did not have is left out.
    """
    names = [name for name in _NAMES if getattr(before, name) not in (None, getattr(now, name))]
    lines = [_line(name, getattr(now, name), getattr(before, name)) for name in names]
    hidden = tuple(_PREFIXES.get(name, f"{name}.") for name in names)
    for name, value in now.values.items():
        if name in before.values and name not in _OF_A_PROCESS and not name.startswith(hidden):
            lines += _compared(name, value, before.values[name])
    for word in ("transform", "hook"):
        lines += _listed(word, getattr(before, f"{word}s"), getattr(now, f"{word}s"))
    return lines


def _listed(
    word: str, before: Sequence[Named] | None, now: Sequence[Named] | None
) -> Iterator[str]:
    before, now = before or (), now or ()
    names, earlier = ([plugin.name for plugin in listed] for listed in (now, before))
    if names != earlier:
        yield _line(f"{word}s", names, earlier)
        return
    for new, old in zip(now, before, strict=True):
        for name, value in new.values.items():
            if name in old.values:
                yield from _compared(f"{word}.{new.name}.{name}", value, old.values[name])


def _compared(name: str, now: Any, before: Any) -> Iterator[str]:
    if _plain(now) != _plain(before):
        yield _line(name, now, before)


def _line(name: str, now: Any, before: Any) -> str:
    return f"{name} {to_text(now) or 'empty'}, was {to_text(before) or 'empty'}"


def _plain(value: Any) -> Any:
    """A value as a YAML file has it."""
    return list(value) if isinstance(value, tuple) else value
