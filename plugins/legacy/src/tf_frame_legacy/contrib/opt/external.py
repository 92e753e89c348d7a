"""Optimizers outside of the graph, which get loss and gradient as functions of a vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf


class ExternalOptimizerInterface:
    """Base class: `_minimize` of a subclass finds the variables' values.

    Args:
      loss: scalar tensor.
      var_list: the variables; None: all trainable ones.
      equalities: tensors that are to be 0.
      inequalities: tensors that are to be at least 0.
      var_to_bounds: variable -> lower and upper bound, scalars or arrays of its shape.
      **optimizer_kwargs: arguments for `_minimize`.
    """

    def __init__(
        self,
        loss: Any,
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[Any] | None = None,
        inequalities: Sequence[Any] | None = None,
        var_to_bounds: Mapping[Any, tuple[Any, Any]] | None = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._vars = list(tf.trainable_variables() if var_list is None else var_list)
        self._loss = [loss, self._packed_gradient(loss)]
        self._equalities = [(e, self._packed_gradient(e)) for e in equalities or ()]
        self._inequalities = [(e, self._packed_gradient(e)) for e in inequalities or ()]
        self._packed_bounds = None if var_to_bounds is None else self._bounds(var_to_bounds)
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = _pack([variable.read_value() for variable in self._vars])
        self._placeholders = [tf.placeholder(v.dtype.base_dtype, v.shape) for v in self._vars]
        pairs = zip(self._vars, self._placeholders, strict=True)
        self._updates = [variable.assign(value, read_value=False) for variable, value in pairs]

    def minimize(
        self,
        session: Any = None,
        feed_dict: Mapping[Any, Any] | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[..., None] | None = None,
        loss_callback: Callable[..., None] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Sets the variables to values with the least loss.

        Args:
          session: the session; None: the default session.
          feed_dict: values of placeholders.
          fetches: tensors for `loss_callback`.
          step_callback: called with the vector of variables after each step.
          loss_callback: called with the values of `fetches` after each evaluation of the loss.
          **run_kwargs: arguments of `Session.run` for the last assignment.
        """
        session = session or tf.get_default_session()

        def function(tensors: Any, callback: Any = None) -> Callable[[Any], Any]:
            def evaluate(packed: Any) -> Any:
                # Feeds would replace only one of the reads of a resource variable.
                self._assign(session, packed)
                values, extra = session.run([tensors, list(fetches or ())], feed_dict)
                if callback is not None:
                    callback(*extra)
                return values

            return evaluate

        packed = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=function(self._loss, loss_callback or (lambda *_: None)),
            equality_funcs=[function(value) for value, _ in self._equalities],
            equality_grad_funcs=[function(gradient) for _, gradient in self._equalities],
            inequality_funcs=[function(value) for value, _ in self._inequalities],
            inequality_grad_funcs=[function(gradient) for _, gradient in self._inequalities],
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda _: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        self._assign(session, packed, **run_kwargs)

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Any,
        equality_funcs: Any,
        equality_grad_funcs: Any,
        inequality_funcs: Any,
        inequality_grad_funcs: Any,
        packed_bounds: Any,
        step_callback: Any,
        optimizer_kwargs: Any,
    ) -> Any:
        """Returns the vector of variables with the least loss."""
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement the _minimize() "
            "method."
        )

    def _packed_gradient(self, tensor: Any) -> Any:
        gradients = tf.gradients(tensor, self._vars, unconnected_gradients="zero")
        return _pack(gradients)

    def _bounds(self, var_to_bounds: Mapping[Any, tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        by_name = {variable.op.name: bounds for variable, bounds in var_to_bounds.items()}
        packed: list[tuple[Any, Any]] = []
        for variable in self._vars:
            sides = by_name.get(variable.op.name, (-np.inf, np.inf))
            packed += zip(
                *(np.broadcast_to(side, variable.shape.as_list()).flat for side in sides),
                strict=True,
            )
        return packed

    def _unpacked(self, packed: Any) -> list[Any]:
        sizes = [variable.shape.num_elements() for variable in self._vars]
        parts = np.split(np.asarray(packed), np.cumsum(sizes)[:-1])
        return [p.reshape(v.shape.as_list()) for p, v in zip(parts, self._vars, strict=True)]

    def _assign(self, session: Any, packed: Any, **run_kwargs: Any) -> None:
        values = zip(self._placeholders, self._unpacked(packed), strict=True)
        session.run(self._updates, dict(values), **run_kwargs)


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimises by `scipy.optimize.minimize`, for instance by L-BFGS on a full batch.

    Further arguments are those of SciPy's function: `method` (by default `L-BFGS-B`, which takes no
    constraints; `SLSQP` does), `options`, `tol`.

    Raises:
      ValueError: an argument that the interface sets itself, such as `bounds`.
    """

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Any,
        equality_funcs: Any,
        equality_grad_funcs: Any,
        inequality_funcs: Any,
        inequality_grad_funcs: Any,
        packed_bounds: Any,
        step_callback: Any,
        optimizer_kwargs: Any,
    ) -> Any:
        import scipy.optimize  # type: ignore[import-untyped, import-not-found, unused-ignore]

        arguments = {
            "jac": True,
            "callback": step_callback,
            "constraints": [
                *_constraints("eq", equality_funcs, equality_grad_funcs),
                *_constraints("ineq", inequality_funcs, inequality_grad_funcs),
            ],
            "bounds": packed_bounds,
        }
        for name in arguments.keys() & optimizer_kwargs.keys():
            if name == "bounds":
                raise ValueError("Bounds must be set using the var_to_bounds argument")
            raise ValueError(
                f"Optimizer keyword arg '{name}' is set automatically and cannot be injected "
                "manually"
            )
        arguments |= {"method": "L-BFGS-B", **optimizer_kwargs}

        start = np.asarray(initial_val, np.float64)
        result = scipy.optimize.minimize(_doubles(loss_grad_func), start, **arguments)
        tf.logging.info("Optimization terminated with:\n  %s: %f", result.message, result.fun)
        return result["x"]


def _constraints(kind: str, functions: Any, gradients: Any) -> list[dict[str, Any]]:
    pairs = zip(functions, gradients, strict=True)
    return [{"type": kind, "fun": _doubles(f), "jac": _doubles(gradient)} for f, gradient in pairs]


def _doubles(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns a function whose results are float64, the only type of SciPy's compiled code."""

    def evaluate(packed: Any) -> Any:
        values = function(packed)
        if isinstance(values, list):
            return tuple(np.asarray(value, np.float64) for value in values)
        return np.asarray(values, np.float64)

    return evaluate


def _pack(tensors: Sequence[Any]) -> Any:
    return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], 0)
