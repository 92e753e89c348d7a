"""The Python files of a program, and the modules that are its own."""

from __future__ import annotations

import ast
import dataclasses
import functools
import os
import tokenize
import warnings
from collections.abc import Iterator, Mapping, Sequence

from tf_frame.errors import ConfigError

# Folders of tools and of installed packages.
_NOT_OURS = ("__pycache__", "site-packages", "node_modules")
_NO_ENCODING = "the file is not in UTF-8, and its first line names no encoding"
# No folder of a program has the place of these packages.
_NEVER_OWN = ("tensorflow", "numpy", "scipy")


@dataclasses.dataclass(frozen=True)
class Source:
    """A Python file.

    Attributes:
      path: the path below the folder of the program, with slashes.
      tree: the syntax tree; None if the file cannot be read or parsed.
      text: the content.
      error: why there is no tree.
      line: the line of the error.
    """

    path: str
    tree: ast.Module | None = None
    text: str = ""
    error: str = ""
    line: int = 1

    @property
    def package(self) -> str:
        """The folder as a package, with dots."""
        return os.path.dirname(self.path).replace("/", ".")


class Project:
    """A folder with a program.

    Attributes:
      folder: the folder.
      sources: the Python files, sorted by path.
      others: the paths of all other files.
    """

    def __init__(self, folder: str) -> None:
        if not os.path.isdir(folder):
            is_file = os.path.exists(folder)
            reason = "is a file; give its folder" if is_file else "there is no such folder"
            raise ConfigError(f"{folder}: {reason}")
        self.folder = folder
        paths = sorted(_files(folder))
        self.sources = [read(folder, path) for path in paths if path.endswith(".py")]
        self.others = [path for path in paths if not path.endswith(".py")]

    @functools.cached_property
    def _modules(self) -> Mapping[str, Sequence[Source | None]]:
        """End of the full name of a module -> the files; None for a folder."""
        modules: dict[str, list[Source | None]] = {}
        name = os.path.basename(os.path.abspath(self.folder))
        files: list[tuple[str, Source | None]] = [(s.path, s) for s in self.sources]
        files += [(path, None) for path in self.others if path.endswith((".pyx", ".so"))]
        for path, source in files:
            parts = [name, *os.path.splitext(path)[0].split("/")]
            if parts[-1] == "__init__":
                parts.pop()
            for end in range(len(parts), 0, -1):
                file = source if end == len(parts) else None
                for begin in range(end):
                    modules.setdefault(".".join(parts[begin:end]), []).append(file)
        return modules

    def is_own(self, module: str) -> bool:
        """Returns whether the program has a module of this full name, or a folder."""
        return module.partition(".")[0] not in _NEVER_OWN and module in self._modules

    def find(self, module: str, source: Source) -> Source | None:
        """Returns the file of a module of the program, the nearest to the file that imports it."""
        files = [file for file in self._modules.get(module, ()) if file is not None]
        return max(files, key=lambda file: _shared(file.path, source.path), default=None)


def read(folder: str, path: str) -> Source:
    """Reads and parses a Python file."""
    file = os.path.join(folder, path)
    try:
        with tokenize.open(file) as stream:
            text = stream.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Of escapes in strings.
            return Source(path, ast.parse(text), text)
    except UnicodeDecodeError:
        return Source(path, error=_NO_ENCODING)
    except SyntaxError as error:
        message = _NO_ENCODING if "missing encoding" in error.msg else error.msg
        return Source(path, error=message, line=error.lineno or 1)
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return Source(path, error=getattr(error, "strerror", None) or str(error))


def _files(folder: str) -> Iterator[str]:
    """Yields the paths of files below a folder, without hidden and installed ones."""
    for parent, folders, files in os.walk(folder):
        files += [name for name in folders if os.path.islink(os.path.join(parent, name))]
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name not in _NOT_OURS
            and not os.path.exists(os.path.join(parent, name, "pyvenv.cfg"))
        ]
        for name in files:
            yield os.path.relpath(os.path.join(parent, name), folder).replace(os.sep, "/")


def _shared(path: str, other: str) -> int:
    return len(os.path.commonpath([os.path.dirname(path), os.path.dirname(other)]))
