"""Bindings of names, their uses, and the scopes that hold them."""

from __future__ import annotations

import ast
import collections
import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(eq=False)
class Binding:
    """A name that an import or an assignment binds to something outside of the program.

    Attributes:
      name: the bound name.
      target: the full name that it stands for.
      statement: the import or assignment.
      alias: the part of the import; None for an assignment.
      optional: whether the program catches a failure, or asks for the version of Python.
      at_top: whether the statement belongs to the module, not to a function or class.
    """

    name: str
    target: str
    statement: ast.Import | ast.ImportFrom | ast.Assign
    alias: ast.alias | None
    optional: bool
    at_top: bool


@dataclasses.dataclass(eq=False)
class Use:
    """A use of a name of something outside of the program.

    Attributes:
      bindings: the bindings of the first part; several if the program binds it several times.
      attributes: the other parts.
      nodes: the expressions of the name, from the first part to the whole.
      is_caught: whether the program catches the error of a missing name there.
    """

    bindings: Sequence[Binding]
    attributes: Sequence[str]
    nodes: Sequence[ast.expr]
    is_caught: bool = False

    @property
    def names(self) -> Sequence[str]:
        """The full names that the program may mean, one for each binding."""
        return [".".join([binding.target, *self.attributes]) for binding in self.bindings]

    @property
    def line(self) -> int:
        """The line in the file."""
        return self.nodes[0].lineno


class Scope:
    """The names that a module, a class or a function binds, each with its bindings."""

    def __init__(
        self, counts: collections.Counter[str], parent: Scope | None, *, is_class: bool = False
    ) -> None:
        self.counts, self.parent, self.is_class = counts, parent, is_class
        self.bound: dict[str, list[Binding | None]] = {}

    def bind(self, name: str, binding: Binding | None) -> None:
        self.bound.setdefault(name, []).append(binding)
        self.counts[name] += 1

    def find(self, name: str) -> Sequence[Binding | None]:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bound and (scope is self or not scope.is_class):
                return scope.bound[name]
            scope = scope.parent
        return ()
