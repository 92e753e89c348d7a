"""Parses YAML within bounds, so that no text takes gigabytes or minutes; writes quotes."""

from __future__ import annotations

import math
from typing import Any

import yaml

from tf_frame.text import short

_DEEPEST = 50
_MOST_NODES = 50_000
_MOST_DIGITS = 4000
_WHOLE_NUMBER = "tag:yaml.org,2002:int"


class YamlError(ValueError):
    """The reason why a text is no YAML, or is beyond the bounds, in one line with its place."""


class Bounded:
    """A base for loaders of PyYAML, before the loader: refuses what could grow without end.

    A text may have 50 levels, and 50,000 values with those that aliases repeat: aliases of lists
    of aliases multiply. A whole number may have 4,000 digits: more of them, which other bases than
    ten get past Python's own limit, can be neither compared with a text nor printed.

    Args:
      stream: a text, bytes or an open file, as PyYAML takes it.
    """

    def __init__(self: Any, stream: Any) -> None:
        super().__init__(stream)  # type: ignore[call-arg]
        self._depth = self._count = 0
        # Node -> number of values in it. A list that is being composed has none yet.
        self._sizes: dict[Any, int] = {}

    def compose_node(self: Any, parent: Any, index: Any) -> Any:
        """Composes a node; overrides the method of PyYAML's composer.

        Args:
          parent: the node above, None at the top.
          index: the place in the node above.

        Raises:
          yaml.MarkedYAMLError: the text is beyond the bounds.
        """
        mark = self.peek_event().start_mark
        self._count += 1
        if self._depth >= _DEEPEST:
            raise _beyond("it is nested too deeply", mark)
        if self._count > _MOST_NODES:
            # Before the rest of a megabyte is parsed, which takes a quarter of a minute.
            raise _beyond(f"it has more than {_MOST_NODES:,} values", mark)
        is_alias = self.check_event(yaml.AliasEvent)
        self._depth += 1
        node = super().compose_node(parent, index)  # type: ignore[misc]
        self._depth -= 1
        if not is_alias:
            self._sizes[node] = 1 + sum(map(self._sizes.__getitem__, _parts(node)))
        if self._sizes.get(node, _MOST_NODES + 1) > _MOST_NODES:
            raise _beyond("it has too many values, by aliases of lists or mappings", mark)
        return node

    def construct_scalar(self: Any, node: Any) -> Any:
        """Constructs a value; overrides the method of PyYAML's constructor.

        Args:
          node: the node of the value.

        Raises:
          yaml.MarkedYAMLError: a number has too many digits.
        """
        if node.tag == _WHOLE_NUMBER and len(node.value) > _MOST_DIGITS:
            raise _beyond("it has a number of thousands of digits", node.start_mark)
        return super().construct_scalar(node)  # type: ignore[misc]


def _parts(node: Any) -> list[Any]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _beyond(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.composer.ComposerError(problem=problem, problem_mark=mark)


def parse_yaml(text: str, loader: type[Any]) -> Any:
    """Returns the content of a YAML text.

    Args:
      text: the text.
      loader: a loader of PyYAML with the base `Bounded`.

    Raises:
      YamlError: the text is no YAML, or beyond the bounds.
    """
    try:
        return yaml.load(text, loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" in line {mark.line + 1}" if mark else ""
        raise YamlError(f"{short(error.problem or error.context)}{place}") from None
    except yaml.YAMLError as error:  # Characters that YAML does not allow.
        raise YamlError(short(" ".join(str(error).split()))) from None
    except (ValueError, OverflowError) as error:  # A date or a number that Python does not have.
        raise YamlError(f"a value of it: {short(error)}") from None


class QuotedText(str):
    """A text that is written in double quotes, with escapes of all that is not ASCII.

    Other programs, unlike PyYAML, read 1e-3 and y as no text.
    """


class _Dumper(yaml.SafeDumper):
    """Writes `QuotedText`."""


_Dumper.add_representer(
    QuotedText,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'),
)


def to_quoted_yaml(content: Any, *, flow: bool = False) -> str:
    """Returns content, in which texts may be `QuotedText`, as YAML.

    Args:
      content: texts, numbers, lists, mappings.
      flow: write it in one line.
    """
    text: str = yaml.dump(
        content, Dumper=_Dumper, sort_keys=False, width=math.inf, default_flow_style=flow
    )
    return text
