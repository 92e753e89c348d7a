"""`Field`: an argument of `RunConfig` with its check and the run option of the same meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_NO_STRATEGIES = (
    "is {value!r}, but tf-frame has no distribution strategies; use "
    'RunConfig(options={{"num_clones": N}}) for N copies of the model on one machine, and '
    "TF_CONFIG for several machines"
)


class Field:
    """An argument of `RunConfig` and the read-only property that shows its value.

    Args:
      doc: docstring of the property.
      allows: whether a value is allowed; None always is.
      rule: the error for other values, without the name of the field before it.
      option: the run option of the same meaning; empty if there is none.
      to_option, to_field: convert a value of the field to one of the option, and back.
    """

    def __init__(
        self,
        doc: str,
        allows: Callable[[Any], bool] = lambda value: True,
        rule: str = "",
        option: str = "",
        to_option: Callable[[Any], Any] = lambda value: value,
        to_field: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self.__doc__ = doc
        self._allows = allows
        self._rule = rule
        self.option = option
        self.to_option = to_option
        self.to_field = to_field

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, config: Any, owner: type | None = None) -> Any:
        return self if config is None else config._fields[self.name]

    def __set__(self, config: Any, value: Any) -> None:
        raise AttributeError(f"{self.name} is read-only; use replace({self.name}={value!r})")

    def check(self, value: Any) -> None:
        """Raises a ValueError with the text of tensorflow_estimator for a value out of range."""
        if value is not None and not self._allows(value):
            raise ValueError(f"{self.name} {self._rule.format(value=value)}")


def strategy() -> Any:
    """Returns the field of a distribution strategy, which has to be None."""
    doc = "Always None; there are no distribution strategies."
    return Field(doc, lambda value: False, _NO_STRATEGIES)


def of_cluster(name: str, doc: str) -> Any:
    """Returns a read-only property that shows an attribute of `RunConfig.cluster`."""
    return property(lambda config: getattr(config.cluster, name), doc=doc)
