"""`transformed`: the gradients of a small graph, of every form, before and after a transform."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.text import short_repr

# Variables whose gradients many transforms do not expect, each of which another check examines.
UNUSED, EMBEDDING, EXACT = "unused/weights", "embedding/weights", "exact/weights"
UNEXPECTED = (UNUSED, EMBEDDING, EXACT)


@dataclasses.dataclass(frozen=True)
class Transformed:
    """A graph with gradients before and after the transform.

    Attributes:
      graph: the graph.
      given, returned: the pairs.
      gradients: variable -> gradient that was given.
    """

    graph: Any
    given: Sequence[tuple[Any, Any]]
    returned: Sequence[tuple[Any, Any]]

    def pairs(self) -> list[tuple[Any, Any, Any]]:
        """Variable, its gradient before and after, of the variables that are returned."""
        before = {id(variable): gradient for gradient, variable in self.given}
        return [(v, before[id(v)], g) for g, v in self.returned if id(v) in before]


def transformed(transform: Any, without: Collection[str] = ()) -> Transformed:
    """Calls a transform with dense and sparse gradients, of several types, and None.

    Args:
      transform: the transform.
      without: names of variables that are left out.
    """
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        tf.train.create_global_step()
        given = [pair for pair in _gradients() if pair[1].op.name not in without]
        # A list of its own, which the transform may change.
        returned = transform(list(given))
        assert isinstance(returned, (list, tuple)), (
            f"the transform returned {returned!r:.80}; return a list of (gradient, variable) pairs"
        )
        wrong = [p for p in returned if not (isinstance(p, tuple) and len(p) == 2)]
        assert not wrong, f"the transform returned the pair {wrong[0]!r:.80}; return 2-tuples"
        variables = [id(variable) for _, variable in given]
        other = [second for _, second in returned if id(second) not in variables]
        assert not other, (
            f"the transform returned a pair with {short_repr(other[0])} in place of a variable "
            "that it was given; return (gradient, variable) pairs"
        )
        return Transformed(graph, given, returned)


def _gradients() -> list[tuple[Any, Any]]:
    weights = tf.get_variable("linear/weights", [3, 1])
    biases = tf.get_variable("linear/biases", [1])
    exact = tf.get_variable(EXACT, [2, 2], tf.float64)
    embedding = tf.get_variable(EMBEDDING, [4, 2])
    unused = tf.get_variable(UNUSED, [2])
    slices = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([3, 1]), tf.constant([4, 2]))
    return [
        (tf.constant([[3.0], [-4.0], [0.5]]), weights),
        (None, unused),
        (slices, embedding),
        (tf.constant([[1.0, -2.0], [0.0, 4.0]], tf.float64), exact),
        (tf.constant([0.25]), biases),
    ]
