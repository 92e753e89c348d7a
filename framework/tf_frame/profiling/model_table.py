"""A table of a model's layers, as `tf-frame run --show_model` prints it.

print(format_model(model_layers(...), examples=8, depth=None))
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence, Set

from tf_frame.profiling.model_cost import Layer
from tf_frame.text import columns, readable_bytes, readable_count

# About a screen: without a depth, the costliest scopes are opened while the rows are at most these.
_ROWS = 40
_HEADING = ("layer", "output", "parameters", "%", "multiply-adds", "%", "activations", "%")


def format_model(layers: Sequence[Layer], *, examples: int, depth: int | None = None) -> str:
    """Returns the table, and a line on the training step.

    Multiply-adds are those of one example, as they are published; activations those of a step.

    Args:
      layers: the whole model and its scopes; see `model_cost.model_layers`.
      examples: examples in a step, of all clones.
      depth: levels of scopes; None: a screen of rows, those inside of the costliest scopes.
    """
    whole = layers[0]
    roots = _tree([each for each in layers[1:] if any(_costs(each))])
    rows = _rows(roots, depth or math.inf, None if depth else _opened(roots, whole))
    cells = [
        _HEADING,
        *(_cells(row.label, row.layer, whole, examples) for row in rows),
        _cells("total", dataclasses.replace(whole, output=None), whole, examples),
    ]
    table = columns(cells, indent=0, right=range(2, len(_HEADING)))
    return "\n".join([table, *_notes(whole, examples, roots, len(rows))])


@dataclasses.dataclass(frozen=True)
class _Node:
    """A scope in the tree; `label` is its name within the scope above."""

    label: str
    layer: Layer
    inside: list[_Node]


def _costs(layer: Layer) -> tuple[int, ...]:
    counts = (layer.parameters, layer.multiply_adds, layer.activation_bytes)
    return (*counts, layer.unknown_products)


def _tree(layers: Sequence[Layer]) -> list[_Node]:
    """The outermost scopes, each with those inside of it."""
    nodes: dict[str, _Node] = {}
    roots: list[_Node] = []
    for layer in layers:
        above, _, label = layer.name.rpartition("/")
        nodes[layer.name] = node = _Node(label, layer, [])
        (nodes[above].inside if above else roots).append(node)
    return [_joined(node) for node in roots]


def _joined(node: _Node) -> _Node:
    """A node that is joined with the one inside of it if that has all of its cost."""
    inside = [_joined(each) for each in node.inside]
    if len(inside) == 1 and _costs(inside[0].layer) == _costs(node.layer):
        return _Node(f"{node.label}/{inside[0].label}", node.layer, inside[0].inside)
    return dataclasses.replace(node, inside=inside)


def _rows(
    nodes: Sequence[_Node], depth: float, opened: Set[str] | None = None, level: int = 0
) -> list[_Node]:
    """The rows of a table, with indented labels.

    Args:
      nodes: scopes that have a row.
      depth: levels of scopes.
      opened: the scopes with rows for those inside; None: all.
      level: that of the nodes, from 0.
    """
    rows = []
    for node in nodes:
        rows.append(dataclasses.replace(node, label="  " * level + node.label))
        if level + 1 < depth and (opened is None or node.layer.name in opened):
            rows += _rows(node.inside, depth, opened, level + 1)
    return rows


def _opened(roots: Sequence[_Node], whole: Layer) -> Set[str]:
    """The scopes to open, the one with the greatest share first, while there is room."""
    opened: set[str] = set()
    shown, closed = len(roots), list(roots)
    while closed:
        node = max(closed, key=lambda each: _greatest_share(each.layer, whole))
        closed.remove(node)
        if shown + len(node.inside) <= _ROWS:
            opened.add(node.layer.name)
            shown += len(node.inside)
            closed += node.inside
    return opened


def _greatest_share(layer: Layer, whole: Layer) -> float:
    pairs = zip(_costs(layer), _costs(whole), strict=True)
    return max(part / total for part, total in pairs if total)


def _cells(label: str, layer: Layer, whole: Layer, examples: int) -> tuple[str, ...]:
    unknown = "+ ?" if layer.unknown_products else ""
    return (
        label,
        _shape(layer),
        f"{layer.parameters:,}",
        _share(layer.parameters, whole.parameters),
        readable_count(layer.multiply_adds / examples) + unknown,
        _share(layer.multiply_adds, whole.multiply_adds),
        readable_bytes(layer.activation_bytes),
        _share(layer.activation_bytes, whole.activation_bytes),
    )


def _shape(layer: Layer) -> str:
    dims = ["?" if dim is None else str(dim) for dim in layer.output or ()]
    return " x ".join(dims)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""


def _notes(whole: Layer, examples: int, roots: Sequence[_Node], rows: int) -> list[str]:
    update = whole.flops - whole.forward_flops - whole.backward_flops
    phases = {"forward": whole.forward_flops, "backward": whole.backward_flops, "update": update}
    parts = ", ".join(f"{name} {readable_count(count)}" for name, count in phases.items())
    notes = [
        "multiply-adds are those of one example, activations what a step of "
        f"{examples} examples keeps for its backward pass",
        f"floating-point operations of such a step: {readable_count(whole.flops)} ({parts})",
    ]
    if rows < len(_rows(roots, math.inf)):
        notes.append("for more rows: --show_model_depth N shows N levels of scopes")
    if whole.unknown_products or whole.unknown:
        notes.append(
            "not counted, because their shapes are not static: "
            f"{whole.unknown_products} convolutions and matrix products, {whole.unknown} others"
        )
    return notes
