"""Rectification: a learnt thin-plate spline that straightens bent and turned words.

    from tf_frame_recognition.rectification import rectify

    rectified = rectify(images, mode, output_size=(32, 100), num_control_points=20)
    rectified.images, rectified.control_points

Importing this package imports TensorFlow.
"""

from tf_frame_recognition.rectification.transformer import (
    Rectified as Rectified,
    rectify as rectify,
)
