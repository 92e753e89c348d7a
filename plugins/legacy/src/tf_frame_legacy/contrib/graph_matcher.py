"""Finds operations of a graph by patterns of their types: `tf.contrib.quantize`'s graph_matcher."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


class MatchResult:
    """The operations and tensors that the patterns of a match stand for."""

    def __init__(self) -> None:
        self._matches: dict[Any, tuple[Any, Any]] = {}
        self._names: dict[str, Any] = {}

    def add(self, pattern: Any, op: Any, tensor: Any) -> None:
        """Notes that a pattern matches an operation, as the source of a tensor or None."""
        self._matches[pattern] = op, tensor
        if pattern.name is not None:
            if pattern.name in self._names and self._names[pattern.name] is not pattern:
                raise ValueError(f"Name {pattern.name} is already bound to another pattern")
            self._names[pattern.name] = pattern

    def merge_from(self, other: MatchResult) -> None:
        """Adds the matches of another result."""
        self._matches.update(other._matches)
        self._names.update(other._names)

    def get_op(self, pattern_or_name: Any) -> Any:
        """Returns the operation of a pattern or of its name; None without a match."""
        found = self._matches.get(self._pattern(pattern_or_name))
        return found[0] if found else None

    def get_tensor(self, pattern_or_name: Any) -> Any:
        """Returns the tensor of a pattern or of its name; None without a match."""
        found = self._matches.get(self._pattern(pattern_or_name))
        return found[1] if found else None

    def _pattern(self, pattern_or_name: Any) -> Any:
        if isinstance(pattern_or_name, Pattern):
            return pattern_or_name
        if isinstance(pattern_or_name, str):
            return self._names.get(pattern_or_name)
        raise ValueError(f"pattern_or_name has type {type(pattern_or_name)}, not Pattern or str")


class Pattern(abc.ABC):
    """A pattern of an operation and of the operations before it."""

    name: str | None = None

    @abc.abstractmethod
    def match(self, op: Any, tensor: Any) -> MatchResult | None:
        """Returns the match of an operation, the source of `tensor`; None without one."""


class OpTypePattern(Pattern):
    """Matches operations of a type, whose inputs match further patterns.

    Args:
      op_type: the type; `*` for any, `A|B` for one of several.
      name: a name for the result.
      inputs: patterns of all inputs; None: any inputs.
      ordered_inputs: whether the patterns have the order of the inputs; False for two inputs in
        any order.

    Raises:
      ValueError: more than 10 inputs without order.
    """

    def __init__(
        self,
        op_type: str,
        name: str | None = None,
        inputs: Sequence[Any] | None = None,
        ordered_inputs: bool = True,
    ) -> None:
        self._op_type = op_type
        self.name = name
        self._inputs = [
            part if part is None or isinstance(part, Pattern) else OpTypePattern(part)
            for part in inputs or ()
        ]
        self._ordered_inputs = ordered_inputs
        if not ordered_inputs and len(self._inputs) > 10:
            raise ValueError("Only supports up to 10 inputs when ordered_inputs is false.")

    @property
    def op_type(self) -> str:
        """The type of the operations."""
        return self._op_type

    def match(self, op: Any, tensor: Any) -> MatchResult | None:
        if self._op_type != "*" and op.type not in self._op_type.split("|"):
            return None
        result = MatchResult()
        result.add(self, op, tensor)
        if not self._inputs:
            return result
        if len(op.inputs) != len(self._inputs):
            return None
        for patterns in self._orders():
            if matches := _match_all(patterns, op.inputs):
                for match in matches:
                    result.merge_from(match)
                return result
        return None

    def _orders(self) -> Iterator[Sequence[Any]]:
        if self._ordered_inputs:
            return iter([self._inputs])
        return itertools.permutations(self._inputs)


class OneofPattern(Pattern):
    """Matches what the first of several patterns matches."""

    def __init__(self, sub_patterns: Iterable[Any]) -> None:
        self._sub_patterns = list(sub_patterns)

    def match(self, op: Any, tensor: Any) -> MatchResult | None:
        results = (pattern.match(op, tensor) for pattern in self._sub_patterns)
        return next((result for result in results if result is not None), None)


class GraphMatcher:
    """Finds the matches of a pattern in operations and graphs."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    def match_op(self, op: Any) -> MatchResult | None:
        """Returns the match that ends with an operation; None without one."""
        return self._pattern.match(op, None)

    def match_ops(self, ops: Iterable[Any]) -> Iterator[MatchResult]:
        """Yields the matches of several operations."""
        results = map(self.match_op, ops)
        return (result for result in results if result is not None)

    def match_graph(self, graph: Any) -> Iterator[MatchResult]:
        """Yields the matches of all operations of a graph."""
        return self.match_ops(graph.get_operations())


def _match_all(patterns: Sequence[Any], tensors: Sequence[Any]) -> list[MatchResult] | None:
    """Returns the matches of all inputs; a pattern of None takes any."""
    matches = []
    for pattern, tensor in zip(patterns, tensors, strict=True):
        match = MatchResult() if pattern is None else pattern.match(tensor.op, tensor)
        if match is None:
            return None
        matches.append(match)
    return matches
