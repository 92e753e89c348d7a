"""Non-maximum suppression: of boxes on the same object, the one with the greatest score stays."""

from tf_frame_detection.suppression.classwise import Detections, detections

__all__ = ["Detections", "detections"]
