"""A package of plugins with one fault each, and the line that a user must read about each.

    for case in faulty.CASES: ...

`{me}` in a line stands for the plugin, `{here}` for the place of the comment `# here` in its class,
`{linear}` for that in the model `linear`, `[...]` for any text, such as the rest of a message of
TensorFlow.
"""

import dataclasses
import inspect
import re
from collections.abc import Sequence

from tf_frame.plugin.kinds import KINDS

# Words of the command by the kind of the faulty plugin.
_WORDS = {
    "model": ("--plugin", "{name}"),
    "input": ("--plugin", "linear", "--input", "{name}"),
    "gradient transform": ("--plugin", "toy", "--transform", "{name}"),
    "optimizer": ("--plugin", "toy", "--optimizer", "{name}"),
    "learning rate": ("--plugin", "toy", "--schedule", "{name}"),
    "hook": ("--plugin", "toy", "--hook", "{name}"),
    "network": ("--plugin", "with_network", "--model.network", "{name}"),
    "preprocessing": ("--plugin", "toy", "--input", "with_preprocessing", "--input.by", "{name}"),
}


@dataclasses.dataclass(frozen=True)
class Case:
    """A faulty plugin.

    Attributes:
      name: its name on the command line.
      kind: its kind.
      cls: its class.
      line: the first line on standard error, without `tf-frame: `.
      code: the exit code.
      more: further words of the command.
    """

    name: str
    kind: str
    cls: type
    line: str
    code: int
    more: Sequence[str]

    @property
    def words(self):
        return [word.format(name=self.name) for word in _WORDS[self.kind]] + list(self.more)

    def matches(self, line):
        """Returns whether a first line names the plugin, its fault and its place."""
        me = f"the {self.kind} '{self.name}' of faulty 1.0"
        places = {"here": _place(self.cls), "linear": _place(SOUND["linear"])}
        expected = f"tf-frame: {self.line.format(me=me, **places)}"
        return re.fullmatch(".*".join(map(re.escape, expected.split("[...]"))), line)


def _place(cls):
    """The place of the comment in the class, or else of the class."""
    lines, first = inspect.getsourcelines(cls)
    marked = [first + i for i, text in enumerate(lines) if text.rstrip().endswith("# here")]
    return f"faulty/{cls.__module__.split('.')[-1]}.py, line {[*marked, first][0]}"


CASES: list[Case] = []
# Sound plugins that faulty ones need.
SOUND: dict[str, type] = {}


def fault(line, *more, code=2, kind=None):
    """Registers a class as a faulty plugin, named after the class.

    Args:
      line, more, code: as of `Case`.
      kind: the kind of its entry point; None: the kind of its base class.
    """

    def register(cls):
        CASES.append(Case(_snake(cls.__name__), kind or _kind(cls), cls, line, code, more))
        return cls

    return register


def sound(cls):
    """Registers a class as a plugin without fault."""
    SOUND[_snake(cls.__name__)] = cls
    return cls


def _kind(cls):
    return next(kind.word for kind in KINDS if issubclass(cls, kind.base))


def entry_points():
    """Entry point -> target of every plugin of the package."""
    faulty = {f"{_group(case.kind)}: {case.name}": _target(case.cls) for case in CASES}
    return faulty | {f"{_group(_kind(cls))}: {n}": _target(cls) for n, cls in SOUND.items()}


def find_line(name):
    """The number of the marked line of a sound plugin, as text."""
    return _place(SOUND[name]).split()[-1]


def _snake(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _group(word):
    return next(kind.group for kind in KINDS if kind.word == word)


def _target(cls):
    return f"{cls.__module__}:{cls.__qualname__}"
