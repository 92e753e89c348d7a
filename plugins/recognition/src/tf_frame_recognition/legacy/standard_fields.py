"""Names of the tensors of an example, as of old (bgshih/aster, core/standard_fields.py).

from tf_frame_recognition.legacy import standard_fields as fields

tensor_dict = {fields.InputDataFields.image: image, fields.InputDataFields.groundtruth_text: text}
"""


class InputDataFields:
    """Names of what an input gives; those of the truth begin with `groundtruth_`."""

    image = "image"
    original_image = "original_image"
    key = "key"
    source_id = "source_id"
    filename = "filename"
    groundtruth_text = "groundtruth_text"
    groundtruth_keypoints = "groundtruth_keypoints"
    lexicon = "lexicon"
