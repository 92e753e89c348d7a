"""Names of the tensors of an example (bgshih/aster, core/standard_fields.py).

from tf_frame_recognition.legacy import standard_fields as fields

names = fields.InputDataFields
tensor_dict = {names.image: image, names.groundtruth_text: text}
"""


class InputDataFields:
    """Names of the tensors of an input; names of the truth begin with `groundtruth_`."""

    image = "image"
    original_image = "original_image"
    key = "key"
    source_id = "source_id"
    filename = "filename"
    groundtruth_text = "groundtruth_text"
    groundtruth_keypoints = "groundtruth_keypoints"
    lexicon = "lexicon"
