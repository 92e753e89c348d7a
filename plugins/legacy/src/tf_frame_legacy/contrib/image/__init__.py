"""tf.contrib.image: projective transforms, warps, colour in YIQ, components, matching.

    rotated = image.rotate(images, math.pi / 6, interpolation="BILINEAR")
    image.transform(images, image.compose_transforms(first, second))

Images are `[height, width]`, `[height, width, channels]` or `[batch, height, width, channels]`.
"""

from tf_frame_legacy.contrib.image.color import (
    adjust_hsv_in_yiq as adjust_hsv_in_yiq,
    random_hsv_in_yiq as random_hsv_in_yiq,
)
from tf_frame_legacy.contrib.image.components import (
    bipartite_match as bipartite_match,
    connected_components as connected_components,
)
from tf_frame_legacy.contrib.image.transforms import (
    angles_to_projective_transforms as angles_to_projective_transforms,
    compose_transforms as compose_transforms,
    flat_transforms_to_matrices as flat_transforms_to_matrices,
    matrices_to_flat_transforms as matrices_to_flat_transforms,
    rotate as rotate,
    transform as transform,
    translate as translate,
    translations_to_projective_transforms as translations_to_projective_transforms,
)
from tf_frame_legacy.contrib.image.warp import (
    dense_image_warp as dense_image_warp,
    interpolate_spline as interpolate_spline,
    sparse_image_warp as sparse_image_warp,
)
