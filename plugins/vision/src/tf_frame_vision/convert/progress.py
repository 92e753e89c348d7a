"""Progress of a conversion: a bar on a terminal, elsewhere a line for each shard."""

from __future__ import annotations

import sys
import threading

from tqdm import tqdm


class Progress:
    """Counts pictures and shards; threads may use it at the same time.

    Args:
      num_pictures: number of pictures of the conversion.
      num_shards: number of its shards.
    """

    def __init__(self, num_pictures: int, num_shards: int) -> None:
        self._lock = threading.Lock()
        self._num_shards = num_shards
        self._shards_done = 0
        self._bar = tqdm(
            total=num_pictures,
            unit="image",
            desc="convert",
            dynamic_ncols=True,
            disable=not sys.stderr.isatty(),
        )

    def advance(self, number: int = 1) -> None:
        """Counts pictures that are done."""
        with self._lock:
            self._bar.update(number)

    def shard_done(self) -> None:
        """Counts a shard that is whole."""
        with self._lock:
            self._shards_done += 1
            if self._bar.disable:
                line = f"{self._shards_done} of {self._num_shards} shards done"
                print(line, file=sys.stderr, flush=True)

    def report(self, line: str) -> None:
        """Prints a line above the bar."""
        with self._lock:
            tqdm.write(line, file=sys.stderr)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *failure: object) -> None:
        self._bar.close()
