"""Resolves the names in a syntax tree to full names, through imports, aliases and scopes.

slim = tf.contrib.slim     # an alias of a module
slim.conv2d(x, 8, 3)       # a use of tensorflow.contrib.slim.conv2d
"""

from __future__ import annotations

import ast
import builtins
import collections
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from tf_frame_legacy.source.installed import absolute
from tf_frame_legacy.source.lookup import is_module, look_up
from tf_frame_legacy.source.project import Project, Source

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# Tuples are quicker than unions in the innermost loop.
_NAMES = (ast.Attribute, ast.Name, ast.Call)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_GUARDING = (ast.If, ast.Try)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LEAVES = (ast.expr_context, ast.operator, ast.Constant)
# Errors that a program catches, or versions that it asks for, where a name may be missing.
_GUARDS = (
    *("ImportError", "ModuleNotFoundError", "NameError", "AttributeError", "Exception"),
    *("BaseException", "PY2", "PY3", "version_info"),
)


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

    def __init__(self, source: Source, project: Project, exports: _Exports) -> None:
        self.bindings: list[Binding] = []
        self.uses: list[Use] = []
        self.unbound: list[ast.Name] = []
        self.own: dict[ast.stmt, set[str]] = {}
        self.counts: collections.Counter[str] = collections.Counter()
        self._source, self._project, self._exports = source, project, exports
        self._module = _Scope(self.counts, None)
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

    def _collect(self, scope: _Scope, body: Iterable[ast.AST], optional: bool = False) -> None:
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
                optional_inside = optional or _is_guard(node)
                for field in ("body", "handlers", "orelse", "finalbody"):
                    self._collect(scope, getattr(node, field, ()), optional_inside)

    def _collect_targets(self, scope: _Scope, node: ast.AST) -> None:
        """Collects the names that a statement assigns to, or that an except clause binds."""
        if isinstance(node, ast.ExceptHandler) and node.name:
            scope.bind(node.name, None)
        withs = [item.optional_vars for item in getattr(node, "items", ())]
        targets = [*getattr(node, "targets", ()), *withs, getattr(node, "target", None)]
        for target in filter(None, targets):
            for part in ast.walk(target):
                if isinstance(part, ast.Name):
                    scope.bind(part.id, None)

    def _collect_alias(self, scope: _Scope, node: ast.Assign) -> bool:
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
        self, scope: _Scope, node: ast.Import | ast.ImportFrom, optional: bool
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
        self, scope: _Scope, node: ast.ImportFrom, alias: ast.alias, optional: bool
    ) -> None:
        module, name = absolute(node, self._source.package), alias.asname or alias.name
        is_own_module = self._is_own(f"{module}.{alias.name}", node)
        if self._is_own(module, node) or node.level:
            exports = self._exports(module, self._source)
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
        source = self._project.find(module, self._source)
        if source is not None:
            self.own.setdefault(statement, set()).add(source.path)
        root = module.partition(".")[0]
        is_inside = self._project.is_own(root) and look_up(module) is None
        return is_inside or self._project.is_own(module)

    def _bind(self, scope: _Scope, binding: Binding) -> None:
        scope.bind(binding.name, binding)
        self.bindings.append(binding)

    def _visit(self, scope: _Scope, node: ast.AST) -> None:
        """Finds the uses below a node."""
        if isinstance(node, _NAMES):
            use = self._use(scope, node)
            if use is not None:
                use.is_caught = self._caught
                self.uses.append(use)
                return
        if isinstance(node, ast.Name):
            self._visit_name(scope, node)
        elif isinstance(node, _FUNCTIONS):
            self._visit_function(scope, node)
        elif isinstance(node, ast.ClassDef):
            inner = _Scope(self.counts, scope, is_class=True)
            self._collect(inner, node.body)
            for child in _children(node):
                self._visit(inner if child in node.body else scope, child)
        elif isinstance(node, _COMPREHENSIONS):
            inner = _Scope(self.counts, scope)
            for generator in node.generators:
                self._collect_targets(inner, generator)
            for child in _children(node):
                self._visit(inner, child)
        elif isinstance(node, _GUARDING):
            before = self._guarded, self._caught
            self._guarded = self._guarded or _is_guard(node)
            self._caught = self._caught or _catches_missing(node)
            for child in _children(node):
                self._visit(scope, child)
            self._guarded, self._caught = before
        elif node not in self._aliases:
            for child in _children(node):
                self._visit(scope, child)

    def _visit_function(self, scope: _Scope, node: _Function) -> None:
        inner = _Scope(self.counts, scope)
        arguments = node.args
        names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for argument in filter(None, [*names, arguments.vararg, arguments.kwarg]):
            inner.bind(argument.arg, None)
        if isinstance(node, ast.Lambda):
            inside: set[ast.AST] = {node.body}
        else:
            inside = set(node.body)
            self._collect(inner, node.body)
        for child in _children(node):
            self._visit(inner if child in inside else scope, child)

    def _visit_name(self, scope: _Scope, node: ast.Name) -> None:
        is_bound = scope.find(node.id) or hasattr(builtins, node.id)
        if not is_bound and not self._guarded:
            self.unbound.append(node)

    def _use(self, scope: _Scope, node: ast.expr) -> Use | None:
        """Returns the use that an expression is; None for any other expression."""
        nodes: list[ast.expr] = [node]
        attributes: list[str] = []
        while not isinstance(node, ast.Name):
            part = _part(node)
            if part is None:
                return None
            node, attribute = part
            nodes.insert(0, node)
            attributes.insert(0, attribute)
        bindings = [binding for binding in scope.find(node.id) if binding is not None]
        return Use(bindings, attributes, nodes) if bindings else None


_Exports = Callable[[str, Source], Mapping[str, "Sequence[Binding] | None"]]


class _Scope:
    """The names that a module, a class or a function binds, each with its bindings."""

    def __init__(
        self, counts: collections.Counter[str], parent: _Scope | None, *, is_class: bool = False
    ) -> None:
        self.counts, self.parent, self.is_class = counts, parent, is_class
        self.bound: dict[str, list[Binding | None]] = {}

    def bind(self, name: str, binding: Binding | None) -> None:
        self.bound.setdefault(name, []).append(binding)
        self.counts[name] += 1

    def find(self, name: str) -> Sequence[Binding | None]:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.bound and (scope is self or not scope.is_class):
                return scope.bound[name]
            scope = scope.parent
        return ()


def resolve(project: Project) -> Mapping[str, Names]:
    """Returns the names of each file that can be parsed, by path."""
    names: dict[str, Names | None] = {}

    def names_of(source: Source) -> Names | None:
        if source.path not in names and source.tree is not None:
            names[source.path] = None  # For modules that import each other.
            names[source.path] = Names(source, project, exports)
        return names.get(source.path)

    def exports(module: str, importer: Source) -> Mapping[str, Sequence[Binding] | None]:
        source = project.find(module, importer)
        found = names_of(source) if source else None
        return found.exports if found else {}

    for source in project.sources:
        names_of(source)
    resolved = {path: found for path, found in names.items() if found is not None}
    for found in resolved.values():
        found.resolve()
    return resolved


def _children(node: ast.AST) -> list[ast.AST]:
    """Returns the nodes below a node; faster than `ast.iter_child_nodes`."""
    children = []
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            children += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
            children.append(value)
    return children


def _part(node: ast.expr) -> tuple[ast.expr, str] | None:
    """Returns object and attribute of `object.attribute` or `getattr(object, "attribute")`."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
        value = getattr(node.args[1], "value", None)  # Of a constant.
        if node.func.id == "getattr" and isinstance(value, str):
            return node.args[0], value
    return None


def _is_guard(node: ast.AST) -> bool:
    """Returns whether a statement keeps a missing name from stopping the program.

    It catches the error, or asks for the version of Python.
    """
    if isinstance(node, ast.If):
        words = {getattr(n, "attr", getattr(n, "id", "")) for n in ast.walk(node.test)}
    elif isinstance(node, ast.Try):
        words = _caught(node) | ({"Exception"} if None in map(_type, node.handlers) else set())
    else:
        return False
    return not words.isdisjoint(_GUARDS)


def _catches_missing(node: ast.AST) -> bool:
    """Returns whether a statement catches the error of an attribute that is missing, by name."""
    return isinstance(node, ast.Try) and "AttributeError" in _caught(node)


def _caught(node: ast.Try) -> set[str]:
    """Returns the names of the errors that a statement catches."""
    types = filter(None, map(_type, node.handlers))
    return {n.id for t in types for n in ast.walk(t) if isinstance(n, ast.Name)}


def _type(handler: ast.ExceptHandler) -> ast.expr | None:
    return handler.type
