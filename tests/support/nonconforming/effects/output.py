"""Writes to standard output."""

from nonconforming.parts import Constant

print("hello")


class Plugin(Constant):
    pass
