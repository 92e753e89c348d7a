"""Measures what installed packages with plugins add to the time of `tf-frame plugins list`.

    python tools/bench/plugins_list.py [--packages 200] [--runs 21] [--write]

The packages are generated and empty: metadata, a module, an entry point each. Runs with and without
them take turns, so that what else the machine does meets both alike; the CPU time of the process
is measured beside the time on the clock.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figure_file import write_table

from tf_frame.testing.distributions import write_distribution


def main() -> None:
    """Prints the medians of both, and the difference."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--packages", type=int, default=200)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--write", action="store_true", help="write docs/figures/plugins_list.json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sites = {"none": Path(folder, "none"), "generated": Path(folder, "generated")}
        sites["none"].mkdir()
        for number in range(args.packages):
            make_package(sites["generated"], number)
        for site in sites.values():
            timed(site)  # Fills the caches of the file system.
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in sites}
        for run in range(args.runs):
            for name in sorted(sites, reverse=bool(run % 2)):
                times[name].append(timed(sites[name]))
    shown, rows = {}, []
    for index, clock in enumerate(("on the clock", "of CPU")):
        for name in sites:
            shown[name] = [1e3 * each[index] for each in times[name]]
            print(f"{name:<10} {spread(shown[name])} {clock}")
        none, generated = (statistics.median(shown[name]) for name in sites)
        added = generated - none
        rows.append([clock, f"{added:.0f} ms, on {none:.0f} ms"])
        print(f"{args.packages} packages add {added:.1f} ms {clock} ({args.runs} runs)")
    if args.write:
        head = [f"{args.packages} packages more", f"median of {args.runs} runs"]
        names = ("plugin/find.py", "plugin/packages.py", "cli/plugin_list.py")
        write_table(head, rows, code=[f"framework/tf_frame/{name}" for name in names])


def make_package(site: Path, number: int) -> None:
    """Writes an empty package with a model."""
    name = f"generated_{number}"
    requires = ["tf-frame>=0.1,<0.2", "numpy>=1.26"]
    target = f"{name}:Net"
    write_distribution(site, name, {f"tf_frame.models: {name}": target}, requires=requires)
    (site / f"{name}.py").touch()


def timed(site: Path) -> tuple[float, float]:
    """Seconds on the clock and of CPU of one `tf-frame plugins list`."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "tf_frame", "plugins", "list"],
        env={**os.environ, "PYTHONPATH": str(site)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    secs, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return secs, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def spread(values: list[float]) -> str:
    """Median, quartiles and the least: a busy machine only ever adds."""
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:7.1f} ms ({low:.1f} to {high:.1f}, least {min(values):.1f})"


if __name__ == "__main__":
    main()
