"""`find_candidates`: changes that often make a training faster, and mend no mistake.

Sources: the threads of TensorFlow's guide "General best practices for performance" for oneDNN;
the allocators and thresholds of glibc's manual page mallopt(3), where the memory of a large tensor
goes back to the system after each step, and comes again page by page; transparent huge pages of
glibc 2.35 (`glibc.malloc.hugetlb`).
"""

from __future__ import annotations

import ctypes.util
import dataclasses
import glob
from collections.abc import Iterator, Mapping
from typing import Any

from tf_frame.experiments.variant import Variant
from tf_frame.profiling.report.graph_hints import CHANNELS_LAST, LAYOUT

# The largest threshold that glibc accepts, 32 MiB; memory at the top that stays, 4 GiB.
_KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**32)}
_ALLOCATORS = ("jemalloc", "tcmalloc_minimal", "tcmalloc")
_LIBRARIES = "/usr/lib/*/lib{}.so*"
_STEPS_PER_LOOP = 10
_OTHER_LAYOUT = CHANNELS_LAST | {last: first for first, last in CHANNELS_LAST.items()}


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Changes to try.

    Attributes:
      kind: candidates of one kind exclude each other, such as two allocators.
      variant: the changes.
      same_numbers: whether the training computes the same numbers, but for rounding.
    """

    kind: str
    variant: Variant
    same_numbers: bool = True


def find_candidates(options: Mapping[str, Any], *, cores: int) -> Iterator[Candidate]:
    """Yields what may help, the most promising first.

    Args:
      options: option of the run -> its value.
      cores: the cores that the process may use.
    """
    for name in _ALLOCATORS:
        if path := _find_library(name):
            yield Candidate("allocator", Variant(environment={"LD_PRELOAD": path}))
    yield Candidate("allocator", Variant(environment=_KEEP_MEMORY))
    if options.get("steps_per_loop") == 1:
        yield Candidate("steps_per_loop", Variant({"steps_per_loop": str(_STEPS_PER_LOOP)}))
    yield from _threads(options, cores)
    huge = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    yield Candidate("huge pages", Variant(environment=huge))
    if options.get("xla") is False:
        yield Candidate("xla", Variant({"xla": "true"}))
    yield Candidate("onednn", Variant(environment={"TF_ENABLE_ONEDNN_OPTS": "0"}), False)
    if options.get("mixed_precision") == "none":
        yield Candidate("precision", Variant({"mixed_precision": "bfloat16"}), False)
    if layout := _OTHER_LAYOUT.get(str(options.get(LAYOUT))):
        yield Candidate("layout", Variant({LAYOUT: layout}), False)


def _threads(options: Mapping[str, Any], cores: int) -> Iterator[Candidate]:
    """Fewer operations at a time, or fewer threads for each of them."""
    usual = {name: options.get(name) or cores for name in ("inter_op_threads", "intra_op_threads")}
    for inter, intra in ((1, cores), (cores, 1), (2 * cores, cores)):
        threads = {"inter_op_threads": inter, "intra_op_threads": intra}
        if threads != usual:
            words = {name: str(count) for name, count in threads.items()}
            yield Candidate("threads", Variant(words))


def _find_library(name: str) -> str | None:
    """Returns the path of a shared library of the system; None without it."""
    if not ctypes.util.find_library(name):
        return None
    return next(iter(sorted(glob.glob(_LIBRARIES.format(name)))), None)
