"""Configures logging."""

import logging

from nonconforming.parts import Constant

logging.basicConfig(level=logging.DEBUG)


class Plugin(Constant):
    pass
