"""Where the examples of a data set are and how they are read: slim's `Dataset`."""

from __future__ import annotations

from typing import Any


class Dataset:
    """What a `DatasetDataProvider` has to know of a data set; each argument becomes an attribute.

    Args:
      data_sources: a path or a list of paths; `*`, `?` and `[` in them are wildcards.
      reader: the class that reads the files, such as `tf.compat.v1.TFRecordReader`.
      decoder: the `DataDecoder` that turns a record into items.
      num_samples: how many examples there are.
      items_to_descriptions: item -> what it is, in words; may be None.
      **kwargs: what else belongs to this data set, such as `num_classes`.
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
            "hand it to Dataset() as a keyword"
        )
