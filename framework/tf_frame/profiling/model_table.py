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

    Multiply-adds are counted for one example, as in publications; activations for a step.

    Args:
      layers: the whole model and its scopes; see `model_cost.model_layers`.
      examples: examples in a step, of all clones.
      depth: levels of scopes; None: a screen of rows, those inside of the costliest scopes.
    """
    model = layers[0]
    roots = _tree([layer for layer in layers[1:] if any(_costs(layer))])
    rows = _rows(roots, depth or math.inf, None if depth else _opened(roots, model))
    cells = [
        _HEADING,
        *(_cells(row.label, row.layer, model, examples) for row in rows),
        _cells("total", dataclasses.replace(model, output=None), model, examples),
    ]
    table = columns(cells, indent=0, right=range(2, len(_HEADING)))
    return "\n".join([table, *_notes(model, examples, roots, len(rows))])


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
    inside = [_joined(child) for child in node.inside]
    if len(inside) == 1 and _costs(inside[0].layer) == _costs(node.layer):
        return _Node(f"{node.label}/{inside[0].label}", node.layer, inside[0].inside)
    return dataclasses.replace(node, inside=inside)


def _rows(
    nodes: Sequence[_Node], depth: float, opened: Set[str] | None = None, level: int = 0
) -> list[_Node]:
    """The rows of a table, with indented labels; `opened`: scopes with inner rows, None: all."""
    rows = []
    for node in nodes:
        rows.append(dataclasses.replace(node, label="  " * level + node.label))
        if level + 1 < depth and (opened is None or node.layer.name in opened):
            rows += _rows(node.inside, depth, opened, level + 1)
    return rows


def _opened(roots: Sequence[_Node], model: Layer) -> Set[str]:
    """The scopes to open, the one with the greatest share first, while there is room."""
    opened: set[str] = set()
    rows, closed = len(roots), list(roots)
    while closed:
        node = max(closed, key=lambda scope: _greatest_share(scope.layer, model))
        closed.remove(node)
        if rows + len(node.inside) <= _ROWS:
            opened.add(node.layer.name)
            rows += len(node.inside)
            closed += node.inside
    return opened


def _greatest_share(layer: Layer, model: Layer) -> float:
    pairs = zip(_costs(layer), _costs(model), strict=True)
    return max(part / total for part, total in pairs if total)


def _cells(label: str, layer: Layer, model: Layer, examples: int) -> tuple[str, ...]:
    unknown = "+ ?" if layer.unknown_products else ""
    return (
        label,
        _shape(layer),
        f"{layer.parameters:,}",
        _share(layer.parameters, model.parameters),
        readable_count(layer.multiply_adds / examples) + unknown,
        _share(layer.multiply_adds, model.multiply_adds),
        readable_bytes(layer.activation_bytes),
        _share(layer.activation_bytes, model.activation_bytes),
    )


def _shape(layer: Layer) -> str:
    dims = ["?" if dim is None else str(dim) for dim in layer.output or ()]
    return " x ".join(dims)


def _share(part: int, model: int) -> str:
    return f"{100 * part / model:.1f}" if model else ""


def _notes(model: Layer, examples: int, roots: Sequence[_Node], rows: int) -> list[str]:
    update = model.flops - model.forward_flops - model.backward_flops
    phases = {"forward": model.forward_flops, "backward": model.backward_flops, "update": update}
    parts = ", ".join(f"{name} {readable_count(count)}" for name, count in phases.items())
    notes = [
        "multiply-adds are counted for one example; activations are kept by a step of "
        f"{examples} examples for its backward pass",
        f"floating-point operations of such a step: {readable_count(model.flops)} ({parts})",
    ]
    if rows < len(_rows(roots, math.inf)):
        notes.append("for more rows: --show_model_depth N shows N levels of scopes")
    if model.unknown_products or model.unknown:
        notes.append(
            "not counted, because their shapes are not static: "
            f"{model.unknown_products} convolutions and matrix products, {model.unknown} others"
        )
    return notes
