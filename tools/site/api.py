"""Pages of the public modules, from their docstrings."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

_ROOT = pathlib.Path(__file__).parents[2]
_ROW = re.compile(r"^\| `([\w.]+)`", re.MULTILINE)
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)(\w?)")
_INDENT = 4
_INDEX = """# Public names

Plugins and programs may import these; every other module may change in any release.

```{{toctree}}
:maxdepth: 1

{pages}
```
"""


def public_modules() -> list[str]:
    """Returns the public modules, as docs/writing/public_names.md lists them."""
    path = _ROOT / "docs" / "writing" / "public_names.md"
    return _ROW.findall(path.read_text(encoding="utf-8"))


def pages() -> Mapping[str, str]:
    """Returns name -> text of each page."""
    # The package itself comes last: a class is described once, in the module that it belongs to.
    listed = sorted(public_modules(), key=lambda name: name == "tf_frame")
    names = [name for module in listed for name in with_submodules(module)]
    described: set[Any] = set()
    index = _INDEX.format(pages="\n".join(f"api/{name}" for name in names))
    return {"api": index, **{f"api/{name}": _page(name, described) for name in names}}


def with_submodules(name: str) -> list[str]:
    """Returns a public module and the modules that its `__all__` names, such as the losses."""
    module = importlib.import_module(name)
    members = {member: _member(module, member) for member in getattr(module, "__all__", ())}
    return [name, *(f"{name}.{key}" for key in members if inspect.ismodule(members[key]))]


def _page(name: str, described: set[Any]) -> str:
    """Returns the page of a module; adds its members to those that are described."""
    module = importlib.import_module(name)
    parts = [f"# {name}", f"```{{eval-rst}}\n.. automodule:: {name}\n   :no-index:\n```"]
    for member, value in public_members(module):
        if value in described:
            continue
        described.add(value)
        is_class = inspect.isclass(value)
        directive = "autoclass" if is_class else "autofunction"
        options = "   :members:\n   :show-inheritance:\n" if is_class else ""
        # Where a class is defined matters to nobody: users import it from here.
        parts.append(f"```{{eval-rst}}\n.. {directive}:: {name}.{member}\n{options}```")
    return "\n\n".join(parts)


def public_members(module: Any) -> Iterator[tuple[str, Any]]:
    """Yields the classes and functions of a public module, by name."""
    chosen = getattr(module, "__all__", None)
    names = chosen or [name for name in vars(module) if not name.startswith("_")]
    for name in sorted(names):
        value = _member(module, name)
        # A `functools.partial` of a layer is a layer.
        value_module = getattr(getattr(value, "func", value), "__module__", "")
        of_project = value_module.split(".")[0] == "tf_frame"
        # A module without a list also has the names that it imports for itself.
        is_own = chosen or hasattr(module, "__path__") or value_module == module.__name__
        if of_project and is_own and callable(value):
            yield name, value


def _member(module: Any, name: str) -> Any:
    """Returns a name of a module; imports a submodule that `__all__` names, as `import *` does."""
    if not hasattr(module, name):
        importlib.import_module(f"{module.__name__}.{name}")
    return getattr(module, name)


def process_docstring(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Turns names in backticks into code, and indented examples into blocks; called by autodoc."""
    lines[:] = list(_with_blocks([_CODE.sub(_as_code, line) for line in lines]))


def _as_code(match: re.Match[str]) -> str:
    return f"``{match[1]}``" + (f"\\ {match[2]}" if match[2] else "")


def _with_blocks(lines: list[str]) -> Iterator[str]:
    """Yields the lines, with the mark of a literal block before an indented example."""
    before, in_block = "", False
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if line.strip():
            is_new = number and not lines[number - 1].strip()
            in_block = in_block and indent >= _INDENT
            if is_new and indent >= _INDENT and not in_block and not before.startswith(" "):
                in_block = True
                yield from ("::", "")
            before = line
        yield line
