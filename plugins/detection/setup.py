"""The distribution tf-frame-detection."""

from pathlib import Path

from setuptools import find_packages, setup

setup(
    name="tf-frame-detection",
    version="0.1.0",
    description="Object detection (SSD, RetinaNet, rotated boxes) for tf-frame",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    # The samples have licences of their own: data/*/LICENSE.txt, CC0 1.0, boxes of trees MIT.
    author="the tf-frame developers",
    license_expression="Apache-2.0 AND CC0-1.0 AND MIT",
    license_files=["LICENSE", "src/*/data/*/LICENSE.txt"],
    python_requires=">=3.10",
    install_requires=[
        "tf-frame>=0.1,<0.2",
        "tf-frame-vision>=0.1,<0.2",
        # Label maps are in its text format. TensorFlow brings it anyway, with a bound of 5.28.0,
        # and its generated code refuses what is older than 5.28.3.
        "protobuf>=5.28.3",
    ],
    # COCO's twelve figures; without it there are two of them.
    extras_require={
        "coco": ["pycocotools>=2.0.9"],
        # The trainers of old scripts, in tf_frame_detection.legacy.
        "legacy": ["tf-frame-legacy>=0.1,<0.2"],
    },
    package_dir={"": "src"},
    packages=find_packages("src"),
    package_data={"tf_frame_detection": ["py.typed", "data/nuclei/*", "data/trees/*"]},
    entry_points={
        "tf_frame.models": ["detection = tf_frame_detection.model:Detection"],
        "tf_frame.inputs": [
            "trees = tf_frame_detection.inputs.trees:Trees",
            "nuclei_boxes = tf_frame_detection.inputs.nuclei_boxes:NucleiBoxes",
            "coco_json = tf_frame_detection.inputs.coco_json:CocoJson",
            "voc_xml = tf_frame_detection.inputs.voc_xml:VocXml",
            "dota = tf_frame_detection.inputs.dota:Dota",
            "yolo = tf_frame_detection.inputs.yolo:Yolo",
            "labelme = tf_frame_detection.inputs.labelme:Labelme",
            "detection_tfrecord = tf_frame_detection.inputs.detection_tfrecord:DetectionTfrecord",
        ],
        "tf_frame.converters": [
            "coco_json = tf_frame_detection.convert.converters:CocoJson",
            "voc_xml = tf_frame_detection.convert.converters:VocXml",
            "dota = tf_frame_detection.convert.converters:Dota",
            "yolo = tf_frame_detection.convert.converters:Yolo",
            "labelme = tf_frame_detection.convert.converters:Labelme",
        ],
    },
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
)
