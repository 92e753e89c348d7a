"""Options of the model `detection`, from the network to evaluation.

Where an option has a counterpart in the object detection API's configurations (tensorflow/models,
research/object_detection/protos), the README names it.
"""

from __future__ import annotations

import dataclasses

from tf_frame import option

SSD, RETINANET, ROTATED = "ssd", "retinanet", "rotated_retinanet"
FOCAL, SIGMOID, SOFTMAX = "focal", "sigmoid", "softmax"
PER_IMAGE, PER_BATCH = "image", "batch"
DETECTION, CLASSIFICATION = "detection", "classification"
PLAIN, GROUPED = "plain", "grouped"
AUTO, KERNEL, LOOP = "auto", "kernel", "loop"
# SSD's maps: strides of those of the backbone, then channels of the maps above it for a depth
# multiplier of 1. Source: ssd_mobilenet_v2_feature_extractor.py of the object detection API.
SSD_STRIDES = (16, 32)
SSD_DEPTHS = (512, 256, 256, 128)
MIN_MAPS, MAX_MAPS = len(SSD_STRIDES), len(SSD_STRIDES) + len(SSD_DEPTHS)


@dataclasses.dataclass(frozen=True)
class NetworkParams:
    """Options of the network."""

    name: str = option(
        RETINANET,
        "ssd: a predictor for each feature map; retinanet: a feature pyramid and one predictor for "
        "all maps; rotated_retinanet: the same for boxes with an angle",
        choices=(SSD, RETINANET, ROTATED),
    )
    backbone: str = option(
        "resnet_v1_18",
        "network below the feature maps, such as mobilenet_v2, resnet_v1_50; tf-frame plugins list "
        "shows all of them",
    )
    depth_multiplier: float = option(0.25, "factor on the backbone's channels", min=0.1, max=4)
    strides: tuple[int, ...] = option(
        (8, 16), "of retinanet: image size over the size of each map, powers of 2", min=2
    )
    top_stride: int | None = option(
        None,
        "of retinanet: stride of the map of the backbone that the pyramid begins with; none: the "
        "largest of strides, 32 at most",
        choices=(8, 16, 32),
    )
    pyramid_channels: int = option(
        64, "channels of the pyramid, and of the predictor's layers; 256 in the paper", min=1
    )
    predictor_layers: int = option(
        2, "of retinanet: layers before the predictions; 4 in the paper", min=0
    )
    num_maps: int = option(
        MAX_MAPS, "of ssd: number of feature maps, from stride 16 on", min=MIN_MAPS, max=MAX_MAPS
    )
    use_depthwise: bool = option(
        False, "of ssd: depthwise separable layers above the backbone, as in SSDLite"
    )
    depthwise_predictor: bool | None = option(
        None, "of ssd: depthwise separable predictions; none: as use_depthwise"
    )
    kernel_size: int = option(3, "height and width of the kernels of predictions", min=1)
    class_bias: float | None = option(
        None, "initial bias of the logits of classes; none: -4.6 with the focal loss, else 0"
    )
    predictor_stddev: float = option(
        0.03,
        "standard deviation of the predictor's initial weights; 0.01 in RetinaNet's paper",
        min=0,
    )
    weight_decay: float = option(4e-5, "scale of the L2 penalty on weights", min=0)
    batch_norm_decay: float | None = option(
        None,
        "what batch norm's moving statistics keep per step; none: 0.997, or N / (N + 25) in a run "
        "from scratch of N steps if that is less",
        min=0,
        max=1,
    )
    train_batch_norm: bool = option(True, "train batch norm; else use its restored averages")
    legacy_resizing: bool = option(
        False,
        "made for images that are resized as TensorFlow 1 does: the default of input.resizing",
    )


@dataclasses.dataclass(frozen=True)
class AnchorParams:
    """Options of anchors and of their targets."""

    anchor_scale: float = option(
        2.5,
        "of retinanet: side of the smallest square anchor of a map over its stride; 4 in the paper",
        min=0.1,
    )
    scales_per_octave: int = option(
        2, "of retinanet: anchors of a map between one side and its double", min=1
    )
    aspect_ratios: tuple[float, ...] = option(
        (),
        "width over height of anchors; empty: 1 for retinanet, 1,2,0.5,3,0.3333 for ssd",
        min=0.01,
    )
    min_scale: float = option(
        0.2, "of ssd: side of the first map's anchors over that of the image", min=0.01
    )
    max_scale: float = option(0.95, "of ssd: the same of the last map", min=0.01)
    anchor_scales: tuple[float, ...] = option(
        (), "of ssd: the same of each map, instead of min_scale and max_scale", min=0.01
    )
    reduce_lowest_layer: bool = option(
        True, "of ssd: the first map has three anchors only, the smallest of scale 0.1"
    )
    matched_threshold: float = option(
        0.35, "least IoU of an anchor with the box that it is matched with", min=0, max=1
    )
    unmatched_threshold: float | None = option(
        None,
        "IoU below which an anchor is background; between it and matched_threshold anchors are "
        "ignored; none: matched_threshold",
        min=0,
        max=1,
    )
    force_match: bool = option(True, "match each box with its best anchor, whatever their IoU")
    box_scale_factors: tuple[float, ...] = option(
        (10.0, 10.0, 5.0, 5.0), "factors of a box's code: row, column, height, width", min=0.01
    )


@dataclasses.dataclass(frozen=True)
class LossParams:
    """Options of the losses."""

    classification_loss: str = option(FOCAL, "loss of classes", choices=(FOCAL, SIGMOID, SOFTMAX))
    focal_alpha: float = option(0.25, "of the focal loss: weight of objects", min=0, max=1)
    focal_gamma: float = option(2.0, "of the focal loss: exponent of the error", min=0)
    smooth_l1_delta: float = option(
        1.0, "error of a box's code beyond which its loss is linear", min=0.001
    )
    classification_weight: float = option(1.0, "weight of the loss of classes", min=0)
    localization_weight: float = option(1.0, "weight of the loss of boxes", min=0)
    loss_normalizer: str = option(
        PER_IMAGE,
        "the loss is divided by the matched anchors of each image, and averaged over images; or by "
        "those of the batch of a clone, as the object detection API does",
        choices=(PER_IMAGE, PER_BATCH),
    )
    normalize_by_code_size: bool = option(
        False, "divide the loss of boxes by the length of their code"
    )
    hard_example_mining: bool = option(
        False, "count only the anchors with the largest losses of each image"
    )
    num_hard_examples: int = option(
        3000, "of hard example mining: anchors of an image; 0: all", min=0
    )
    hard_example_iou: float = option(
        0.99, "of hard example mining: IoU above which of two boxes the worse counts", min=0, max=1
    )
    hard_example_loss: str = option(
        "class", "of hard example mining: the loss that decides", choices=("both", "class", "box")
    )
    max_negatives_per_positive: float | None = option(
        3.0, "of hard example mining: background anchors for each matched one; none: all", min=0
    )
    min_negatives_per_image: int = option(
        3, "of hard example mining: background anchors of each image at least", min=0
    )


@dataclasses.dataclass(frozen=True)
class SuppressionParams:
    """Options of non-maximum suppression."""

    score_threshold: float = option(1e-8, "detections have a greater score than this", min=0, max=1)
    iou_threshold: float = option(
        0.5, "IoU with a better box of its class above which a box is left out", min=0, max=1
    )
    suppress_uncut: bool = option(
        False,
        "upright boxes are cut at the edges of the image after the suppression, as in the object "
        "detection API, instead of before",
    )
    box_voting_iou: float | None = option(
        0.6,
        "of upright boxes: a detection is the mean, weighted by scores, of the boxes of its class "
        "with this IoU or more; none: the box with the greatest score alone",
        min=0,
        max=1,
    )
    suppression: str = option(
        AUTO,
        "kernel: by TensorFlow's kernels; loop: by a loop of operations of TensorFlow Lite, with "
        "the same detections; auto: the kernels but for exports to formats without them",
        choices=(AUTO, KERNEL, LOOP),
    )
    max_per_class: int = option(100, "greatest number of detections of a class", min=1)
    max_total: int = option(100, "greatest number of detections of an image", min=1)
    export_raw: bool = option(
        False,
        "exports give boxes and scores of all anchors, for a suppression of one's own: without its "
        "loop a detector can be exported as tflite_int8",
    )


@dataclasses.dataclass(frozen=True)
class RestoreParams:
    """Options of `--warm_start_from`, and of summaries, that the object detection API has."""

    fine_tune_checkpoint_type: str = option(
        "",
        "restores from --warm_start_from what has the same name and shape: all of a detection "
        "model, or the backbone alone of a classification or detection model; empty: the rules of "
        "--warm_start_from alone",
        choices=("", DETECTION, CLASSIFICATION),
    )
    from_detection_checkpoint: bool | None = option(
        None,
        "without fine_tune_checkpoint_type: true stands for detection, false for classification",
    )
    load_all_detection_checkpoint_vars: bool = option(
        True, "with the type detection also restore the box predictors, not the features alone"
    )
    api_summaries: str = option(
        "",
        "summaries with the tags of the object detection API's trainers: plain, or grouped as "
        "ModelVars and Losses; empty: none of them",
        choices=("", PLAIN, GROUPED),
    )


@dataclasses.dataclass(frozen=True)
class EvaluationParams:
    """Options that count in evaluation and prediction, not in training."""

    voc_ap: bool = option(
        False, "evaluate PASCAL VOC's average precision, too: voc_ap, and voc07_ap with 11 points"
    )
    min_drawn_score: float = option(
        0.3, "least score of the detections that pictures show; files have all", min=0, max=1
    )
