"""slim's `DatasetDataProvider`, which reads the examples of a `Dataset` through queues.

    provider = DatasetDataProvider(dataset, num_readers=4, shuffle=True)
    image, label = provider.get(["image", "label"])

New inputs use tf.data. Names of ops and summaries are from tf_slim, data/dataset_data_provider.py.
"""

from __future__ import annotations

from typing import Any

from tf_frame_legacy.slim.data_provider import DataProvider
from tf_frame_legacy.slim.parallel_reader import parallel_read


class DatasetDataProvider(DataProvider):
    """Reads the files of a data set, and decodes one example in each run.

    With `num_epochs`, a local variable counts the epochs: run
    `tf.compat.v1.local_variables_initializer()` before the queue runners start.

    Args:
      dataset: a `Dataset`.
      num_readers: number of files that are read in parallel.
      reader_kwargs: arguments of `dataset.reader`.
      shuffle: whether to shuffle the files, and the records in the queue.
      num_epochs: epochs after which the queue closes; None: no end.
      common_queue_capacity, common_queue_min: maximum and, after a record is taken, minimum
        number of records in the queue.
      record_key: name of the item with the key of the record (`FILE:OFFSET`).
      seed: seed of the shuffling.
      scope: name scope; None: `parallel_read`.

    Raises:
      ValueError: an item of the data set is named `record_key`, or there are no files.
    """

    def __init__(
        self,
        dataset: Any,
        num_readers: int = 1,
        reader_kwargs: dict[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        key, data = parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        items = list(dataset.decoder.list_items())
        tensors = dict(zip(items, dataset.decoder.decode(data, items), strict=True))
        if record_key in tensors:
            raise ValueError(
                "The item name used for `record_key` cannot also be used for a dataset item: "
                f"{record_key}"
            )
        tensors[record_key] = key
        super().__init__(items_to_tensors=tensors, num_samples=dataset.num_samples)
