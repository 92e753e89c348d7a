"""Random changes of a training image together with its masks, boxes and points.

Networks for segmentation or detection see more varied images, and the labels still fit.

    sample = Sample(image, masks=masks, boxes=boxes)
    scale_seed, crop_seed, flip_seed, colour_seed = draws.split(seed, 4)
    sample = random_scale(sample, 0.5, 2.0, scale_seed)
    sample = random_crop_or_pad(sample, 512, 512, crop_seed, mask_fill=255)
    sample = random_flip(sample, flip_seed)
    image = colour.brightness(sample.image, 32.0, colour_seed)

Random numbers follow from a seed by stateless ops, so that a resumed run sees the same images
as an uninterrupted one. `geometry` has the changes themselves, without random numbers.
"""

from tf_frame_vision.augmentation import colour as colour, draws as draws
from tf_frame_vision.augmentation.geometry import (
    Sample as Sample,
    clip_boxes as clip_boxes,
    crop as crop,
    crop_or_pad as crop_or_pad,
    flip_left_right as flip_left_right,
    flip_up_down as flip_up_down,
    pad as pad,
    resize as resize,
    rotate_90 as rotate_90,
    scale as scale,
    transpose as transpose,
)
from tf_frame_vision.augmentation.random_geometry import (
    apply_if as apply_if,
    random_crop as random_crop,
    random_crop_or_pad as random_crop_or_pad,
    random_flip as random_flip,
    random_rotate_90 as random_rotate_90,
    random_scale as random_scale,
)
