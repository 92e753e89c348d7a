"""Plans the changes to a file that make an old program run without the import hook.

The plan speaks of positions in the source; `rewrite` makes the changes there.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

from tf_frame_legacy.names import NOT_OFFERED, canonical
from tf_frame_legacy.source import installed, old_code
from tf_frame_legacy.source.bindings import Binding, Use
from tf_frame_legacy.source.check import best_answer
from tf_frame_legacy.source.lookup import (
    NEWER,
    NEWER_NOTE,
    UNKNOWN,
    is_public,
    is_tensorflow,
    look_up,
    name_today,
    split_target,
)
from tf_frame_legacy.source.project import Source
from tf_frame_legacy.source.resolve import Names
from tf_frame_legacy.source.traps import NUMBER, PRINT, STOP, traps

V1 = "tensorflow.compat.v1"
_SWITCH = "disable_v2_behavior"
_OURS = "tf_frame_legacy"
_RESTORED = "tf_frame_legacy.program.old_packages"
_END = sys.maxsize


class Span(NamedTuple):
    """Where an expression or statement is: lines from 1, columns in characters."""

    line: int
    column: int
    end_line: int
    end_column: int


class Left(NamedTuple):
    """A line that stays as it is, and why."""

    path: str
    line: int
    text: str


@dataclasses.dataclass(frozen=True)
class Program:
    """Properties of all files of a program.

    Attributes:
      needing: the paths of the files that use TensorFlow.
      restored: packages whose classes get back their old methods.
      defines_methods: whether its classes have methods with names of Python 2's `dict`.
    """

    needing: frozenset[str]
    restored: Sequence[str] = ()
    defines_methods: bool = False


@dataclasses.dataclass
class Plan:
    """The changes to a file.

    Attributes:
      expressions: the new text of expressions.
      imports: for each import statement, the new full name by old name in the statement.
      aliases: import statements in place of assignments such as `slim = tf.contrib.slim`.
      methods: new names of attributes; with a dot the function that takes the object and the name,
        or the function and the arguments of a call.
      added: statements to be added at the top.
      anchor: the line of the statement after which they are added, negative for before.
      left: the lines that stay.
    """

    expressions: dict[Span, str] = dataclasses.field(default_factory=dict)
    imports: dict[Span, dict[str, str]] = dataclasses.field(default_factory=dict)
    aliases: dict[Span, str] = dataclasses.field(default_factory=dict)
    methods: dict[Span, str] = dataclasses.field(default_factory=dict)
    added: list[str] = dataclasses.field(default_factory=list)
    anchor: int = 0
    left: list[Left] = dataclasses.field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the file stays as it is."""
        return not any((self.expressions, self.imports, self.aliases, self.methods, self.added))


def plan(source: Source, names: Names, program: Program, *, switches_on: bool) -> Plan:
    """Returns the changes to a file.

    Args:
      source: the file.
      names: its names.
      program: properties of all files.
      switches_on: whether the file is a script, which has to switch to TensorFlow 1.
    """
    return _Planner(source, names, program).plan(switches_on)


class _Planner:
    def __init__(self, source: Source, names: Names, program: Program) -> None:
        assert source.tree is not None
        self._source, self._names, self._program = source, names, program
        self._lines = source.text.split("\n")
        self._words = set(re.findall(r"\w+", source.text))
        self._modules: dict[str, str] = {}
        self._plan = Plan()

    def plan(self, switches_on: bool) -> Plan:
        for binding in self._names.bindings:
            if look_up(binding.target) is not None:
                self._plan_binding(binding)
            elif isinstance(binding.statement, ast.Import) and binding.alias:
                self._plan_gone(binding, binding.alias.name)
        for use in self._names.uses:
            self._plan_use(use)
        self._plan_old_code()
        is_switched = any(
            canonical(name) == f"tf.{_SWITCH}" for use in self._names.uses for name in use.names
        )
        self._plan_top(switches_on and not is_switched)
        return self._plan

    def _plan_binding(self, binding: Binding) -> None:
        """Plans an import, or an alias of a module."""
        today = name_today(binding.target)
        if not today:
            if not binding.optional:
                self._leave(binding.statement.lineno, f"the import of {binding.target}")
        elif binding.alias is None:
            self._plan_alias(binding, binding.statement, today)
        elif _path(today, _spelled(binding)) != _spelled(binding):
            changes = self._plan.imports.setdefault(self._span(binding.statement), {})
            changes[binding.alias.name] = _path(today, _spelled(binding))

    def _plan_gone(self, binding: Binding, module: str) -> None:
        """Plans `import scipy.misc`, which binds only `scipy`."""
        today = name_today(module) if look_up(module) is not None else ""
        if today:
            others = [use for use in self._names.uses if binding in use.bindings]
            is_needed = any(look_up(name) is None for use in others for name in use.names)
            path = binding.name if is_needed else today
            self._plan.imports.setdefault(self._span(binding.statement), {})[module] = path

    def _plan_alias(self, binding: Binding, statement: ast.stmt, today: str) -> None:
        """Plans an assignment such as `slim = tf.contrib.slim`."""
        assert isinstance(statement, ast.Assign)
        module, rest = split_target(today)
        if module == "tf" and canonical(binding.target) != today:
            self._plan.expressions[self._span(statement.value)] = f"{self._tensorflow()}.{rest}"
        elif module != "tf" and not rest:
            self._plan.aliases[self._span(statement)] = _import(module, binding.name)

    def _plan_use(self, use: Use) -> None:
        answer = best_answer(use)
        if answer is None:
            return
        if answer.state in (NOT_OFFERED, NEWER, UNKNOWN):
            note = "unknown" if answer.state == UNKNOWN else NEWER_NOTE
            note = answer.row.note if answer.row and answer.state == NOT_OFFERED else note
            self._leave(use.line, f"{answer.name}: {note}")
            return
        pairs = zip(use.names, use.bindings, strict=True)
        meant = [pair for pair in pairs if name_today(pair[0]) and not _is_absent(pair[0])]
        if all(_is_bound_right(name, binding) for name, binding in meant):
            return
        today, node = _changed_part(use, meant[0][0])
        if len({name_today(name) for name, _ in meant}) > 1 or node is None:
            self._leave(use.line, f"{answer.name}: the program binds the name in several ways")
        else:
            self._plan.expressions[self._span(node)] = self._text(today, use)

    def _plan_old_code(self) -> None:
        """Plans what Python 2 and old packages had; leaves what has no replacement."""
        for node, new in old_code.builtin_names(self._names):
            module, _, name = new.rpartition(".")
            prefix = f"{self._module_name(module, node.lineno)}." if module else ""
            self._plan.expressions[self._span(node)] = prefix + name
        for statement, module, new in old_code.modules_of_python_2(self._names):
            self._plan.imports.setdefault(self._span(statement), {})[module] = new
        defined = self._program.defines_methods
        for method, new in old_code.old_methods(self._source, self._names, defined):
            helper = (
                "" if new else f"{self._module_name(old_code.HELPERS, method.lineno)}.attribute"
            )
            self._plan.methods[self._span(method)] = new or helper
        for call in old_code.numbers_of_arrays(self._source):
            module = self._module_name(old_code.HELPERS, call.lineno)
            self._plan.methods[self._span(call)] = f"{module}.number"
        for call in old_code.attentions_of_1_4(self._source):
            module = self._module_name(old_code.HELPERS, call.lineno)
            self._plan.methods[self._span(call)] = f"{module}.first_two"
        for trap in traps(self._source, self._names):
            if not trap.is_restored or trap.text in (NUMBER, PRINT, STOP):
                self._leave(trap.line, f"{trap.text}; {trap.remedy}")

    def _text(self, today: str, use: Use) -> str:
        """Returns the text of a name today; plans the import of its module."""
        module, rest = split_target(today)
        if module == "builtins" and not self._names.counts[rest]:
            return rest
        is_plain = all(canonical(binding.target) == "tf" for binding in use.bindings)
        if module == "tf" and is_plain and isinstance(use.nodes[0], ast.Name):
            name = use.nodes[0].id
        else:
            name = self._module_name(module, use.line)
        return f"{name}.{rest}" if rest else name

    def _tensorflow(self) -> str:
        return self._module_name("tf", len(self._lines))

    def _module_name(self, module: str, line: int) -> str:
        """Returns the name of a module at a line of this file."""
        if module in self._modules:
            return self._modules[module]
        for binding in self._names.bindings:
            is_plain = binding.at_top and self._names.counts[binding.name] == 1
            is_there = is_plain and binding.statement.lineno <= line
            if is_there and split_target(name_today(binding.target)) == (module, ""):
                return binding.name
        name = _short_name(module)
        while name in self._words:
            name += "_"
        self._add_import(module, name)
        return name

    def _add_import(self, module: str, name: str) -> None:
        self._words.add(name)
        self._plan.added.append(_import(V1 if module == "tf" else module, name))
        self._modules[module] = name

    def _plan_top(self, switches_on: bool) -> None:
        """Plans where statements are added, and the switch to TensorFlow 1."""
        assert self._source.tree is not None
        body = self._source.tree.body
        imports = [s for s in body if isinstance(s, ast.Import | ast.ImportFrom)]
        first = next((s.lineno for s in imports if self._imports_tensorflow(s)), _END)
        program = next((s.lineno for s in imports if self._needs_tensorflow(s)), _END)
        if first < program or (first < _END and not switches_on):
            self._plan.anchor = first
        elif switches_on and program < _END:
            self._plan.anchor = -program
        else:
            self._plan.anchor = _start(body)
        if switches_on:
            name = self._tensorflow_at(self._plan.anchor)
            self._plan.added.append(f"{name}.{_SWITCH}()")
            if self._program.restored:
                packages = ", ".join(f'"{package}"' for package in self._program.restored)
                self._plan.added.append(f"from {_RESTORED} import restore_methods")
                self._plan.added.append(f"restore_methods({packages})")

    def _tensorflow_at(self, line: int) -> str:
        """Returns the name of TensorFlow at a line; plans an import if there is none yet."""
        bindings = [
            binding
            for binding in self._names.bindings
            if binding.at_top and binding.alias and canonical(binding.target) == "tf"
        ]
        names = [binding.name for binding in bindings if binding.statement.lineno <= line]
        if not names and "tf" not in self._modules:
            name = bindings[0].name if bindings else "tf" if "tf" not in self._words else "tf_"
            self._plan.added.insert(0, _import(V1, name))
            self._modules["tf"] = name
        return names[0] if names else self._modules["tf"]

    def _imports_tensorflow(self, statement: ast.stmt) -> bool:
        return any(
            binding.statement is statement and is_tensorflow(binding.target)
            for binding in self._names.bindings
        )

    def _needs_tensorflow(self, statement: ast.stmt) -> bool:
        return bool(self._names.own.get(statement, set()) & self._program.needing)

    def _leave(self, line: int, text: str) -> None:
        self._plan.left.append(Left(self._source.path, line, text))

    def _span(self, node: ast.expr | ast.stmt) -> Span:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return Span(
            node.lineno,
            self._column(node.lineno, node.col_offset),
            node.end_lineno,
            self._column(node.end_lineno, node.end_col_offset),
        )

    def _column(self, line: int, offset: int) -> int:
        """Returns a column in characters; Python counts bytes of UTF-8."""
        return len(self._lines[line - 1].encode()[:offset].decode())


def _is_bound_right(name: str, binding: Binding) -> bool:
    """Returns whether a use of a name has its meaning once the binding is rewritten."""
    wanted, bound = name_today(name), name_today(binding.target)
    after = bound + name.removeprefix(binding.target)
    if canonical(after) == wanted:
        return canonical(bound) != "tf" or is_public(wanted)
    keeps_name = after.rpartition(".")[2] == wanted.rpartition(".")[2]
    return bound.startswith(_OURS) and keeps_name and installed.has(after)


def _is_absent(name: str) -> bool:
    """Returns whether a name is of a package that is neither old nor here: `google3.python`.

    Programs try to import such a package first, and do without it.
    """
    return look_up(name) is None and not installed.is_installed(name.partition(".")[0])


def _changed_part(use: Use, name: str) -> tuple[str, ast.expr | None]:
    """Returns name today and expression of a use, without attributes of a class behind the name."""
    answer = look_up(name)
    was = answer.row.was if answer and answer.row else canonical(name)
    index = len(use.nodes) - 1 - (canonical(name).count(".") - was.count("."))
    return name_today(was), use.nodes[index] if index >= 0 else None


def _spelled(binding: Binding) -> str:
    """Returns the full name in an import statement."""
    assert binding.alias
    if isinstance(binding.statement, ast.ImportFrom):
        return f"{binding.statement.module}.{binding.alias.name}"
    return binding.alias.name


def _path(today: str, spelled: str) -> str:
    """Returns the full name of a name today for an import statement.

    Args:
      today: the name, with `tf` for TensorFlow.
      spelled: the name in the statement, which stays if TensorFlow has it there.
    """
    module, rest = split_target(today)
    if module != "tf":
        return f"{module}.{rest}" if rest else module
    if spelled.startswith(("tensorflow.compat.", "tensorflow.keras", "tensorflow.python")):
        return spelled
    rest = "flags" if rest == "app.flags" else rest
    return f"{V1}.{rest}" if rest else V1


def _import(module: str, name: str) -> str:
    """Returns the statement that imports a module by a name."""
    parent, _, last = module.rpartition(".")
    if module == V1 or not parent:
        return f"import {module}" + ("" if module == name else f" as {name}")
    return f"from {parent} import {last}" + ("" if last == name else f" as {name}")


def _short_name(module: str) -> str:
    parts = module.split(".")
    if parts[0] != _OURS:
        return parts[-1]
    return "_".join(parts[1:]) if parts[1] == "contrib" else f"legacy_{parts[-1]}"


def _start(body: Sequence[ast.stmt]) -> int:
    """Returns the anchor behind docstring and `from __future__`, or before the first statement."""
    line = -body[0].lineno if body else 0
    for statement in body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not is_text and not is_future:
            break
        line = statement.lineno
    return line
