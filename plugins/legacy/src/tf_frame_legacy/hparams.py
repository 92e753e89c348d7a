"""`HParams` of tf.contrib.training: typed parameters as attributes, and from a text of a flag.

    hparams = HParams(learning_rate=0.1, layers=[64, 32])
    hparams.parse("learning_rate=0.3,layers=[128,64,32]")
    hparams.learning_rate  # 0.3

The first value of a parameter determines its type.
"""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Callable, Mapping
from typing import Any

_VALUE = re.compile(r"(?P<one>[^,\[]*)(?:,\s*|$)|\[(?P<several>[^\]]*)\](?:,\s*|$)")
_TARGET = re.compile(r"(?P<name>[A-Za-z][\w.]*)(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*")
_TRUTH = {"true": True, "True": True, "false": False, "False": False}


class HParams:
    """Parameters with values, as attributes of the object.

    Args:
      hparam_def: None; the protocol buffer is gone with tf.contrib.
      model_structure: any object; see `get_model_structure`.
      **kwargs: name -> value: a number, a bool, a text, None, a function; or a list of values
        of one type.

    Raises:
      ValueError: a name belongs to a method, or a list is empty.
    """

    def __init__(self, hparam_def: None = None, model_structure: Any = None, **kwargs: Any) -> None:
        if hparam_def is not None:
            raise ValueError("hparam_def is not supported; keep the values as JSON: parse_json")
        self._types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a parameter.

        Raises:
          ValueError: the name is taken, or the value an empty list.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        several = isinstance(value, list | tuple)
        if several and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._types[name] = (type(value[0] if several else value), several)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets an existing parameter.

        Raises:
          KeyError: there is no such parameter.
          ValueError: the value has another type.
        """
        kind, several = self._types[name]
        if isinstance(value, list) and not several:
            raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
        if several and not isinstance(value, list):
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
        if several:
            setattr(self, name, [_cast(name, kind, element) for element in value])
        else:
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a parameter, if it exists."""
        if name in self._types:
            delattr(self, name)
            del self._types[name]

    def parse(self, values: str) -> HParams:
        """Sets parameters from a text such as "a=1,b=[1,2],c=true"; returns the object.

        Raises:
          ValueError: a malformed text, an unknown parameter, or a value of another type.
        """
        types = {name: kind for name, (kind, _) in self._types.items()}
        return self.override_from_dict(parse_values(values, types))

    def parse_json(self, values_json: str) -> HParams:
        """Sets parameters from a JSON object; see `override_from_dict`."""
        return self.override_from_dict(json.loads(values_json))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Sets parameters from name -> value; returns the object. Errors as of `set_hparam`."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    set_from_map = override_from_dict

    def values(self) -> dict[str, Any]:
        """Returns name -> value, in the order of addition."""
        return {name: getattr(self, name) for name in self._types}

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the value of a parameter, or the default if there is no such parameter.

        Raises:
          ValueError: the parameter exists, and the default has another type.
        """
        if key not in self._types:
            return default
        if default is not None:
            self._check_default(key, default)
        return getattr(self, key)

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """Returns the values as a JSON object; functions become their names."""
        plain = _without_functions(self.values())
        return json.dumps(plain, indent=indent, separators=separators, sort_keys=sort_keys)

    def set_model_structure(self, model_structure: Any) -> None:
        """Sets the object that `get_model_structure` returns."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """Returns the object `model_structure`."""
        return self._model_structure

    def __contains__(self, key: object) -> bool:
        return key in self._types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"

    def _check_default(self, key: str, default: Any) -> None:
        kind, several = self._types[key]
        wrong = f"Hparam {key!r} of type {kind}{' list' if several else ''} is incompatible with "
        if several != isinstance(default, list):
            raise ValueError(f"{wrong}default={default}")
        try:
            for value in default if several else [default]:
                _cast(key, kind, value)
        except ValueError as error:
            raise ValueError(f"{wrong}default={default}. {error}") from error


def parse_values(
    values: str, type_map: Mapping[str, type], ignore_unknown: bool = False
) -> dict[str, Any]:
    """Parses a text such as "a=1,b=[1,2],c[0]=3".

    Args:
      values: the text; the elements of a list are separated by commas or spaces.
      type_map: name -> type of the value, or of the elements.
      ignore_unknown: whether to leave out names that `type_map` does not have.

    Returns:
      Name -> value; a list for "[...]", index -> value for "name[index]=...".

    Raises:
      ValueError: a malformed text, an unknown name, a value of another type, or two values
        for one name.
    """
    parsed: dict[str, Any] = {}
    text = values
    while text:
        target = _TARGET.match(text)
        value = target and _VALUE.match(text, target.end())
        if not target or not value:
            raise ValueError(f"Malformed hyperparameter value: {text}")
        text, name = text[value.end() :], target["name"]
        if name in type_map:
            _put(parsed, target, value, _parser(name, type_map[name], values), values)
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {name}")
    return parsed


def _put(
    parsed: dict[str, Any], target: Any, value: Any, parse: Callable[[str], Any], values: str
) -> None:
    name, index = target["name"], target["index"]
    if value["several"] is not None:
        if index is not None:
            raise ValueError("Assignment of a list to a list index.")
        new: Any = [parse(word) for word in re.split("[ ,]", value["several"]) if word]
    else:
        new = parse(value["one"])
    place, key = parsed, name
    if index is not None:
        place, key = parsed.setdefault(name, {}), int(index)
    if not isinstance(place, dict) or key in place:
        raise ValueError(f"Multiple assignments to variable {target[0].rstrip('= ')!r} in {values}")
    place[key] = new


def _parser(name: str, kind: type, values: str) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            if kind is bool:
                return _TRUTH[text] if text in _TRUTH else bool(int(text))
            return kind(text)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"Could not parse hparam {name!r} of type {kind.__name__!r} with value {text!r} "
                f"in {values}"
            ) from error

    return parse


def _cast(name: str, kind: type, value: Any) -> Any:
    """Converts a value to the type of a parameter, unless information would be lost."""
    if kind is type(None) or type(value) is kind:
        return value
    fits = isinstance(value, bool) == (kind is bool)
    for family in (numbers.Integral, numbers.Number, str | bytes):
        if issubclass(kind, family):
            fits = fits and isinstance(value, family)
            break
    else:
        # A function may be replaced by another callable, such as a class.
        if callable(value):
            return value
    if not fits:
        raise ValueError(f"Could not cast hparam {name!r} of type {kind} from value {value!r}")
    return kind(value)


def _without_functions(value: Any) -> Any:
    if callable(value):
        return value.__name__
    if isinstance(value, dict):
        return {key: _without_functions(item) for key, item in value.items()}
    return [_without_functions(item) for item in value] if isinstance(value, list) else value
