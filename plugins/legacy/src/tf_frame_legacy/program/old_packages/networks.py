"""Parts that NetworkX dropped: the dictionary `node` of a graph, its iterators, and a function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def restore_methods() -> None:
    """Gives graphs `node`, and the methods that returned iterators."""
    import networkx as nx  # Here and below: the table of names is checked without it.

    if hasattr(nx.Graph, "nodes_iter"):  # NetworkX 1, whose graphs have a variable `node`.
        return
    members: dict[str, Any] = {
        "node": property(lambda graph: graph.nodes),
        "nodes_iter": lambda graph, data=False: iter(graph.nodes(data=data)),
        "edges_iter": lambda graph, *args, **kwargs: iter(graph.edges(*args, **kwargs)),
        "neighbors_iter": lambda graph, node: iter(graph.neighbors(node)),
        "degree_iter": lambda graph, *args, **kwargs: iter(graph.degree(*args, **kwargs)),
    }
    for name, member in members.items():
        if not hasattr(nx.Graph, name):
            setattr(nx.Graph, name, member)


def connected_component_subgraphs(G: Any, copy: bool = True) -> Iterator[Any]:
    """Yields the connected parts of a graph, as graphs."""
    import networkx as nx

    for nodes in nx.connected_components(G):
        yield G.subgraph(nodes).copy() if copy else G.subgraph(nodes)
