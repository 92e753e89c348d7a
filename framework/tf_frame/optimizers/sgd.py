"""The optimizer `sgd`: stochastic gradient descent."""

from __future__ import annotations

from tf_frame.optimizers.built_in import BuiltIn


class SGD(BuiltIn):
    """Subtracts the gradient times the learning rate."""

    made = "GradientDescentOptimizer"
