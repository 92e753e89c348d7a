import numpy as np
import pytest
from PIL import Image

from tf_frame import InputContext, Mode
from tf_frame.errors import ConfigError
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_detection.boxes import rotated_numpy
from tf_frame_detection.inputs import nuclei_boxes
from tf_frame_detection.inputs.nuclei_boxes import NucleiBoxes, Params
from tf_frame_detection.inputs.nuclei_outlines import outlines

SAMPLE = nuclei_boxes._SAMPLE


def nuclei(**params):
    return NucleiBoxes(params=Params(**params))


def take(of, mode, count=None, batch_size=4):
    return read_elements(of.dataset(mode, InputContext(batch_size=batch_size, seed=3)), count)


def ellipse(angle, long=30, short=14, size=96):
    """A mask of one ellipse, whose longer axis has an angle from the columns, clockwise."""
    rows, columns = np.mgrid[:size, :size] + 0.5 - size / 2
    along = columns * np.cos(angle) + rows * np.sin(angle)
    aside = rows * np.cos(angle) - columns * np.sin(angle)
    return ((along / long) ** 2 + (aside / short) ** 2 < 1).astype(np.uint8)


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.1, -0.7])
def test_the_rotated_box_lies_along_the_principal_axis(angle):
    found = outlines(ellipse(angle), 0, 0, 96, 96)
    expected = rotated_numpy.corners(np.array([[48, 48, 28, 60, angle]]))
    distances = np.linalg.norm(found.corners[0][:, None] - expected[0][None], axis=-1)
    assert distances.min(1).max() < 1.5
    assert not found.cut[0]


def test_the_upright_box_around_the_outline_is_that_of_the_turned_mask():
    points = outlines(ellipse(0.4), 0, 0, 96, 96).points[0]
    exact = np.argwhere(ellipse(0.4))
    np.testing.assert_array_equal(points.min(0), exact.min(0))
    np.testing.assert_array_equal(points.max(0), exact.max(0) + 1)
    turn = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
    turned, pixels = (points - 48) @ turn.T + 48, np.argwhere(ellipse(0.4 - 0.5))
    np.testing.assert_allclose(turned.min(0), pixels.min(0), atol=1.2)
    np.testing.assert_allclose(turned.max(0), pixels.max(0) + 1, atol=1.2)


def test_evaluation_yields_whole_tiles_with_the_boxes_of_their_pixels():
    of = nuclei(rotated=True)
    assert of.info.num_examples == {Mode.TRAIN: 12, Mode.EVAL: 4, Mode.PREDICT: 4}
    ((features, labels),) = take(of, Mode.EVAL)
    image, mask = (np.asarray(Image.open(SAMPLE / f"{n}.png")) for n in ("image", "instances"))
    np.testing.assert_array_equal(np.concatenate(features["image"][..., 0], 1), image[384:])
    assert features["name"].tolist() == [f"tile {n}".encode() for n in range(12, 16)]
    tile = mask[384:, 128:256]
    numbers = [number for number in np.unique(tile) if number]
    count = len(numbers)
    assert labels["classes"][1].tolist()[: count + 1] == [0] * count + [-1]
    for number, box, ignored in zip(
        numbers, labels["boxes"][1], labels["ignored"][1], strict=False
    ):
        pixels = np.argwhere(tile == number)
        np.testing.assert_array_equal(box, [*pixels.min(0), *(pixels.max(0) + 1)])
        everywhere = np.argwhere(mask == number)
        at_the_edge = len(everywhere) > len(pixels) or everywhere.max() > 509
        assert ignored == at_the_edge
    whole = ~labels["ignored"] & (labels["classes"] == 0)
    assert whole.sum() == 19
    corners = rotated_numpy.corners(labels["rotated_boxes"][whole])
    # The box along the axis encloses the object, but for corners of pixels.
    inside = np.concatenate([corners.min(1), -corners.max(1)], 1)
    upright = labels["boxes"][whole]
    assert (inside <= np.concatenate([upright[:, :2], -upright[:, 2:]], 1) + 1).all()


@pytest.mark.slow
def test_unresampled_and_turned_tiles_are_parts_of_the_image():
    image = np.asarray(Image.open(SAMPLE / "image.png"))[:384]
    of = nuclei(unresampled=1.0, intensity=0.0)
    ((features, labels),) = take(of, Mode.TRAIN, 1, batch_size=8)
    symmetries = set()
    for tile in features["image"][..., 0]:
        kinds = [np.rot90(each, k) for each in (tile, tile[:, ::-1]) for k in range(4)]
        found = [k for k, each in enumerate(kinds) if is_part(each, image)]
        assert len(found) == 1
        symmetries.update(found)
    assert len(symmetries) > 3
    boxes = labels["boxes"][(labels["classes"] == 0) & ~labels["ignored"]]
    np.testing.assert_array_equal(boxes, np.round(boxes))
    with pytest.raises(ConfigError, match="--input.min_scale_factor 2.0 is greater than"):
        nuclei(min_scale_factor=2.0)
    # Bright pixels, which nuclei are, lie within boxes; noise between them does not.
    of = nuclei(unresampled=0.0, intensity=0.0, rotated=True)
    ((features, labels),) = take(of, Mode.TRAIN, 1, batch_size=8)
    rows, columns = np.mgrid[:128, :128] + 0.5
    for k, image in enumerate(features["image"][..., 0]):
        inside = np.zeros([128, 128], bool)
        for row, column, height, width, angle in labels["rotated_boxes"][k]:
            down, across = rows - row, columns - column
            along = down * np.sin(angle) + across * np.cos(angle)
            aside = down * np.cos(angle) - across * np.sin(angle)
            inside |= (np.abs(along) < width / 2 + 2) & (np.abs(aside) < height / 2 + 2)
        assert (image[~inside] > 60).mean() < 0.01
        if inside.any():
            assert image[inside].mean() > image[~inside].mean() + 10


def is_part(tile, image):
    starts = np.argwhere((image[:-127, :-127] == tile[0, 0]) & (image[127:, 127:] == tile[-1, -1]))
    return any((image[r : r + 128, c : c + 128] == tile).all() for r, c in starts)


@pytest.mark.slow
def test_the_share_of_unresampled_tiles():
    image = np.asarray(Image.open(SAMPLE / "image.png"))[:384]
    ((features, _),) = take(nuclei(intensity=0.0), Mode.TRAIN, 1, batch_size=40)
    whole = [(tile % 1 == 0).all() for tile in features["image"]]
    assert 0.2 < np.mean(whole) < 0.6
    plain = nuclei(augment=False)
    ((features, _),) = take(plain, Mode.TRAIN, 1, batch_size=12)
    assert sorted(features["name"]) == sorted(f"tile {n}".encode() for n in range(12))
    first = features["image"][features["name"].tolist().index(b"tile 5"), ..., 0]
    np.testing.assert_array_equal(first, image[128:256, 128:256])


@pytest.mark.slow
def test_training_resumes_exactly():
    check_exact_resume(nuclei(rotated=True), batch_size=4, steps=6)
