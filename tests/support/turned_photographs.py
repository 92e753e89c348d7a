"""Photographs of all eight EXIF orientations in several formats, and the annotations of each.

All show dark noise with a bright rectangle, `BOX`, at one place once a program has turned them.
"""

import dataclasses

import numpy as np
from PIL import Image, ImageOps

from tf_frame_vision.reading.orientation import turn_pixels, turn_points

HEIGHT, WIDTH = 24, 40
# Upper, left, lower, right.
BOX = (4, 6, 14, 30)
# Formats without loss, and JPEG, which Pillow and TensorFlow decode alike by the accurate method.
ENDINGS = (".png", ".jpg", ".tiff", ".webp")
_INVERSE = {6: 8, 8: 6}


@dataclasses.dataclass(frozen=True)
class Annotated:
    """A photograph, and its annotation in the frame of the shown or of the stored image.

    Attributes:
      orientation: of EXIF, 1 to 8.
      frame: `shown`; `stored`; or `exchanged`: stored where that has another size.
    """

    orientation: int
    frame: str = "shown"

    @property
    def stem(self):
        return f"p{self.orientation}"

    @property
    def name(self):
        return self.stem + ENDINGS[(self.orientation - 1) % len(ENDINGS)]

    @property
    def turn(self):
        """The orientation that turns the shown image to the frame of the annotation."""
        is_stored = self.frame == "stored" or (self.frame == "exchanged" and self.orientation > 4)
        return _INVERSE.get(self.orientation, self.orientation) if is_stored else 1

    @property
    def size(self):
        return self.mask.shape

    @property
    def box(self):
        upper, left, lower, right = BOX
        corners = [[left, upper], [right, lower]]
        points = turn_points(corners, self.turn, (HEIGHT, WIDTH))
        (left, upper), (right, lower) = points.min(0).tolist(), points.max(0).tolist()
        return upper, left, lower, right

    @property
    def outline(self):
        """`x, y` of the four corners."""
        upper, left, lower, right = self.box
        return [left, upper, right, upper, right, lower, left, lower]

    @property
    def mask(self):
        return turn_pixels(shown_mask(), self.turn)


def photographs(frame="shown"):
    return [Annotated(orientation, frame) for orientation in range(1, 9)]


def shown_mask():
    mask = np.zeros([HEIGHT, WIDTH], np.uint8)
    upper, left, lower, right = BOX
    mask[upper:lower, left:right] = 1
    return mask


def tags(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def write(folder, photograph):
    """Writes a photograph; returns its path."""
    random = np.random.RandomState(photograph.orientation)
    shown = random.randint(0, 60, [HEIGHT, WIDTH, 3]).astype(np.uint8)
    shown[shown_mask() == 1] = 250
    inverse = _INVERSE.get(photograph.orientation, photograph.orientation)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / photograph.name
    options = {"lossless": True} if path.suffix == ".webp" else {}
    stored = Image.fromarray(turn_pixels(shown, inverse))
    stored.save(path, exif=tags(photograph.orientation), **options)
    return path


def shown_by_pillow(path):
    """Returns the reference, `[height, width, 3]` uint8."""
    with Image.open(path) as image:
        assert image.getexif()[0x0112] == int(path.stem[-1])
        return np.asarray(ImageOps.exif_transpose(image).convert("RGB"))
