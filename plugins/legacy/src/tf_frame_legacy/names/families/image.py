"""tf.contrib.image."""

from tf_frame_legacy.names.row import not_offered, reimplemented

_OPS = "tf.contrib.image.python.ops"
_OURS = "tf_frame_legacy.contrib.image"
_TRANSFORMS = (
    "angles_to_projective_transforms compose_transforms flat_transforms_to_matrices "
    "matrices_to_flat_transforms rotate transform translate translations_to_projective_transforms"
)
_COMPONENTS = "bipartite_match connected_components"
_NOTE = "composed of other operations; slower on large images"

ROWS = [
    *reimplemented(("tf.contrib.image", f"{_OPS}.image_ops"), _OURS, _TRANSFORMS),
    *reimplemented(("tf.contrib.image", f"{_OPS}.image_ops"), _OURS, _COMPONENTS, note=_NOTE),
    *reimplemented(
        "tf.contrib.image",
        _OURS,
        "adjust_hsv_in_yiq adjust_yiq_hsv=adjust_hsv_in_yiq dense_image_warp interpolate_spline "
        "random_hsv_in_yiq random_yiq_hsv=random_hsv_in_yiq sparse_image_warp",
    ),
    *reimplemented(f"{_OPS}.distort_image_ops", _OURS, "adjust_hsv_in_yiq random_hsv_in_yiq"),
    *reimplemented(f"{_OPS}.dense_image_warp", _OURS, "dense_image_warp"),
    *reimplemented(f"{_OPS}.interpolate_spline", _OURS, "interpolate_spline"),
    *reimplemented(f"{_OPS}.sparse_image_warp", _OURS, "sparse_image_warp"),
    *not_offered(
        "tf.contrib.image",
        "single_image_random_dot_stereograms",
        "its operation is gone; it drew pictures, compute them in NumPy",
    ),
]
