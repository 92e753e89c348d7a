"""`InputFn`: adapts an input function of tf.estimator to the interface of an input plugin.

    def input_fn(mode, params, config): ...     # any subset of these arguments

The function returns a `tf.data.Dataset` or values: `(features, labels)`, or features alone. Values
are tensors or other objects, such as arrays, and the model function gets them unchanged. A
model that makes its own data gets None as features.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.estimator.argument_checks import called_with
from tf_frame.plugin import InputContext, InputInfo, Mode

_NOT_A_PAIR = "input_fn should return (features, labels) as a len 2 tuple."


class InputFn:
    """Adapts an input function to the interface of an input plugin.

    Args:
      function: the input function; called in the graph that reads its data.
      params, config: its arguments, passed as copies.
    """

    info = InputInfo()  # An input function does not describe its data.
    plain_values = True
    counts_examples = False  # A step may take any number of examples.
    restarts = True  # Each call of `Estimator.train` reads the data from the beginning.

    def __init__(self, function: Callable[..., Any], *, params: Any, config: Any) -> None:
        self.function = function
        self.origin = f"{getattr(function, '__name__', 'input_fn')}()"  # In messages.
        self._params = params
        self._config = config

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Calls the function; see `tf_frame.Input.dataset`.

        Returns:
          A data set of `(features, labels)`, or a function that returns such values and calls
          the input function again for each further clone. Missing labels are None.
        """
        result = self._call(mode, context)
        if isinstance(result, tf.compat.v2.data.Dataset):
            return _pair_dataset(result)
        first = [_pair(result)]
        return lambda: first.pop() if first else _pair(self._call(mode, context))

    def _call(self, mode: Mode, context: InputContext) -> Any:
        return called_with(
            self.function,
            mode=mode.value,
            params=copy.deepcopy(self._params),
            config=copy.deepcopy(self._config),
            input_context=context,
        )


def as_source(source: Any, *, params: Any, config: Any) -> Any:
    """Returns an input plugin for an input plugin or input function.

    Raises:
      ConfigError: `source` is neither.
    """
    if hasattr(source, "dataset") and hasattr(source, "info"):
        return source
    if not callable(source):
        raise ConfigError(
            f"input_fn is {source!r:.80}; it must be a function that returns a tf.data.Dataset or "
            "(features, labels), or a tf_frame.Input object"
        )
    return InputFn(source, params=params, config=config)


def _pair_dataset(dataset: Any) -> Any:
    """Returns a data set of `(features, labels)`, with None for missing labels."""
    spec = dataset.element_spec
    if isinstance(spec, tuple):
        if len(spec) != 2:
            raise ValueError(f"{_NOT_A_PAIR} Its data set yields {len(spec)}: {spec}")
        return dataset
    return dataset.map(lambda features: (features, None))


def _pair(result: Any) -> tuple[Any, Any]:
    if isinstance(result, (list, tuple)):
        if len(result) != 2:
            raise ValueError(f"{_NOT_A_PAIR} It returned {len(result)}.")
        return result[0], result[1]
    return result, None
