"""Resolves the names in a syntax tree to full names, through imports, aliases and scopes.

slim = tf.contrib.slim     # an alias of a module
slim.conv2d(x, 8, 3)       # a use of tensorflow.contrib.slim.conv2d
"""

from __future__ import annotations

import ast
import builtins
import collections
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tf_frame_legacy.source.bindings import Binding, Scope, Use
from tf_frame_legacy.source.installed import absolute
from tf_frame_legacy.source.lookup import is_module, look_up
from tf_frame_legacy.source.project import Project, Source
from tf_frame_legacy.source.trees import catches_missing, children, is_guard, split_attribute

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
# Tuples are quicker than unions in the innermost loop.
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


class Names:
    """The names of a file.

    Attributes:
      bindings: the imports of packages and the aliases of modules.
      uses: the uses of their names, in order.
      unbound: names that are neither bound in the file nor a builtin of Python 3;
        without those that the program can do without.
      own: import statement -> the paths of the program's files that it imports.
      counts: how often the file binds a name, in all scopes.
      exports: what other files can import from this one; None for a name of its own.
    """

    def __init__(self, source: Source, program: _Program) -> None:
        self.bindings: list[Binding] = []
        self.uses: list[Use] = []
        self.unbound: list[ast.Name] = []
        self.own: dict[ast.stmt, set[str]] = {}
        self.counts: collections.Counter[str] = collections.Counter()
        self._source, self._program = source, program
        self._module = Scope(self.counts, None)
        self._aliases: set[ast.AST] = set()
        self._guarded = self._caught = False
        assert source.tree is not None
        self._collect(self._module, source.tree.body)
        self.exports: Mapping[str, Sequence[Binding] | None] = {
            name: [b for b in bound if b] or None for name, bound in self._module.bound.items()
        }

    def resolve(self) -> None:
        """Finds the uses."""
        assert self._source.tree is not None
        for statement in self._source.tree.body:
            self._visit(self._module, statement)

    def _collect(self, scope: Scope, body: Iterable[ast.AST], optional: bool = False) -> None:
        """Collects the names that statements bind, without those of inner functions."""
        for node in body:
            if isinstance(node, _DEFINITIONS):
                scope.bind(node.name, None)
            elif isinstance(node, _IMPORTS):
                self._collect_import(scope, node, optional)
            elif isinstance(node, ast.Assign) and self._collect_alias(scope, node):
                self._aliases.add(node)
            else:
                self._collect_targets(scope, node)
                optional_inside = optional or is_guard(node)
                for field in ("body", "handlers", "orelse", "finalbody"):
                    self._collect(scope, getattr(node, field, ()), optional_inside)

    def _collect_targets(self, scope: Scope, node: ast.AST) -> None:
        """Collects the names that a statement assigns to, or that an except clause binds."""
        if isinstance(node, ast.ExceptHandler) and node.name:
            scope.bind(node.name, None)
        withs = [item.optional_vars for item in getattr(node, "items", ())]
        targets = [*getattr(node, "targets", ()), *withs, getattr(node, "target", None)]
        for target in filter(None, targets):
            for part in ast.walk(target):
                if isinstance(part, ast.Name):
                    scope.bind(part.id, None)

    def _collect_alias(self, scope: Scope, node: ast.Assign) -> bool:
        """Binds the name in `slim = tf.contrib.slim`; returns whether it is such a statement."""
        target, use = node.targets[0], self._use(scope, node.value)
        if len(node.targets) > 1 or not isinstance(target, ast.Name) or use is None:
            return False
        modules = [name for name in use.names if is_module(name)]
        for module in modules:
            at_top = scope is self._module
            self._bind(scope, Binding(target.id, module, node, None, False, at_top))
        return bool(modules)

    def _collect_import(
        self, scope: Scope, node: ast.Import | ast.ImportFrom, optional: bool
    ) -> None:
        at_top = scope is self._module
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                self._collect_from(scope, node, alias, optional)
                continue
            name = alias.asname or alias.name.partition(".")[0]
            if self._is_own(alias.name, node):
                scope.bind(name, None)
            else:
                target = alias.name if alias.asname else name
                self._bind(scope, Binding(name, target, node, alias, optional, at_top))

    def _collect_from(
        self, scope: Scope, node: ast.ImportFrom, alias: ast.alias, optional: bool
    ) -> None:
        module, name = absolute(node, self._source.package), alias.asname or alias.name
        is_own_module = self._is_own(f"{module}.{alias.name}", node)
        if self._is_own(module, node) or node.level:
            exports = self._program.exports(module, self._source)
            names = exports if alias.name == "*" else {name: exports.get(alias.name)}
            for each, bindings in names.items():
                scope.bind(each, None)
                scope.bound[each] += bindings or ()
        elif alias.name == "*":
            self._bind(scope, Binding("*", module, node, alias, optional, False))
        elif is_own_module:
            scope.bind(name, None)
        else:
            target, at_top = f"{module}.{alias.name}", scope is self._module
            self._bind(scope, Binding(name, target, node, alias, optional, at_top))

    def _is_own(self, module: str, statement: ast.stmt) -> bool:
        """Returns whether a module is the program's: by its file, or by its package alone."""
        source = self._program.project.find(module, self._source)
        if source is not None:
            self.own.setdefault(statement, set()).add(source.path)
        root = module.partition(".")[0]
        is_inside = self._program.project.is_own(root) and look_up(module) is None
        return is_inside or self._program.project.is_own(module)

    def _bind(self, scope: Scope, binding: Binding) -> None:
        scope.bind(binding.name, binding)
        self.bindings.append(binding)

    def _visit(self, scope: Scope, node: ast.AST) -> None:
        """Finds the uses below a node."""
        visit = _VISITS.get(type(node), Names._visit_children)
        visit(self, scope, node)

    def _visit_children(self, scope: Scope, node: ast.AST) -> None:
        for child in children(node):
            self._visit(scope, child)

    def _visit_expression(self, scope: Scope, node: ast.expr) -> None:
        use = self._use(scope, node)
        if use is not None:
            use.is_caught = self._caught
            self.uses.append(use)
        elif isinstance(node, ast.Name):
            self._visit_name(scope, node)
        else:
            self._visit_children(scope, node)

    def _visit_assignment(self, scope: Scope, node: ast.Assign) -> None:
        if node not in self._aliases:
            self._visit_children(scope, node)

    def _visit_class(self, scope: Scope, node: ast.ClassDef) -> None:
        inner = Scope(self.counts, scope, is_class=True)
        self._collect(inner, node.body)
        for child in children(node):
            self._visit(inner if child in node.body else scope, child)

    def _visit_comprehension(self, scope: Scope, node: _Comprehension) -> None:
        inner = Scope(self.counts, scope)
        for generator in node.generators:
            self._collect_targets(inner, generator)
        self._visit_children(inner, node)

    def _visit_guard(self, scope: Scope, node: ast.If | ast.Try) -> None:
        before = self._guarded, self._caught
        self._guarded = self._guarded or is_guard(node)
        self._caught = self._caught or catches_missing(node)
        self._visit_children(scope, node)
        self._guarded, self._caught = before

    def _visit_function(self, scope: Scope, node: _Function) -> None:
        inner = Scope(self.counts, scope)
        arguments = node.args
        names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for argument in filter(None, [*names, arguments.vararg, arguments.kwarg]):
            inner.bind(argument.arg, None)
        if isinstance(node, ast.Lambda):
            inside: set[ast.AST] = {node.body}
        else:
            inside = set(node.body)
            self._collect(inner, node.body)
        for child in children(node):
            self._visit(inner if child in inside else scope, child)

    def _visit_name(self, scope: Scope, node: ast.Name) -> None:
        is_bound = scope.find(node.id) or hasattr(builtins, node.id)
        if not is_bound and not self._guarded:
            self.unbound.append(node)

    def _use(self, scope: Scope, node: ast.expr) -> Use | None:
        """Returns the use that an expression is; None for any other expression."""
        nodes: list[ast.expr] = [node]
        attributes: list[str] = []
        while not isinstance(node, ast.Name):
            part = split_attribute(node)
            if part is None:
                return None
            node, attribute = part
            nodes.append(node)
            attributes.append(attribute)
        bindings = [binding for binding in scope.find(node.id) if binding is not None]
        return Use(bindings, attributes[::-1], nodes[::-1]) if bindings else None


# Type of a node -> the method that finds the uses below it; other nodes: below their children.
_VISITS: Mapping[type[ast.AST], Callable[[Names, Scope, Any], None]] = {
    **dict.fromkeys((ast.Attribute, ast.Call, ast.Name), Names._visit_expression),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda), Names._visit_function),
    **dict.fromkeys(typing.get_args(_Comprehension), Names._visit_comprehension),
    **dict.fromkeys((ast.If, ast.Try), Names._visit_guard),
    ast.Assign: Names._visit_assignment,
    ast.ClassDef: Names._visit_class,
}


class _Program:
    """The names of the files of a program, each resolved once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.names: dict[str, Names | None] = {}

    def find_names(self, source: Source) -> Names | None:
        """Returns the names of a file; None if it cannot be parsed, or is just being resolved."""
        if source.path not in self.names and source.tree is not None:
            self.names[source.path] = None  # For modules that import each other.
            self.names[source.path] = Names(source, self)
        return self.names.get(source.path)

    def exports(self, module: str, importer: Source) -> Mapping[str, Sequence[Binding] | None]:
        """Returns what a file can import from a module of the program."""
        source = self.project.find(module, importer)
        found = self.find_names(source) if source else None
        return found.exports if found else {}


def resolve(project: Project) -> Mapping[str, Names]:
    """Returns the names of each file that can be parsed, by path."""
    program = _Program(project)
    for source in project.sources:
        program.find_names(source)
    resolved = {path: found for path, found in program.names.items() if found is not None}
    for found in resolved.values():
        found.resolve()
    program.names.clear()  # A cycle of references would keep the trees.
    return resolved
