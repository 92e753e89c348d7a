"""Choice of tests for a mutation, by the lines that they run, or else by the names of files."""

from __future__ import annotations

import collections
import json
import os
from pathlib import Path
from typing import Any

from sites import Mutation

TESTS = ("tests/**/test_*.py", "plugins/*/tests/**/test_*.py")
COVERAGE_FOLDER = "MUTATIONS_COVERAGE"  # A variable of the environment.


class Coverage:
    """Tests that run a line, with their durations; without a coverage run, names of test files."""

    def __init__(self, tree: Path, folder: Path | None, files: set[str]) -> None:
        self.lines: dict[Any, set[str]] = collections.defaultdict(set)  # File and line -> tests.
        self.times: dict[str, float] = {}
        for path in sorted(folder.glob("*.json")) if folder else ():
            part = json.loads(path.read_text())
            self.times |= {test: secs for test, (secs, passed) in part["times"].items() if passed}
            for file in files & part["lines"].keys():
                for line, tests in part["lines"][file].items():
                    self.lines[file, int(line)].update(part["tests"][test] for test in tests)
        if not folder:
            paths = (path for pattern in TESTS for path in tree.glob(pattern))
            self.times = {path.relative_to(tree).as_posix(): 3.0 for path in sorted(paths)}

    def choose(self, mutation: Mutation, budget: float) -> list[list[str]]:
        """Returns tests to run first and tests to run after them, of `budget` seconds together."""
        alike = {test: _likeness(test, mutation.file) for test in self.times}

        def running(first: int, last: int) -> set[str]:
            tests = (self.lines.get((mutation.file, line), ()) for line in range(first, last + 1))
            return set().union(*tests) & alike.keys()

        def in_order(tests: set[str]) -> list[str]:
            return sorted(tests, key=lambda test: (-alike[test], self.times[test]))

        exact = set() if mutation.at_import else running(*mutation.lines)
        covering = exact or running(*mutation.function_lines) or running(1, 9999)
        by_name = {test for test in alike if alike[test] >= 2}
        if not exact:  # The line may run in processes that tests start.
            starters = ("tests/cli/", "tests/scenarios/")
            by_name |= {test for test in alike if alike[test] or test.startswith(starters)}
        tests = in_order(covering) + in_order(by_name - covering)
        stages, spent = [list[str](), list[str]()], 0.0
        for number, test in enumerate(tests):
            if number == 0 or spent + self.times[test] < budget:
                spent += self.times[test]
                stages[number > 40 or spent > budget / 3].append(test)
        return [stage for stage in stages if stage]


def _likeness(test: str, source: str) -> int:
    """Returns how well the path of a test mirrors a source file, from 0 to 3."""
    plugin = Path(*Path(source).parts[:2]) if source.startswith("plugins/") else Path()
    home, parts = plugin / "tests", Path(source).with_suffix("").parts
    names = [name for name in parts[4 if plugin.parts else 2 :] if name != "__init__"]
    path = Path(test.partition("::")[0])
    if not path.is_relative_to(home) or not names:
        return 0
    words = [*path.relative_to(home).parts[:-1], path.stem.removeprefix("test_")]
    if words[: len(names)] == names:
        return 3
    return 2 if names[-1] in words else int(words[: len(names) - 1] == names[:-1])


class Recorder:
    """Plugin of pytest: records the lines and the duration of each test."""

    def __init__(self, folder: Path) -> None:
        import coverage

        self._folder, self._root = folder, os.getcwd()
        include = [f"{self._root}/framework/*", f"{self._root}/plugins/*/src/*"]
        # In memory: tests limit the size of files.
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=include)
        self._coverage.start()
        self._times: dict[str, tuple[float, bool]] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        secs, passed = self._times.get(report.nodeid, (0.0, True))
        self._times[report.nodeid] = (secs + report.duration, passed and not report.failed)

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        data, numbers = self._coverage.get_data(), dict[str, int]()
        lines = {
            os.path.relpath(file, self._root): {
                line: [numbers.setdefault(test, len(numbers)) for test in tests if test]
                for line, tests in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        path = self._folder / (os.environ.get("PYTEST_XDIST_WORKER", "main") + ".json")
        path.write_text(json.dumps({"times": self._times, "tests": [*numbers], "lines": lines}))


def pytest_configure(config: Any) -> None:
    """Registers the recorder; the command `cover` makes this file a plugin of pytest."""
    if folder := os.environ.get(COVERAGE_FOLDER):
        config.pluginmanager.register(Recorder(Path(folder)))
