"""The distribution tf-frame-detection."""

from pathlib import Path

from setuptools import find_packages, setup

setup(
    name="tf-frame-detection",
    version="0.1.0",
    description="Object detection (SSD, RetinaNet, rotated boxes) for tf-frame",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10",
    install_requires=["tf-frame>=0.1,<0.2", "tf-frame-vision>=0.1,<0.2"],
    # COCO's twelve figures; without it there are two of them.
    extras_require={"coco": ["pycocotools>=2.0.9"]},
    package_dir={"": "src"},
    packages=find_packages("src"),
    entry_points={
        "tf_frame.models": ["detection = tf_frame_detection.model:Detection"],
        "tf_frame.inputs": ["trees = tf_frame_detection.inputs.trees:Trees"],
    },
)
