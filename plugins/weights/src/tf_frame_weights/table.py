# ruff: noqa: E501
"""Published weights in the web: a row for each file.

`setup.py` runs this file for the names, so it imports nothing of tf-frame.

Addresses and figures: tensorflow/models, research/slim/README.md, nets/mobilenet_v1.md and
nets/mobilenet/README.md there, research/deeplab/g3doc/model_zoo.md, and
research/object_detection/g3doc/tf1_detection_zoo.md. Sizes and hashes: models/public/*/model.yml of
openvinotoolkit/open_model_zoo. Paths in archives: scripts that read them, such as
research/deeplab/local_test_mobilenetv2.sh; without a path the archive has one checkpoint only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_MODELS = "https://storage.googleapis.com/download.tensorflow.org/models/"
_MOBILENETS = "https://storage.googleapis.com/mobilenet_"


class Row(NamedTuple):
    """A published file.

    Attributes:
      name: of the plugin.
      network: the network plugin.
      kind: the key of `published.KINDS`, which has what rows share.
      classes: number of classes; 0: a backbone alone.
      image_size: height and width, in pixels.
      url: address of the archive.
      path: path of the checkpoint, or of the frozen graph, in the archive.
      figures: name -> published figure.
    """

    name: str
    network: str
    kind: str
    classes: int
    image_size: tuple[int, int]
    url: str
    path: str
    figures: Mapping[str, str]


def rows() -> list[Row]:
    """Returns all rows."""
    return [*_slim(), *_mobilenets(), *_deeplab(), *_detection()]


# Network, classes, side of the images, archive, checkpoint in the archive, top-1 and top-5.
_SLIM = """
inception_v1         1001  224  inception_v1_2016_08_28         inception_v1.ckpt                   69.8  89.6
inception_v2         1001  224  inception_v2_2016_08_28         inception_v2.ckpt                   73.9  91.8
inception_v3         1001  299  inception_v3_2016_08_28         inception_v3.ckpt                   78.0  93.9
inception_v4         1001  299  inception_v4_2016_09_09         inception_v4.ckpt                   80.2  95.2
inception_resnet_v2  1001  299  inception_resnet_v2_2016_08_30  inception_resnet_v2_2016_08_30.ckpt 80.4  95.3
resnet_v1_50         1000  224  resnet_v1_50_2016_08_28         resnet_v1_50.ckpt                   75.2  92.2
resnet_v1_101        1000  224  resnet_v1_101_2016_08_28        resnet_v1_101.ckpt                  76.4  92.9
resnet_v1_152        1000  224  resnet_v1_152_2016_08_28        resnet_v1_152.ckpt                  76.8  93.2
resnet_v2_50         1001  299  resnet_v2_50_2017_04_14         resnet_v2_50.ckpt                   75.6  92.8
resnet_v2_101        1001  299  resnet_v2_101_2017_04_14        resnet_v2_101.ckpt                  77.0  93.7
resnet_v2_152        1001  299  resnet_v2_152_2017_04_14        resnet_v2_152.ckpt                  77.8  94.1
vgg_16               1000  224  vgg_16_2016_08_28               vgg_16.ckpt                         71.5  89.8
vgg_19               1000  224  vgg_19_2016_08_28               vgg_19.ckpt                         71.1  89.8
"""
# Width, then side:top-1:top-5. The frozen graphs have the moving averages that were evaluated.
_MOBILENET_V1 = """
1.0   224:70.9:89.9 192:70.0:89.2 160:68.0:87.7 128:65.2:85.8
0.75  224:68.4:88.2 192:67.2:87.3 160:65.3:86.0 128:62.1:83.9
0.5   224:63.3:84.9 192:61.7:83.6 160:59.1:81.9 128:56.3:79.4
0.25  224:49.8:74.2 192:47.7:72.3 160:45.5:70.3 128:41.5:66.3
"""
_MOBILENET_V2 = """
1.4   224:75.0:92.5
1.3   224:74.4:92.1
1.0   224:71.8:91.0 192:70.7:90.1 160:68.8:89.0 128:65.3:86.9 96:60.3:83.2
0.75  224:69.8:89.6 192:68.7:88.9 160:66.4:87.3 128:63.2:85.3 96:58.8:81.6
0.5   224:65.4:86.4 192:63.9:85.4 160:61.0:83.2 128:57.7:80.8 96:51.2:75.8
0.35  224:60.3:82.9 192:58.2:81.2 160:55.7:79.1 128:50.8:75.0 96:45.5:70.4
"""
# Network, name of the archive, step of the averaged checkpoint in it, top-1.
_MOBILENET_V3 = """
mobilenet_v3_large               v3-large               540000  75.2
mobilenet_v3_small               v3-small               388500  67.5
mobilenet_v3_large_minimalistic  v3-large-minimalistic  342500  72.3
mobilenet_v3_small_minimalistic  v3-small-minimalistic  498000  61.9
"""
# Name, network, kind, classes, height x width, archive, checkpoint, figure.
_DEEPLAB = """
deeplab_xception_65_voc           xception_65   deeplab_xception   21  513x513    deeplabv3_pascal_train_aug_2018_01_04         deeplabv3_pascal_train_aug/model.ckpt              82.20
deeplab_xception_65_voc_trainval  xception_65   deeplab_xception   21  513x513    deeplabv3_pascal_trainval_2018_01_04          deeplabv3_pascal_trainval/model.ckpt               87.80*
deeplab_xception_65_cityscapes    xception_65   deeplab_xception   19  1025x2049  deeplabv3_cityscapes_train_2018_02_06         deeplabv3_cityscapes_train/model.ckpt              78.79
deeplab_xception_65_ade20k        xception_65   deeplab_xception  151  513x513    deeplabv3_xception_ade20k_train_2018_05_29    deeplabv3_xception_ade20k_train/model.ckpt         45.65*
deeplab_mobilenet_v2_voc          mobilenet_v2  deeplab_mobilenet  21  513x513    deeplabv3_mnv2_pascal_train_aug_2018_01_29    deeplabv3_mnv2_pascal_train_aug/model.ckpt-30000   75.32
deeplab_mobilenet_v2_voc_trainval mobilenet_v2  deeplab_mobilenet  21  513x513    deeplabv3_mnv2_pascal_trainval_2018_01_29     deeplabv3_mnv2_pascal_trainval/model.ckpt-30000    80.25*
deeplab_mobilenet_v2_cityscapes   mobilenet_v2  deeplab_mobilenet  19  1025x2049  deeplabv3_mnv2_cityscapes_train_2018_02_05    -                                                  70.71
deeplab_mobilenet_v2_ade20k       mobilenet_v2  deeplab_decoder   151  257x257    deeplabv3_mnv2_ade20k_train_2018_12_03        -                                                  32.04
deeplab_mobilenet_v3_cityscapes   mobilenet_v3_large_seg  deeplab_lite  19  1025x2049  deeplab_mnv3_large_cityscapes_trainfine_2019_11_15  deeplab_mnv3_large_cityscapes_trainfine/model.ckpt  72.41
xception_41_imagenet              xception_41         backbone  0  299x299  xception_41_2018_05_09                    -                     -
xception_65_imagenet              xception_65         backbone  0  299x299  deeplabv3_xception_2018_01_04             -                     -
xception_65_imagenet_coco         xception_65         backbone  0  513x513  xception_65_coco_pretrained_2018_10_02    xception_65_coco_pretrained/x65-b2u1s2p-d48-2-3x256-sc-cr300k_init.ckpt  -
xception_71_imagenet              xception_71         backbone  0  299x299  xception_71_2018_05_09                    -                     -
resnet_v1_50_beta_imagenet        resnet_v1_50_beta   backbone  0  224x224  resnet_v1_50_2018_05_04                   -                     -
resnet_v1_101_beta_imagenet       resnet_v1_101_beta  backbone  0  224x224  resnet_v1_101_2018_05_04                  resnet_v1_101/model.ckpt  -
"""
# Name, network, side, archive, COCO's AP in %.
_DETECTION = """
ssd_mobilenet_v1_coco         mobilenet_v1  300  ssd_mobilenet_v1_coco_2018_01_28                                          21
ssd_mobilenet_v1_075_coco     mobilenet_v1  300  ssd_mobilenet_v1_0.75_depth_300x300_coco14_sync_2018_07_03                18
ssd_mobilenet_v1_fpn_coco     mobilenet_v1  640  ssd_mobilenet_v1_fpn_shared_box_predictor_640x640_coco14_sync_2018_07_03  32
ssd_resnet50_v1_fpn_coco      resnet_v1_50  640  ssd_resnet50_v1_fpn_shared_box_predictor_640x640_coco14_sync_2018_07_03   35
ssd_mobilenet_v2_coco         mobilenet_v2  300  ssd_mobilenet_v2_coco_2018_03_29                                          22
ssdlite_mobilenet_v2_coco     mobilenet_v2  300  ssdlite_mobilenet_v2_coco_2018_05_09                                      22
"""
# The end of an address -> size in bytes, and SHA-256.
_FILES = """
models/inception_v1_2016_08_28.tar.gz                   24642554  7a620c430fcaba8f8f716241f5148c4c47c035cce4e49ef02cfbe6cd1adf96a6
models/inception_v2_2016_08_28.tar.gz                   41577079  3b9d269984402003d8330affc4e1463c0b4cfd536339ad12446a48d72477480a
models/inception_v4_2016_09_09.tar.gz                  171177982  272a2b24f68b2e51f3081479df075dd62b019ccda630e998fb7f6cf314c0f304
mobilenet_v1_2018_08_02/mobilenet_v1_0.25_128.tgz       10800019  879ddc3e0857f3611b5cf248e36de2288c7a11ea8c2ed8a8bdded635e6010dfe
mobilenet_v1_2018_08_02/mobilenet_v1_0.5_160.tgz        29958343  6bbc9dd7892433e49b4b6ff6af2952183eaa6c1c0cb862868465377a29c77b0d
mobilenet_v1_2018_08_02/mobilenet_v1_0.5_224.tgz        29969407  98cf7a39552f73920cb99617cfa9b88d5732a87abf9ec14f7cc7f3ade1db0aaa
mobilenet_v1_2018_08_02/mobilenet_v1_1.0_224.tgz        94321559  2fadeabb9968ec6833bee903900dda6e61b3947200535874ce2fe42a8493abc0
mobilenet_v2/checkpoints/mobilenet_v2_1.0_224.tgz       78306834  318084bc1b63d6d7b854553e09cdf77078b1c0168be27c59a0d44253b5ed49dc
mobilenet_v2/checkpoints/mobilenet_v2_1.4_224.tgz      135977516  a20d0c8d698502dc6a620528871c97a588885df7737556243a3412b39fce85e0
mobilenet_v3/checkpoints/v3-large_224_1.0_float.tgz    184251120  9be8563f92022f412c82f2811d670888d6db998e2da9af3e71415fdde2f4f504
mobilenet_v3/checkpoints/v3-small_224_1.0_float.tgz    113230261  e60ad9f450f892ae56f8b9122ffc750d88940d9e6b63f6dc70649179fb3a9065
models/deeplabv3_mnv2_pascal_train_aug_2018_01_29.tar.gz  23882985  cd506941e4f88fd053903913761df2e76ea00c01079cecfd35855304a4a5fb48
object_detection/ssd_mobilenet_v1_coco_2018_01_28.tar.gz  76541073  8788f89108519fd1102b8a5c2ac861cf6d86603571b6ce5bbd1c245b7fe005e3
object_detection/ssd_mobilenet_v1_fpn_shared_box_predictor_640x640_coco14_sync_2018_07_03.tar.gz  135664441  e8886ece7f3a0993678440305a98f5be649a90b314c95ca94565c23ed20b1fb0
object_detection/ssd_mobilenet_v2_coco_2018_03_29.tar.gz  187925923  b9380178b2e35333f1a735e39745928488bdabeb9ed20bc6fa07af8172cb5adc
object_detection/ssd_resnet50_v1_fpn_shared_box_predictor_640x640_coco14_sync_2018_07_03.tar.gz  366947246  b5ff24a4a013130ebbbf5da71fbbd05a5df27825184632899650f45833ffb66b
object_detection/ssdlite_mobilenet_v2_coco_2018_05_09.tar.gz  51025348  542445cce834dbfbb7df1991425d475e85a2d7ec68c60a4f262bb18aac10c8b2
"""


def file_facts(url: str) -> tuple[int | None, str | None]:
    """Returns size and SHA-256 of a file, None where nobody has published them."""
    for end, size, sha256 in _words(_FILES):
        if url.endswith(f"/{end}"):
            return int(size), sha256
    return None, None


def _words(table: str) -> list[list[str]]:
    return [line.split() for line in table.splitlines() if line]


def _accuracy(top1: str, top5: str = "") -> dict[str, str]:
    return {"top-1": f"{top1} %", **({"top-5": f"{top5} %"} if top5 else {})}


def _slim() -> list[Row]:
    return [
        Row(
            f"{network}_imagenet",
            network,
            "caffe" if classes == "1000" else "slim",
            int(classes),
            (int(side), int(side)),
            f"{_MODELS}{archive}.tar.gz",
            path,
            _accuracy(*figures),
        )
        for network, classes, side, archive, path, *figures in _words(_SLIM)
    ]


def _mobilenets() -> list[Row]:
    found = []
    for version, table in ((1, _MOBILENET_V1), (2, _MOBILENET_V2)):
        folder = (
            f"{_MODELS}mobilenet_v1_2018_08_02" if version == 1 else f"{_MOBILENETS}v2/checkpoints"
        )
        for width, *sizes in _words(table):
            percent = f"{round(float(width) * 100):03}"
            network = f"mobilenet_v{version}" + (f"_{percent}" if percent != "100" else "")
            for side, *figures in (size.split(":") for size in sizes):
                stem = f"mobilenet_v{version}_{width}_{side}"
                found.append(
                    Row(
                        f"mobilenet_v{version}_{percent}_{side}_imagenet",
                        network,
                        "slim",
                        1001,
                        (int(side), int(side)),
                        f"{folder}/{stem}.tgz",
                        f"{stem}_frozen.pb",
                        _accuracy(*figures),
                    )
                )
    for network, archive, step, figure in _words(_MOBILENET_V3):
        stem = f"{archive}_224_1.0_float"
        url = f"{_MOBILENETS}v3/checkpoints/{stem}.tgz"
        path = f"{stem}/ema/model-{step}"
        name, size = f"{network}_imagenet", (224, 224)
        found.append(Row(name, network, "slim", 1001, size, url, path, _accuracy(figure)))
    return found


def _deeplab() -> list[Row]:
    found = []
    for name, network, kind, classes, size, archive, path, figure in _words(_DEEPLAB):
        height, width = map(int, size.split("x"))
        several = ", several scales, mirrored" if figure.endswith("*") else ""
        split = "test" if name.endswith("trainval") else "val"
        figures = (
            {f"mean IoU ({split}{several})": f"{figure.rstrip('*')} %"} if figure != "-" else {}
        )
        url = f"{_MODELS}{archive}.tar.gz"
        path = "" if path == "-" else path
        found.append(Row(name, network, kind, int(classes), (height, width), url, path, figures))
    return found


def _detection() -> list[Row]:
    return [
        Row(
            name,
            network,
            name,
            90,
            (int(side), int(side)),
            f"{_MODELS}object_detection/{archive}.tar.gz",
            f"{archive}/model.ckpt",
            {"COCO's AP": f"{figure} %"},
        )
        for name, network, side, archive, figure in _words(_DETECTION)
    ]
