"""`DetectionModel`, the base class of the Object Detection API's models (core/model.py).

    from tf_frame_detection.legacy import model  # was: from object_detection.core import model

    class Detector(model.DetectionModel):
        def preprocess(self, inputs): ...

Training calls `preprocess`, `provide_groundtruth`, `predict` and `loss`; evaluation calls
`preprocess`, `predict` and `postprocess`.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy import standard_fields as fields


class DetectionModel(abc.ABC):
    """A detector, built in the default graph.

    Attributes:
      is_rbbox: whether its boxes are rotated: `[count, 5]` of centre, height, width and angle.

    Args:
      num_classes: number of classes of objects, without a background.
    """

    is_rbbox = False

    def __init__(self, num_classes: int) -> None:
        self._num_classes = num_classes
        self._groundtruth_lists: dict[str, Sequence[Any]] = {}

    @property
    def num_classes(self) -> int:
        """Number of classes of objects, without a background."""
        return self._num_classes

    def groundtruth_lists(self, field: str) -> Sequence[Any]:
        """Returns the ground truth that was provided, one tensor an image.

        Args:
          field: a name of `standard_fields.BoxListFields`, or `is_annotated`.

        Raises:
          RuntimeError: it was not provided.
        """
        if field not in self._groundtruth_lists:
            raise RuntimeError(f"Groundtruth tensor {field} has not been provided")
        return self._groundtruth_lists[field]

    def groundtruth_has_field(self, field: str) -> bool:
        """Returns whether this ground truth was provided."""
        return field in self._groundtruth_lists

    @abc.abstractmethod
    def preprocess(self, inputs: Any) -> Any:
        """Resizes and normalises images.

        Args:
          inputs: `[batch, height, width, channels]` float32, 0 to 255.

        Returns:
          `(images, true_image_shapes)`: `[batch, new_height, new_width, channels]` float32, and
          `[batch, 3]` int32, height, width and channels of the part that is not padding. Models
          for the API's first versions return the images alone.
        """

    @abc.abstractmethod
    def predict(self, preprocessed_inputs: Any, true_image_shapes: Any) -> dict[str, Any]:
        """Computes tensors for `loss` and `postprocess`.

        Args:
          preprocessed_inputs, true_image_shapes: what `preprocess` returned; the second is left
            out if it returned the images alone.
        """

    @abc.abstractmethod
    def postprocess(
        self, prediction_dict: dict[str, Any], true_image_shapes: Any, **params: Any
    ) -> dict[str, Any]:
        """Makes detections of predictions.

        Returns:
          `detection_boxes` `[batch, count, 4]`, shares of height and width; `detection_scores`
          and `detection_classes` `[batch, count]`; `num_detections` `[batch]`.
        """

    @abc.abstractmethod
    def loss(self, prediction_dict: dict[str, Any], true_image_shapes: Any) -> dict[str, Any]:
        """Compares predictions with the ground truth that was provided.

        Returns:
          Name -> scalar loss.
        """

    @abc.abstractmethod
    def restore_map(
        self,
        fine_tune_checkpoint_type: str = "detection",
        load_all_detection_checkpoint_vars: bool = False,
    ) -> dict[str, Any]:
        """Returns name in a checkpoint of another training -> variable of the default graph.

        Args:
          fine_tune_checkpoint_type: `detection` or `classification`, the task of that training.
          load_all_detection_checkpoint_vars: whether to include the variables that depend on
            the classes.
        """

    def provide_groundtruth(
        self,
        groundtruth_boxes_list: Sequence[Any],
        groundtruth_classes_list: Sequence[Any],
        groundtruth_masks_list: Sequence[Any] | None = None,
        groundtruth_keypoints_list: Sequence[Any] | None = None,
        groundtruth_weights_list: Sequence[Any] | None = None,
        groundtruth_is_crowd_list: Sequence[Any] | None = None,
        is_annotated_list: Sequence[Any] | None = None,
    ) -> None:
        """Keeps the ground truth for `loss`: lists with one tensor an image.

        Args:
          groundtruth_boxes_list: `[count, 4]` float32, upper, left, lower, right, or `[count, 5]`
            of a model with rotated boxes; shares of height and width.
          groundtruth_classes_list: `[count, num_classes]` float32, 1 at each class of a box.
          groundtruth_masks_list: `[count, height, width]` float32, 0 or 1.
          groundtruth_keypoints_list: `[count, num_keypoints, 2]` float32; NaN if missing.
          groundtruth_weights_list: `[count]` float32.
          groundtruth_is_crowd_list: `[count]` bool.
          is_annotated_list: bool scalars, whether an image has been labelled.
        """
        names = fields.BoxListFields
        self._groundtruth_lists[names.boxes] = groundtruth_boxes_list
        self._groundtruth_lists[names.classes] = groundtruth_classes_list
        optional = {
            names.masks: groundtruth_masks_list,
            names.keypoints: groundtruth_keypoints_list,
            names.weights: groundtruth_weights_list,
            names.is_crowd: groundtruth_is_crowd_list,
            fields.InputDataFields.is_annotated: is_annotated_list,
        }
        self._groundtruth_lists.update(
            {name: tensors for name, tensors in optional.items() if tensors}
        )

    def regularization_losses(self) -> list[Any]:
        """Returns the penalties of the default graph; trainers read this collection, too."""
        return list(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))

    def updates(self) -> list[Any]:
        """Returns the updates of the default graph, such as moving averages of batch norm."""
        return list(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
