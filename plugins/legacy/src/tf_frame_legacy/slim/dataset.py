"""slim's `Dataset`, the description of a data set and its files.

The data set modules of slim's trainers return one, and `DatasetDataProvider` reads it.
"""

from __future__ import annotations

from typing import Any


class Dataset:
    """The description of a data set for a `DatasetDataProvider`; arguments become attributes.

    Args:
      data_sources: a path or a list of paths; `*`, `?` and `[` in them are wildcards.
      reader: the class that reads the files, such as `tf.compat.v1.TFRecordReader`.
      decoder: the `DataDecoder` of the records.
      num_samples: number of examples.
      items_to_descriptions: item -> description; may be None.
      **kwargs: further attributes, such as `num_classes`.
    """

    def __init__(
        self,
        data_sources: Any,
        reader: Any,
        decoder: Any,
        num_samples: int,
        items_to_descriptions: dict[str, str] | None,
        **kwargs: Any,
    ) -> None:
        self.__dict__.update(
            kwargs,
            data_sources=data_sources,
            reader=reader,
            decoder=decoder,
            num_samples=num_samples,
            items_to_descriptions=items_to_descriptions,
        )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"the Dataset has no attribute {name!r}, only {', '.join(sorted(self.__dict__))}; "
            "pass it to Dataset() as a keyword argument"
        )
