"""Names of tensors in the dictionaries of the Object Detection API (core/standard_fields.py).

from tf_frame_detection.legacy import standard_fields as fields

tensor_dict = {fields.InputDataFields.image: image}
"""


class InputDataFields:
    """Names of the tensors of an input; trainers of rotated boxes added `groundtruth_rboxes`."""

    image = "image"
    original_image = "original_image"
    key = "key"
    source_id = "source_id"
    filename = "filename"
    groundtruth_boxes = "groundtruth_boxes"
    groundtruth_rboxes = "groundtruth_rboxes"
    groundtruth_classes = "groundtruth_classes"
    groundtruth_weights = "groundtruth_weights"
    groundtruth_area = "groundtruth_area"
    groundtruth_is_crowd = "groundtruth_is_crowd"
    groundtruth_difficult = "groundtruth_difficult"
    groundtruth_group_of = "groundtruth_group_of"
    groundtruth_instance_masks = "groundtruth_instance_masks"
    groundtruth_keypoints = "groundtruth_keypoints"
    multiclass_scores = "multiclass_scores"
    is_annotated = "is_annotated"


class BoxListFields:
    """Names of the ground truth that `DetectionModel.provide_groundtruth` takes."""

    boxes = "boxes"
    classes = "classes"
    scores = "scores"
    weights = "weights"
    masks = "masks"
    keypoints = "keypoints"
    is_crowd = "is_crowd"


class DetectionResultFields:
    """Names of the tensors that `DetectionModel.postprocess` returns."""

    detection_boxes = "detection_boxes"
    detection_scores = "detection_scores"
    detection_classes = "detection_classes"
    detection_masks = "detection_masks"
    detection_keypoints = "detection_keypoints"
    num_detections = "num_detections"
