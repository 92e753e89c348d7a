"""A reader of a document, who runs its blocks in order in one folder."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

from documents import data
from documents.blocks import Block, blocks
from documents.bridge import Bridge
from documents.output import commands
from documents.plan import Needs, needs, status
from plugin_environment import PluginEnvironment
from source_tree import ROOT
from tf_frame.testing.distributions import write_distribution

_HERE = Path(__file__).parent
# The programs that a document calls; `python3 -m venv` makes an environment without an index.
_PROGRAMS = {
    "tf-frame": f'exec "{{python}}" -S "{_HERE / "command.py"}" "$@"',
    "python3": f"""if [ "$1 $2" = "-m venv" ]; then
exec "{sys.executable}" "{_HERE / "environment.py"}" "$3"
fi
exec "{{python}}" "$@\"""",
}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a block: its exit code and output."""

    code: int
    output: str


def has_packages(block: Block) -> bool:
    """Returns whether the packages are here that only this block needs."""
    return all(importlib.util.find_spec(package) for package in needs(block).packages)


class Reader:
    """Follows one document.

    Args:
      document: path of the document.
      folder: an empty folder, in which the reader works.
    """

    def __init__(self, document: str, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self._blocks = blocks(document)
        self._site = folder / "site"
        self._programs = folder / "environment" / "bin"
        self._stand_ins = folder / "stand_ins"
        self._environment = PluginEnvironment(folder / "environment")
        self._ends = folder / "ends"
        self._outcomes: dict[Block, Outcome] = {}
        for each in (self._site, self._stand_ins):
            each.mkdir()
        self._address = Path(tempfile.mkdtemp()) / "bridge"  # Paths of sockets have to be short.
        self._bridge = Bridge(self._address, self._environment.site)
        self._write_programs()

    def alone(self, block: Block) -> Outcome:
        """Returns what becomes of a block that needs none before it."""
        return self._follow(block)

    def outcome(self, block: Block) -> Outcome:
        """Returns what became of a block, after all before it."""
        for each in self._blocks[: self._blocks.index(block) + 1]:
            done = each in self._outcomes or status(each) not in ("run", "file", "compared")
            if not done and (each == block or has_packages(each)):
                self._outcomes[each] = self._follow(each)
        return self._outcomes[block]

    def _follow(self, block: Block) -> Outcome:
        need = needs(block)
        for name in need.data:
            getattr(data, name)(self.folder)
        match status(block), block.language:
            case "compared", _:
                return self._printed(block)
            case "file", _:
                return self._save(block, need.file or block.file or "")
            case _, "python":
                return self._python(block.text, need)
        return self._shell(f"{block.text}\n{need.after}", need)

    def _printed(self, block: Block) -> Outcome:
        """The outcome of the block whose output another one shows, or of its own commands."""
        need = needs(block)
        if need.setup or block.text.startswith("$ "):
            return self._shell(commands(block.text), need)
        before = [each for each in self._outcomes if each.name == need.of or not need.of]
        return self._outcomes[before[-1]]

    def _save(self, block: Block, file: str) -> Outcome:
        path = self.folder / file
        assert path.parent.is_dir(), f"the reader has no folder {path.parent}"
        path.write_text(block.text, encoding="utf-8")
        if path.name == "entry_points.toml":
            self._install(block.text)
        return Outcome(0, "")

    def _install(self, text: str) -> None:
        """Installs a package with the entry points of one group, and the modules of the site."""
        group = re.search(r'entry-points."(.*)"', text)
        assert group
        points = re.findall(r'^(\w+) = "(.*)"$', text, re.MULTILINE)
        named = {f"{group[1]}: {name}": target for name, target in points}
        write_distribution(self._site, "reader", named)

    def _python(self, text: str, need: Needs) -> Outcome:
        path = self.folder / f"block_{len(self._outcomes)}.py"
        code = re.sub(
            r"^( *)BLOCK$", lambda m: textwrap.indent(text, m[1]), need.inside, flags=re.MULTILINE
        )
        if need.module:
            (self.folder / f"{need.module}.py").write_text(code, encoding="utf-8")
            code = ""
        path.write_text(f"{need.before}\n{code}\n{need.after}\n", encoding="utf-8")
        return self._shell(f'python "{path.name}"', need)

    def _shell(self, text: str, need: Needs) -> Outcome:
        """Runs a script after what it supposes; the folder that it ends in is the next one's."""
        done = self._run(f'{need.setup}\n{text}\npwd > "{self._ends}"\n', need)
        if done.code == 0:
            self.folder = Path(self._ends.read_text(encoding="utf-8").strip())
        return done

    def _run(self, text: str, need: Needs) -> Outcome:
        for name in need.stand_ins:
            shutil.copy(_HERE / "stand_ins" / name, self._stand_ins / name)
        # Programs beside this interpreter, such as ruff, are those of the environment of the tests.
        own = Path(sys.executable).parent
        path = (self._stand_ins, self._programs, own, os.environ["PATH"])
        python_path = (str(self._site), os.environ.get("PYTHONPATH", ""))
        variables = {
            "PATH": os.pathsep.join(map(str, path)),
            "PYTHONPATH": os.pathsep.join(filter(None, python_path)),
            "DOCUMENT_BRIDGE": str(self._address),
            "DOCUMENT_QUICK": json.dumps(need.quick),
            "CUDA_VISIBLE_DEVICES": "",
            "XDG_CACHE_HOME": str(self._ends.with_name("cache")),
            "REPOSITORY": str(ROOT),
        }
        done = self._environment.run_script(
            f"set -uo pipefail\n{text}", cwd=self.folder, variables=variables, secs=need.secs
        )
        return Outcome(done.returncode, done.stdout)

    def _write_programs(self) -> None:
        for name, line in _PROGRAMS.items():
            script = self._programs / name
            script.unlink(missing_ok=True)
            script.write_text(f"#!/bin/sh\n{line.format(python=self._programs / 'python')}\n")
            script.chmod(0o755)
