"""`export_format`: the format that a model is built for."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

_FORMAT: contextvars.ContextVar[str] = contextvars.ContextVar("export_format", default="")


def export_format() -> str:
    """Returns the format that `Model.build` is called for, such as `tflite`.

    It is a name of `tf-frame export --format`; empty outside of an export. A model may use other
    operations then: TensorFlow Lite and ONNX have few of TensorFlow's.
    """
    return _FORMAT.get()


@contextlib.contextmanager
def exporting(format_name: str) -> Iterator[None]:
    """Inside the block, `export_format()` returns this name."""
    token = _FORMAT.set(format_name)
    try:
        yield
    finally:
        _FORMAT.reset(token)
