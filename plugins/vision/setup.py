"""The distribution tf-frame-vision."""

from pathlib import Path

from setuptools import find_packages, setup


def entry_points(module: str, classes: str) -> list[str]:
    """Makes entry points of `Vgg16=vgg_16`: a class of the module, and the name of its plugin."""
    pairs = [pair.split("=") for pair in classes.split()]
    return [f"{name} = tf_frame_vision.{module}:{cls}" for cls, name in pairs]


setup(
    name="tf-frame-vision",
    version="0.1.0",
    description="Networks, preprocessing, augmentation and reading of images for tf-frame",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="the tf-frame developers",
    license_expression="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.10",
    install_requires=[
        "tf-frame>=0.1,<0.2",
        # Writes PNG files with a palette, which TensorFlow cannot, and checks PNG files without
        # importing TensorFlow. Older ones do not turn images by an orientation in XMP data or TIFF.
        "pillow>=11.2.1",
        "numpy>=1.26",
        # Its error for records that are none. TensorFlow brings it anyway, with a bound of 5.28.0,
        # and its generated code refuses what is older than 5.28.3.
        "protobuf>=5.28.3",
    ],
    package_dir={"": "src"},
    packages=find_packages("src"),
    package_data={"tf_frame_vision": ["py.typed"]},
    entry_points={
        "tf_frame.preprocessing": [
            *entry_points("preprocessing.plain", "Lenet=lenet Plain=none"),
            *entry_points("preprocessing.cifarnet", "Cifarnet=cifarnet"),
            *entry_points("preprocessing.vgg", "Vgg=vgg"),
            *entry_points(
                "preprocessing.inception", "Inception=inception InceptionFull=inception_full"
            ),
        ],
        "tf_frame.networks": entry_points(
            "networks",
            "Lenet=lenet Cifarnet=cifarnet AlexnetV2=alexnet_v2 "
            "VggA=vgg_a Vgg16=vgg_16 Vgg19=vgg_19 "
            "InceptionV1=inception_v1 InceptionV2=inception_v2 InceptionV3=inception_v3 "
            "InceptionV4=inception_v4 InceptionResnetV2=inception_resnet_v2 "
            "ResnetV1_18=resnet_v1_18 ResnetV1_50=resnet_v1_50 ResnetV1_101=resnet_v1_101 "
            "ResnetV1_152=resnet_v1_152 ResnetV1_200=resnet_v1_200 "
            "ResnetV1_50Beta=resnet_v1_50_beta ResnetV1_101Beta=resnet_v1_101_beta "
            "ResnetV2_50=resnet_v2_50 ResnetV2_101=resnet_v2_101 "
            "ResnetV2_152=resnet_v2_152 ResnetV2_200=resnet_v2_200 "
            "Xception41=xception_41 Xception65=xception_65 Xception71=xception_71 "
            "MobilenetV1=mobilenet_v1 MobilenetV1_075=mobilenet_v1_075 "
            "MobilenetV1_050=mobilenet_v1_050 MobilenetV1_025=mobilenet_v1_025 "
            "MobilenetV2=mobilenet_v2 MobilenetV2_140=mobilenet_v2_140 "
            "MobilenetV2_130=mobilenet_v2_130 MobilenetV2_075=mobilenet_v2_075 "
            "MobilenetV2_050=mobilenet_v2_050 MobilenetV2_035=mobilenet_v2_035 "
            "MobilenetV3Small=mobilenet_v3_small MobilenetV3Large=mobilenet_v3_large "
            "MobilenetV3SmallSeg=mobilenet_v3_small_seg MobilenetV3LargeSeg=mobilenet_v3_large_seg "
            "MobilenetV3SmallMinimalistic=mobilenet_v3_small_minimalistic "
            "MobilenetV3LargeMinimalistic=mobilenet_v3_large_minimalistic",
        ),
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
