"""`log_level`: another level of a logger for the length of a block."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator


@contextlib.contextmanager
def log_level(name: str, level: int) -> Iterator[None]:
    """Sets the level of a logger inside the block.

    Args:
      name: of the logger.
      level: such as `logging.ERROR`, which leaves out the lines below errors.
    """
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
