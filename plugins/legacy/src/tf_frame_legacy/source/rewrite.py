"""Makes planned changes to a source in its concrete syntax tree, which keeps all else as it is."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst
from libcst.helpers import get_full_name_for_node
from libcst.metadata import MetadataWrapper, PositionProvider

from tf_frame_legacy.source.plan import Plan, Span

_BOM = b"\xef\xbb\xbf"


def rewrite(content: bytes, plan: Plan) -> bytes:
    """Returns the content of a file with the changes; keeps encoding and line ends.

    Raises:
      ValueError: the positions of the plan are not those of the content.
    """
    mark = _BOM if content.startswith(_BOM) else b""
    wrapper = MetadataWrapper(cst.parse_module(content.removeprefix(mark)), True)
    rewriter = _Rewriter(plan, wrapper.module)
    module = wrapper.visit(rewriter)
    if rewriter.left:
        raise ValueError(f"no code at {sorted(map(str, rewriter.left))}")
    rewritten: bytes = mark + module.bytes
    return rewritten


class _Rewriter(cst.CSTTransformer):
    """Changes the tree.

    Attributes:
      left: the changes that are still to be made.
    """

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, plan: Plan, module: cst.Module) -> None:
        super().__init__()
        self._plan, self._module = plan, module
        spans = [*plan.expressions, *plan.imports, *plan.aliases, *plan.methods]
        self.left: set[object] = {*spans}
        if plan.added:
            self.left.add(plan.anchor)
        self._changed = sorted({abs(plan.anchor), *(span.line for span in spans)})

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Skips statements without changes, which are most."""
        if not isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            return True
        first = (*getattr(node, "decorators", ()), node)[0]
        line = self.get_metadata(PositionProvider, first).start.line
        last = self.get_metadata(PositionProvider, node).end.line
        return any(line <= changed <= last for changed in self._changed)

    def on_leave(  # type: ignore[override]
        self, original: cst.CSTNode, updated: cst.CSTNode
    ) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
        if isinstance(original, cst.Attribute | cst.Name | cst.Call):
            span = self._done(original)
            text = self._plan.expressions.get(span)
            if text and isinstance(updated, cst.BaseExpression):
                new = cst.parse_expression(text)
                return new.with_changes(lpar=updated.lpar, rpar=updated.rpar)
            if span in self._plan.methods and isinstance(updated, cst.Attribute):
                return _with_method(updated, self._plan.methods[span])
            if span in self._plan.methods and isinstance(updated, cst.Call):
                function = cst.parse_expression(self._plan.methods[span])
                return updated.with_changes(
                    func=function, args=[cst.Arg(updated.func), *updated.args]
                )
        elif isinstance(original, cst.Assign):
            text = self._plan.aliases.get(self._done(original))
            return self._statement(text).body[0] if text else updated
        elif isinstance(original, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            lines = self._lines(original, updated)
            return cst.FlattenSentinel(lines) if len(lines) > 1 else lines[0]
        return updated

    def _done(self, node: cst.CSTNode) -> Span:
        """Returns the position of a node, and removes the change there from those left."""
        place = self.get_metadata(PositionProvider, node)
        start, end = place.start, place.end
        span = Span(start.line, start.column, end.line, end.column)
        self.left.discard(span)
        return span

    def _statement(self, text: str) -> cst.SimpleStatementLine:
        statement = cst.parse_statement(text, config=self._module.config_for_parsing)
        assert isinstance(statement, cst.SimpleStatementLine)
        return statement

    def _lines(self, original: cst.CSTNode, updated: cst.CSTNode) -> list[cst.CSTNode]:
        """Returns a statement, with imports changed, and the statements that are added."""
        span = self._done(original)
        lines = [updated]
        if isinstance(original, cst.SimpleStatementLine):
            lines = self._imports(original, updated)
        if self._plan.added and (span.line, span.column) == (abs(self._plan.anchor), 0):
            self.left.discard(self._plan.anchor)
            added = [self._statement(text) for text in self._plan.added]
            lines = [*lines, *added] if self._plan.anchor > 0 else [*added, *lines]
        return lines

    def _imports(
        self, original: cst.SimpleStatementLine, updated: cst.CSTNode
    ) -> list[cst.CSTNode]:
        """Returns a line with its imports changed, and lines for names that go elsewhere."""
        assert isinstance(updated, cst.SimpleStatementLine)
        body: list[cst.BaseSmallStatement] = []
        further: list[cst.CSTNode] = []
        for old, small in zip(original.body, updated.body, strict=True):
            changes = {}
            if isinstance(old, cst.Import | cst.ImportFrom):
                changes = self._plan.imports.get(self._done(old), {})
            if changes and isinstance(small, cst.Import):
                names = [_renamed(alias, changes) for alias in small.names]
                body.append(small.with_changes(names=names))
            elif changes and isinstance(small, cst.ImportFrom):
                first, *rest = _by_module(small, changes)
                body.append(first.with_changes(semicolon=small.semicolon))
                further += [cst.SimpleStatementLine([part]) for part in rest]
            else:
                body.append(small)
        return [updated.with_changes(body=body), *further]


def _with_method(method: cst.Attribute, new: str) -> cst.BaseExpression:
    """Returns an attribute with another name, or the call of a function that finds it."""
    if "." not in new:
        return method.with_changes(attr=cst.Name(new))
    name = cst.SimpleString(f'"{method.attr.value}"')
    return cst.Call(cst.parse_expression(new), [cst.Arg(method.value), cst.Arg(name)])


def _renamed(alias: cst.ImportAlias, changes: Mapping[str, str]) -> cst.ImportAlias:
    """Returns the part of `import a.b as c` with another module, which is bound as before."""
    name = get_full_name_for_node(alias.name) or ""
    if name not in changes:
        return alias
    bound = name.partition(".")[0]
    as_name = alias.asname or cst.AsName(cst.Name(bound))
    is_bound = alias.asname is None and changes[name] == bound
    return alias.with_changes(
        name=cst.parse_expression(changes[name]), asname=None if is_bound else as_name
    )


def _by_module(statement: cst.ImportFrom, changes: Mapping[str, str]) -> list[cst.ImportFrom]:
    """Returns the from-imports for the modules that the names of one are in today."""
    assert statement.module is not None and not isinstance(statement.names, cst.ImportStar)
    module = get_full_name_for_node(statement.module) or ""
    groups: dict[str, list[cst.ImportAlias]] = {}
    for alias in statement.names:
        name = get_full_name_for_node(alias.name) or ""
        parent, _, new = changes.get(name, f"{module}.{name}").rpartition(".")
        groups.setdefault(parent, []).append(_bound_as_before(alias, new))
    return [
        statement.with_changes(
            module=cst.parse_expression(parent),
            names=[*aliases[:-1], _last(aliases[-1], statement)],
        )
        for parent, aliases in groups.items()
    ]


def _bound_as_before(alias: cst.ImportAlias, new: str) -> cst.ImportAlias:
    name = get_full_name_for_node(alias.name) or ""
    if name == new:
        return alias
    is_renamed = alias.asname and get_full_name_for_node(alias.asname.name) == new
    as_name = None if is_renamed else alias.asname or cst.AsName(cst.Name(name))
    return alias.with_changes(name=cst.Name(new), asname=as_name)


def _last(alias: cst.ImportAlias, statement: cst.ImportFrom) -> cst.ImportAlias:
    """Returns the last name of an import: a comma stands behind it only in parentheses."""
    return alias if statement.lpar else alias.with_changes(comma=cst.MaybeSentinel.DEFAULT)
