"""Seeded mutations of the sources: faults that the tests catch before and after a refactoring.

    mutations.py select --tree OLD --seed 1 --count 400 > list.jsonl
    mutations.py cover --tree OLD --python PY --out COVERAGE
    mutations.py run --tree OLD --python PY --coverage COVERAGE --list list.jsonl --out before
    mutations.py run --tree NEW --python PY2 --coverage COVERAGE2 --list list.jsonl --out after
    mutations.py compare before after

A mutation is one small fault: another comparison, constant, returned value ... `run` finds the
mutations of OLD again in NEW, where files moved and functions have other names; `locate` shows how
well. `run` works in copies of the tree and of the virtual environment of `--python`, which needs
editable installs of exactly that tree, and coverage, pytest-xdist and pytest-timeout; it continues
an interrupted `run` with the same `--out`. `cover` runs the suite once and records the tests of
each line; without its result, `run` chooses tests by the names of their files.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from sites import Mutation, list_mutations, locate, select
from test_choice import COVERAGE_FOLDER, Coverage
from worker import Worker


def run(arguments: argparse.Namespace) -> None:
    """Judges the mutations of a list that have no result yet; appends results to a file."""
    judged = {result["id"] for result in _read(arguments.out)} if arguments.out.exists() else set()
    waiting: queue.SimpleQueue[Mutation] = queue.SimpleQueue()
    for mutation in _read(arguments.list)[: arguments.first]:
        if mutation["id"] not in judged:
            waiting.put(Mutation(**mutation))
    mutations = list_mutations(arguments.tree)
    files = {mutation.file for mutation in mutations}
    coverage = Coverage(arguments.tree, arguments.coverage, files)
    lock, workers, verdicts = threading.Lock(), list[Worker](), dict[str, bool]()

    def work(worker: Worker) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                result = _judge(waiting.get_nowait(), mutations, coverage, worker, arguments.budget)
                with lock, open(arguments.out, "a") as file:
                    print(json.dumps(result), file=file)
                print(*result.values(), flush=True)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    # Hard links work within one file system only.
    folder = Path(tempfile.mkdtemp(prefix="mutations-", dir=arguments.python.parents[2]))
    try:
        for number in range(arguments.workers):
            (folder / str(number)).mkdir()
            workers.append(Worker(folder / str(number), arguments.tree, arguments.python, verdicts))
        threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for worker in workers:
            worker.close()
        shutil.rmtree(folder, ignore_errors=True)
    print("failed without a mutation, too:", *(name for name in verdicts if not verdicts[name]))


def _judge(
    original: Mutation, mutations: list[Mutation], coverage: Coverage, worker: Worker, budget: float
) -> dict[str, Any]:
    began = time.monotonic()
    match, mutation = locate(original, mutations)
    result: dict[str, Any] = {"id": original.id, "kind": original.kind, "match": match}
    if not mutation:
        return {**result, "outcome": match, "place": original.place}
    result |= {"outcome": "survived", "place": mutation.place, "tests": 0}
    for tests in coverage.choose(mutation, budget):
        result["tests"] += len(tests)
        expected = sum(map(coverage.times.__getitem__, tests))
        if by := worker.judge(mutation, tests, 60 + 5 * expected):
            result |= {"outcome": "caught", "by": by}
            break
    return {**result, "seconds": round(time.monotonic() - began, 1)}


def cover(arguments: argparse.Namespace) -> None:
    """Runs the suite once, and records the tests of each line."""
    arguments.out.mkdir(parents=True)
    options = ("-q", "-p", "no:cacheprovider", "-p", "test_choice", "--dist", "worksteal")
    variables = {
        COVERAGE_FOLDER: str(arguments.out),
        "PYTHONPATH": str(Path(__file__).resolve().parent),
    }
    command = [arguments.python, "-m", "pytest", *options, "-n", str(arguments.workers)]
    subprocess.run(command, cwd=arguments.tree, env={**os.environ, **variables})


def compare(arguments: argparse.Namespace) -> None:
    """Prints the numbers of caught mutations before and after, and the lost ones."""
    paths = (arguments.before, arguments.after)
    old, new = ({result["id"]: result for result in _read(path)} for path in paths)
    for name, results in (("before", old), ("after", new)):
        counts = collections.Counter(result["outcome"] for result in results.values())
        print(f"{name}:", ", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    caught = [number for number in old if old[number]["outcome"] == "caught" and number in new]
    for name, outcome in (("lost", "survived"), ("unmatched", "unmatched")):
        numbers = [number for number in caught if new[number]["outcome"] == outcome]
        print(f"{name}: {len(numbers)}")
        for number in numbers:
            result = old[number]
            places = f"{result['place']} -> {new[number]['place']}"
            print(f"  {number} {result['kind']} {places}, caught by {result['by']}")


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def main() -> None:
    """Runs the command of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    a_file = {"type": lambda text: Path(text).absolute(), "required": True}
    options: dict[str, dict[str, Any]] = {
        **{"--tree": a_file, "--python": a_file, "--list": a_file, "--out": a_file},
        **{"before": {"type": Path}, "after": {"type": Path}},
        **{"--seed": {"type": int, "default": 1}, "--count": {"type": int, "default": 400}},
        "--coverage": {"type": Path, "help": "folder that `cover` wrote"},
        "--workers": {"type": int, "default": 2},
        "--first": {"type": int, "help": "number of mutations of the list"},
        "--budget": {"type": float, "default": 60.0, "help": "seconds of tests per mutation"},
    }
    for name, names in {
        "select": "--tree --seed --count",
        "locate": "--tree --list --first",
        "cover": "--tree --python --out --workers",
        "run": "--tree --list --python --coverage --out --workers --first --budget",
        "compare": "before after",
    }.items():
        command = commands.add_parser(name)
        for option in names.split():
            command.add_argument(option, **options[option])
    arguments = parser.parse_args()
    if arguments.command == "select":
        for mutation in select(arguments.tree, arguments.seed, arguments.count):
            print(json.dumps(dataclasses.asdict(mutation)))
    elif arguments.command == "locate":
        mutations = list_mutations(arguments.tree)
        for row in _read(arguments.list)[: arguments.first]:
            original = Mutation(**row)
            match, mutation = locate(original, mutations)
            print(
                original.id, match, original.place, "->", mutation.place if mutation else "nothing"
            )
    else:
        {"run": run, "cover": cover, "compare": compare}[arguments.command](arguments)


if __name__ == "__main__":
    main()
