"""Imports the target of an entry point, and turns any exception into an error with a remedy."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import re
import sys
import traceback
from typing import Any, TypeGuard

from packaging.utils import canonicalize_name

from tf_frame.config.values import nearest
from tf_frame.errors import PluginError
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.packages import reinstall, source_folder, upgrade
from tf_frame.resources import refusal
from tf_frame.text import brief, short

# Of tensorflow itself, of a part such as tf.train, or of one that is Keras's, such as tf.losses.
_NO_NAME = re.compile(
    r"module '(?:tensorflow(?:\._api\.v2)?|keras\._tf_keras\.keras)((?:\.\w+)*)' has no attribute "
    r"'(\w+)'"
)
# What TensorFlow 2 has removed -> what there is in its place.
_REMOVED = (
    (
        re.compile(r"`(\w+)` is not available with Keras 3"),
        "{0} of tf.layers or tf.nn.rnn_cell needs Keras 2: use tf_frame.layers, such as "
        "layers.fully_connected(net, 10, activation_fn=None, scope='dense'), or layers of tf.keras",
    ),
    (
        re.compile(r"(?:module 'tensorflow[\w.]*' has no attribute '|named 'tensorflow\.)contrib"),
        "TensorFlow 2 has no tf.contrib: tf_frame.layers has the layers and arg_scope of "
        "tf.contrib.slim; tf-frame legacy of the package tf-frame-legacy runs and converts old "
        "programs",
    ),
)


class BrokenPluginError(PluginError):
    """An installed plugin cannot be used.

    Attributes:
      cause: the reason, in one line.
      remedy: advice for the user.
    """

    def __init__(self, info: PluginInfo, cause: str, remedy: str) -> None:
        self.cause, self.remedy = " ".join(cause.split()), remedy
        super().__init__(
            f"{info.described} cannot be used: {self.cause}\n  {info.where}\n  remedy: {remedy}"
        )


def import_target(info: PluginInfo) -> Any:
    """Imports the target of an entry point.

    Raises:
      ResourceError: the system has no memory for it.
      BrokenPluginError: the import failed in any other way but Ctrl-C.
    """
    entry_point = importlib.metadata.EntryPoint(info.name, info.target, info.kind.group)
    # Output of a plugin must not get into results, such as JSON or YAML.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            return entry_point.load()
        except KeyboardInterrupt:
            print(f"tf-frame: interrupted in the import of {info.described}", file=sys.stderr)
            raise
        except BaseException as error:  # The code of a plugin may raise anything.
            refused = refusal(error)
            if refused:
                raise refused from error
            raise BrokenPluginError(info, _cause(error), _remedy(error, info)) from error


def _remedy(error: BaseException, info: PluginInfo) -> str:
    """Returns a remedy for an error of an import."""
    package = info.target.split(":")[0].split(".")[0]
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if hint := missing_name_hint(error):
        return hint
    if isinstance(error, SyntaxError):
        return upgrade(info.distribution)
    if _lacks_target(error, info):
        near = nearest(error.name or "", vars(error.obj))
        meant = f"did you mean {near}? the entry point is {info.name} = {info.target}; "
        return f"{meant if near else ''}{upgrade(info.distribution)}"
    if not missing:
        return info.remedy or upgrade(info.distribution)
    if missing.split(".")[0] == package:
        return reinstall(info.distribution)
    return missing_module_remedy(missing, info.distribution)


def _lacks_target(error: BaseException, info: PluginInfo) -> TypeGuard[AttributeError]:
    """Returns whether the module of an entry point has no such class."""
    module, _, name = info.target.partition(":")
    return (
        isinstance(error, AttributeError)
        and error.name == name
        and error.obj is sys.modules.get(module)
    )


def missing_name_hint(error: BaseException) -> str:
    """Returns a hint for a name of TensorFlow 1 that a plugin looks for in TensorFlow 2; or ""."""
    if not isinstance(error, (AttributeError, ImportError)):
        return ""
    for pattern, advice in _REMOVED:
        if found := pattern.search(str(error)):
            return advice.format(*found.groups())
    match = _NO_NAME.search(str(error)) if isinstance(error, AttributeError) else None
    # Imported with TensorFlow, whose attribute was asked for.
    place: Any = sys.modules.get("tensorflow._api.v2.compat.v1")
    if match is None or place is None:
        return ""
    path = f"{match[1]}.{match[2]}".lstrip(".")
    for part in path.split("."):
        place = getattr(place, part, None)
    if place is None:
        return ""
    return (
        f"tf.{path} is a name of TensorFlow 1: write import tensorflow.compat.v1 as tf in place of "
        "import tensorflow as tf"
    )


def missing_module_remedy(name: str, distribution: str) -> str:
    """Returns a remedy for a missing module that a package imports."""
    top = name.split(".")[0]
    try:
        required = importlib.metadata.requires(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        required = []
    names = [re.split(r"[^-\w.]", line.strip(), maxsplit=1)[0] for line in required]
    package = {canonicalize_name(name): name for name in names}.get(canonicalize_name(top))
    if package:
        return f"pip install {package}, which {distribution} requires"
    folder, _ = source_folder(distribution)
    listing = (
        f"list it among the requirements in {folder}"
        if folder
        else f"tell the authors of {distribution} to list it among the requirements "
        "(install_requires)"
    )
    return f"pip install the package that has the module {brief(top)}, and {listing}"


def syntax_error_text(error: SyntaxError) -> str:
    """Returns the error with the name of the file, the number of the line, and the line."""
    text = f"{type(error).__name__}: {error}"  # It ends with the place.
    return f"{text}: {short(error.text.strip())}" if error.text and error.text.strip() else text


def _cause(error: BaseException) -> str:
    """Describes an error, with the innermost line outside the standard library."""
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, SyntaxError) and error.filename:
        return syntax_error_text(error)
    places = [
        f" ({os.path.basename(frame.f_code.co_filename)}, line {line})"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not _is_standard_or_own(frame.f_globals.get("__name__", ""))
    ]
    return text + "".join(places[-1:])


def _is_standard_or_own(module: str) -> bool:
    """Returns whether a module is in the standard library, such as dataclasses, or this module."""
    return module == __name__ or module.split(".")[0] in sys.stdlib_module_names
