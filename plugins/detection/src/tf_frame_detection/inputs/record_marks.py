"""Keys of the object detection API's records, and their objects before the first step.

Does not import TensorFlow; `detection_records` reads the examples.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from tf_frame_detection.inputs.annotations import Marked, Photograph
from tf_frame_detection.inputs.photographs import Photographs, collect
from tf_frame_vision.reading.record_facts import RecordFacts, Values, read_record_facts
from tf_frame_vision.reading.record_index import RecordIndex

HEIGHT, WIDTH = "image/height", "image/width"
EDGES = tuple(f"image/object/bbox/{edge}" for edge in ("ymin", "xmin", "ymax", "xmax"))
LABEL, TEXT = "image/object/class/label", "image/object/class/text"
DIFFICULT, CROWD = "image/object/difficult", "image/object/is_crowd"
GROUP = "image/object/group_of"
CORNERS = ("image/object/corner/y", "image/object/corner/x")


@dataclasses.dataclass(frozen=True)
class MarkReader:
    """Reads the objects of records, as far as they can be used.

    Attributes:
      ids: label of each class in the records.
      names: text of each class, which counts in records without labels.
      ignore_difficult: whether difficult objects are ignored.
    """

    ids: Sequence[int]
    names: Sequence[str]
    ignore_difficult: bool

    def read(
        self, indices: Sequence[RecordIndex], *, max_pixels: int
    ) -> tuple[RecordFacts, Photographs]:
        """Reads some records, or all; boxes are shares of the shown image."""
        facts = read_record_facts(indices, self._read_marks, max_pixels=max_pixels)
        photographs = (
            Photograph(Path(name), "", marks, size, in_shares=True)
            for name, marks, size in zip(facts.names, facts.labels, facts.sizes, strict=True)
        )
        return facts, collect(indices[0].path.parent, photographs)

    def _read_marks(self, values: Values) -> list[Marked] | None:
        """Returns the objects of a record; None where reading the example refuses it."""
        numbers = {id_: number for number, id_ in enumerate(self.ids)}
        texts = {name.encode(): number for number, name in enumerate(self.names)}
        labels = values(LABEL)
        boxes = [*zip(*map(values, EDGES), strict=False)]
        classes = [numbers.get(id_) for id_ in labels] or [*map(texts.get, values(TEXT))]
        flags = [values(CROWD), values(GROUP)]
        flags += [values(DIFFICULT)] if self.ignore_difficult else []
        are_numbers = all(isinstance(edge, float) for box in boxes for edge in box)
        wrong = [flag for flag in flags if len(flag) not in (0, len(boxes))]
        if len(classes) != len(boxes) or wrong or not are_numbers:
            return None
        ignored = [any(flag) for flag in zip(*filter(len, flags), strict=True)]
        ignored = ignored or [False] * len(boxes)
        return [
            Marked(box, number, "", is_ignored)
            for box, number, is_ignored in zip(boxes, classes, ignored, strict=True)
            if number is not None
        ]
