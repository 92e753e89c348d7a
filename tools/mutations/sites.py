"""Mutations of the sources of a tree: small faults, each with its statement and its surroundings.

The surroundings let `locate` find a mutation again in a tree with moved files and renamed
functions.
"""

from __future__ import annotations

import ast
import collections
import copy
import dataclasses
import difflib
import operator
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCES = ("framework/tf_frame/**/*.py", "plugins/*/src/**/*.py")
_NEGATED: dict[Any, Any] = {ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn}
_NEGATED |= {negated: operator for operator, negated in _NEGATED.items()}
_SWAPPED: dict[Any, Any] = {
    **{**_NEGATED, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add},
    **{ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult},
}
_LOGGERS = {"log", "logging", "logger", "_log", "_logger", "print", "warnings"}


@dataclasses.dataclass
class Mutation:
    """A mutation: the replacement, the surroundings, and the place in the tree."""

    kind: str
    statement: str  # Source on one line; of a compound statement, the first line.
    target: str  # The replaced source.
    replacement: str
    index: int  # Number among equal targets of the statement.
    function: str
    around: tuple[str, str]  # The statements before and after.
    file: str
    lines: tuple[int, int]  # First and last line of the target.
    function_lines: tuple[int, int]
    at_import: bool  # True for code that runs when the module is imported.
    span: tuple[int, int]  # First and last byte in the file.
    id: str = ""

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.lines[0]}"

    def apply(self, source: bytes) -> bytes:
        """Returns the content of the file with the mutation; the number of lines stays."""
        start, end = self.span
        lines = source[start:end].count(b"\n") * "\n"
        is_pass = self.replacement == "pass"
        text = f"pass{lines}" if is_pass else f"({self.replacement}{lines})"
        return source[:start] + text.encode() + source[end:]


def list_mutations(tree: Path) -> list[Mutation]:
    """Returns every mutation of the sources of a tree, in order."""
    files = sorted({path for pattern in SOURCES for path in tree.glob(pattern)})
    mutations = []
    for path in files:
        source = path.read_bytes()
        starts = [0]
        for line in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        for mutation in _mutate_block(ast.parse(source).body, "", None):
            (first, last), (start, end) = mutation.lines, mutation.span
            mutation.span = (starts[first - 1] + start, starts[last - 1] + end)
            mutation.file = path.relative_to(tree).as_posix()
            mutations.append(mutation)
    return mutations


def _mutate_block(body: list[ast.stmt], function: str, owner: Any) -> Iterator[Mutation]:
    """Yields mutations of statements, without their file, and with columns for their spans."""
    texts = ["", *map(_first_line, body), ""]
    for number, statement in enumerate(body, 1):
        text = texts[number]
        if "TYPE_CHECKING" in text or text.startswith(("__all__", "if __name__")):
            continue
        counts: collections.Counter[tuple[str, str]] = collections.Counter()
        for kind, node, replacement in _mutate_statement(statement):
            target = ast.unparse(node) if isinstance(node, ast.expr) else text
            around, lines = (texts[number - 1], texts[number + 1]), (node.lineno, node.end_lineno)
            called = statement if kind == "default" else owner
            inside = (called.body[0].lineno, called.end_lineno) if called else (0, 0)
            at_import = owner is None or kind == "default"
            span, index = (node.col_offset, node.end_col_offset), counts[kind, target]
            description = (kind, text, target, replacement, index, function, around)
            yield Mutation(*description, "", lines, inside, at_import, span)
            counts[kind, target] += 1
        inner = (function, owner)
        if isinstance(statement, ast.FunctionDef):
            inner = (statement.name, statement)
        elif isinstance(statement, ast.ClassDef):
            inner = (statement.name, None)
        for block in _blocks(statement):
            yield from _mutate_block(block, *inner)


def _blocks(statement: Any) -> list[list[ast.stmt]]:
    blocks = [getattr(statement, name, None) for name in ("body", "orelse", "finalbody")]
    parts = [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
    return [block for block in [*blocks, *(part.body for part in parts)] if block]


def _first_line(statement: ast.stmt) -> str:
    """Returns a statement as source on one line, without the blocks and decorators in it."""
    if not _blocks(statement):
        return " ".join(ast.unparse(statement).split("\n"))
    bare = copy.copy(statement)
    for name, value in (("body", [ast.Pass()]), ("orelse", []), ("decorator_list", [])):
        if hasattr(bare, name):
            setattr(bare, name, value)
    return ast.unparse(bare).split("\n")[0]


def _mutate_statement(statement: Any) -> Iterator[tuple[str, Any, str]]:
    """Yields kind, node and replacement for the parts of a statement outside of its blocks."""
    if isinstance(statement, ast.Raise):
        yield "raise", statement, "pass"  # The arguments are texts.
    elif isinstance(statement, ast.FunctionDef):
        for default in [*statement.args.defaults, *statement.args.kw_defaults]:
            if isinstance(default, ast.Constant) and (
                new := _replace_constant(default.value, texts=True)
            ):
                yield "default", default, new
    elif isinstance(statement, (ast.If, ast.While)):
        yield from _negate(statement.test)
        yield from _mutate_expression(statement.test)
    elif isinstance(statement, (ast.For, ast.With)):
        items = getattr(statement, "items", None)
        for node in [item.context_expr for item in items] if items else [statement.iter]:
            yield from _mutate_expression(node)
    elif value := getattr(statement, "value", None):
        if isinstance(statement, ast.Return) and ast.unparse(value) != "None":
            yield "return", value, "None"
        if isinstance(statement, ast.Expr) and isinstance(value, ast.Call):
            if ast.unparse(value.func).split(".")[0] in _LOGGERS:
                return
            yield "call", statement, "pass"
        yield from _mutate_expression(value)


def _negate(test: Any) -> Iterator[tuple[str, ast.expr, str]]:
    negated = isinstance(test, ast.Compare) and type(test.ops[0]) in _NEGATED
    if not negated and not isinstance(test, (ast.Constant, ast.UnaryOp)):
        yield "condition", test, f"not ({ast.unparse(test)})"


def _mutate_expression(node: Any) -> Iterator[tuple[str, Any, str]]:
    if isinstance(node, ast.JoinedStr):
        return  # Python 3.11 does not tell the positions in a formatted text.
    changed = copy.copy(node)
    if isinstance(node, ast.Compare):
        for number, comparison in enumerate(node.ops):
            changed.ops = [*node.ops]
            changed.ops[number] = _SWAPPED[type(comparison)]()
            yield "compare", node, ast.unparse(changed)
    elif isinstance(node, (ast.BoolOp, ast.BinOp)) and type(node.op) in _SWAPPED:
        changed.op = _SWAPPED[type(node.op)]()
        if isinstance(node, ast.BoolOp) or not (_is_text(node.left) or _is_text(node.right)):
            kind = "and-or" if isinstance(node, ast.BoolOp) else "arithmetic"
            yield kind, node, ast.unparse(changed)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not", node, ast.unparse(node.operand)
    elif isinstance(node, ast.Constant) and (new := _replace_constant(node.value)):
        yield "bool" if isinstance(node.value, bool) else "constant", node, new
    for test in [node.test] if isinstance(node, ast.IfExp) else getattr(node, "ifs", ()):
        yield from _negate(test)
    for child in ast.iter_child_nodes(node):
        yield from _mutate_expression(child)


def _is_text(node: Any) -> bool:
    while isinstance(node, ast.BinOp):
        node = node.right
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str)


def _replace_constant(value: Any, texts: bool = False) -> str:
    if isinstance(value, str):
        return repr(value + "x") if texts else ""
    if isinstance(value, bool):
        return repr(not value)
    return repr(value + 1) if isinstance(value, (int, float)) else ""


def select(tree: Path, seed: int, count: int) -> list[Mutation]:
    """Chooses mutations: one of each file before a second of any file, and all kinds alike."""
    by_file: dict[str, list[Mutation]] = collections.defaultdict(list)
    for mutation in list_mutations(tree):
        by_file[mutation.file].append(mutation)
    chance, chosen = random.Random(seed), list[Mutation]()
    kinds: collections.Counter[str] = collections.Counter()
    while by_file:
        for file in chance.sample(sorted(by_file), len(by_file)):
            mutations = by_file[file]
            rarest = min(sorted({m.kind for m in mutations}), key=kinds.__getitem__)
            mutation = chance.choice([m for m in mutations if m.kind == rarest])
            mutations.remove(mutation)
            if not mutations:
                del by_file[file]
            ast.parse(mutation.apply((tree / file).read_bytes()))
            kinds[rarest] += 1
            chosen.append(dataclasses.replace(mutation, id=f"{len(chosen) + 1:04}"))
            if len(chosen) == count:
                return chosen
    return chosen


def locate(original: Mutation, mutations: list[Mutation]) -> tuple[str, Mutation | None]:
    """Finds a mutation of one tree in another tree.

    Returns:
      `exact`, `moved`, `similar` or `unmatched`; and the mutation in the other tree, or None.
    """
    same_kind = [mutation for mutation in mutations if mutation.kind == original.kind]
    content = operator.attrgetter("statement", "target", "replacement", "index")
    exact = [mutation for mutation in same_kind if content(mutation) == content(original)]
    if exact:
        best = max(exact, key=lambda mutation: _surroundings(original, mutation))
        names = (best.function, Path(best.file).name)
        if names == (original.function, Path(original.file).name):
            return "exact", best
        if len(exact) == 1 or _surroundings(original, best) >= 1.5:
            return "moved", best
    similar: list[tuple[float, int]] = []
    is_value = original.kind in ("constant", "bool", "default")
    for number, mutation in enumerate(same_kind):
        target, statement = mutation.target, _alike(mutation.statement, original.statement)
        alike = target == original.target if is_value else _alike(target, original.target)
        if mutation.index == original.index and alike and statement:
            similar.append((statement + _surroundings(original, mutation), -number))
    # A similar statement in other surroundings is another mutation.
    if similar and max(similar)[0] >= 1.8:
        return "similar", same_kind[-max(similar)[1]]
    return "unmatched", None


def _alike(first: str, second: str) -> float:
    """Returns the similarity of two texts, from 0.8 to 1, or 0."""
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    if matcher.real_quick_ratio() < 0.8 or matcher.quick_ratio() < 0.8:
        return 0.0
    return ratio if (ratio := matcher.ratio()) >= 0.8 else 0.0


def _surroundings(first: Mutation, second: Mutation) -> float:
    """Returns the similarity of the places of two mutations, from 0 to 4.1."""
    same = first.function == second.function
    same += Path(first.file).name == Path(second.file).name
    pairs = zip(first.around, second.around, strict=True)
    around = sum(_alike(*pair) if any(pair) else 0.5 for pair in pairs)
    distance = (first.file == second.file) * 0.1 - abs(first.lines[0] - second.lines[0]) * 1e-6
    return same + around + distance
