"""Cannot be imported."""

from nonconforming.parts import Constant

raise RuntimeError("no licence")


class Plugin(Constant):
    pass
