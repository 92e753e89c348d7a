"""The distribution tf-frame-deeplab."""

from pathlib import Path

from setuptools import find_packages, setup

setup(
    name="tf-frame-deeplab",
    version="0.1.0",
    description="DeepLabV3+ semantic segmentation for tf-frame",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    # The sample image has its own licence: data/nuclei/LICENSE.txt, CC0 1.0.
    author="the tf-frame developers",
    license_expression="Apache-2.0 AND CC0-1.0",
    license_files=["LICENSE", "src/*/data/*/LICENSE.txt"],
    python_requires=">=3.10",
    install_requires=[
        "tf-frame>=0.1,<0.2",
        "tf-frame-vision>=0.1,<0.2",
        # Draws polygons as COCO's own tools do.
        "pycocotools>=2.0.9",
    ],
    package_dir={"": "src"},
    packages=find_packages("src"),
    package_data={"tf_frame_deeplab": ["py.typed", "data/nuclei/*"]},
    entry_points={
        "tf_frame.models": ["deeplab = tf_frame_deeplab.model:DeepLab"],
        "tf_frame.inputs": [
            "nuclei = tf_frame_deeplab.nuclei:Nuclei",
            "segmentation_folder = tf_frame_deeplab.inputs.segmentation_folder:SegmentationFolder",
            "coco_masks = tf_frame_deeplab.inputs.coco_masks:CocoMasks",
            "yolo_masks = tf_frame_deeplab.inputs.yolo_masks:YoloMasks",
            "labelme_masks = tf_frame_deeplab.inputs.labelme_masks:LabelmeMasks",
            "segmentation_tfrecord ="
            " tf_frame_deeplab.inputs.segmentation_tfrecord:SegmentationTfrecord",
        ],
        "tf_frame.converters": [
            "segmentation_folder = tf_frame_deeplab.convert.converters:Folder",
            "voc = tf_frame_deeplab.convert.converters:Voc",
            "cityscapes = tf_frame_deeplab.convert.converters:Cityscapes",
            "ade20k = tf_frame_deeplab.convert.converters:Ade20k",
            "coco_panoptic = tf_frame_deeplab.convert.converters:CocoPanoptic",
            "coco_masks = tf_frame_deeplab.convert.converters:CocoMasks",
            "yolo_masks = tf_frame_deeplab.convert.converters:YoloMasks",
            "labelme_masks = tf_frame_deeplab.convert.converters:LabelmeMasks",
        ],
        "tf_frame.gradient_transforms": [
            "last_layer_multiplier = tf_frame_deeplab.last_layer_multiplier:LastLayerMultiplier",
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
