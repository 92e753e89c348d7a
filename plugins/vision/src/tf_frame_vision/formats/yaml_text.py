"""Reads YAML that other programs wrote, such as `data.yaml` of YOLO; all values are texts.

A class that is called `no`, `1.0` or `1e3` keeps its name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tf_frame.errors import DataError
from tf_frame.text_file import read_text


class _Texts(yaml.BaseLoader):
    """Refuses a key that a mapping has twice, and aliases by which few lines become billions."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            if isinstance(self.anchors.get(event.anchor), yaml.CollectionNode):
                raise yaml.composer.ComposerError(
                    problem=f"*{event.anchor} stands for a list or mapping, which must be written "
                    "out",
                    problem_mark=event.start_mark,
                )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        scalars = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key in scalars:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {key.value!r} occurs twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """Returns the mapping in a file: its values are texts, lists and mappings.

    Raises:
      DataError: the file cannot be read, is no YAML, or has a key twice.
    """
    try:
        content = yaml.load(read_text(path), _Texts)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" in line {mark.line + 1}" if mark else ""
        raise DataError(f"{path} is no YAML: {error.problem or error.context}{place}") from None
    except yaml.YAMLError as error:
        raise DataError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise DataError(f"{path} is no YAML: it is nested too deeply") from None
    if not isinstance(content, dict):
        raise DataError(f"{path} is no data set of YOLO: it has no lines such as names: [cat, dog]")
    return content
