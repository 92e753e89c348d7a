"""A small network on slim instead of Xception and MobileNet, with DeepLab's functions."""

import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim

LOGITS_SCOPE_NAME = "logits"
MERGED_LOGITS_SCOPE = "merged_logits"
IMAGE_POOLING_SCOPE = "image_pooling"
ASPP_SCOPE = "aspp"
CONCAT_PROJECTION_SCOPE = "concat_projection"
DECODER_SCOPE = "decoder"


def get_extra_layer_scopes(last_layers_contain_logits_only=False):
    if last_layers_contain_logits_only:
        return [LOGITS_SCOPE_NAME]
    return [
        LOGITS_SCOPE_NAME,
        IMAGE_POOLING_SCOPE,
        ASPP_SCOPE,
        CONCAT_PROJECTION_SCOPE,
        DECODER_SCOPE,
    ]


def predict_labels(images, model_options, image_pyramid=None):
    outputs_to_scales_to_logits = multi_scale_logits(
        images, model_options=model_options, image_pyramid=image_pyramid, is_training=False
    )
    predictions = {}
    for output, scales_to_logits in sorted(outputs_to_scales_to_logits.items()):
        logits = tf.image.resize_bilinear(
            scales_to_logits[MERGED_LOGITS_SCOPE], tf.shape(images)[1:3], align_corners=True
        )
        predictions[output] = tf.argmax(logits, 3)
    return predictions


def multi_scale_logits(
    images,
    model_options,
    image_pyramid,
    weight_decay=0.0001,
    is_training=False,
    fine_tune_batch_norm=False,
):
    if not image_pyramid:
        image_pyramid = [1.0]
    outputs_to_scales_to_logits = {k: {} for k in model_options.outputs_to_num_classes}
    num_image_scales = len(image_pyramid)
    for image_scale in image_pyramid:
        if image_scale != 1.0:
            size = [int((side - 1) * image_scale + 1) for side in model_options.crop_size]
            scaled_images = tf.image.resize_bilinear(images, size, align_corners=True)
        else:
            scaled_images = images
        outputs_to_logits = _get_logits(
            scaled_images,
            model_options,
            weight_decay=weight_decay,
            reuse=tf.AUTO_REUSE,
            is_training=is_training,
            fine_tune_batch_norm=fine_tune_batch_norm,
        )
        for output, logits in sorted(outputs_to_logits.items()):
            if num_image_scales == 1:
                outputs_to_scales_to_logits[output][MERGED_LOGITS_SCOPE] = logits
            else:
                outputs_to_scales_to_logits[output][f"logits_{image_scale:.2f}"] = logits
    if num_image_scales > 1:
        for scales_to_logits in outputs_to_scales_to_logits.values():
            all_logits = [
                tf.image.resize_bilinear(
                    logits, tf.shape(scales_to_logits["logits_1.00"])[1:3], align_corners=True
                )
                for logits in scales_to_logits.values()
            ]
            scales_to_logits[MERGED_LOGITS_SCOPE] = tf.reduce_max(tf.stack(all_logits, 4), axis=4)
    return outputs_to_scales_to_logits


def _get_logits(
    images, model_options, weight_decay, reuse, is_training=False, fine_tune_batch_norm=False
):
    features = _extract_features(
        images, model_options, weight_decay, reuse, is_training and fine_tune_batch_norm
    )
    outputs_to_logits = {}
    for output in sorted(model_options.outputs_to_num_classes):
        with (
            slim.arg_scope(
                [slim.conv2d],
                weights_regularizer=slim.l2_regularizer(weight_decay),
                weights_initializer=tf.truncated_normal_initializer(stddev=0.01),
                reuse=reuse,
            ),
            tf.variable_scope(LOGITS_SCOPE_NAME, LOGITS_SCOPE_NAME, [features]),
        ):
            outputs_to_logits[output] = slim.conv2d(
                features,
                model_options.outputs_to_num_classes[output],
                kernel_size=1,
                activation_fn=None,
                normalizer_fn=None,
                scope=output,
            )
    return outputs_to_logits


def split_separable_conv2d(inputs, filters, rate=1, stride=1, weight_decay=0.00004, scope=None):
    outputs = slim.separable_conv2d(
        inputs,
        None,
        3,
        depth_multiplier=1,
        rate=rate,
        stride=stride,
        weights_initializer=tf.truncated_normal_initializer(stddev=0.33),
        weights_regularizer=None,
        scope=scope + "_depthwise",
    )
    return slim.conv2d(
        outputs,
        filters,
        1,
        weights_initializer=tf.truncated_normal_initializer(stddev=0.06),
        weights_regularizer=slim.l2_regularizer(weight_decay),
        scope=scope + "_pointwise",
    )


def _extract_features(images, model_options, weight_decay, reuse, is_training):
    batch_norm_params = {
        "is_training": is_training,
        "decay": 0.9,
        "epsilon": 1e-5,
        "scale": True,
    }
    with (
        slim.arg_scope(
            [slim.conv2d, slim.separable_conv2d],
            weights_regularizer=slim.l2_regularizer(weight_decay),
            activation_fn=tf.nn.relu,
            normalizer_fn=slim.batch_norm,
            padding="SAME",
            reuse=reuse,
        ),
        slim.arg_scope([slim.batch_norm], **batch_norm_params),
    ):
        with tf.variable_scope("small_net", reuse=reuse):
            low = slim.conv2d(images / 127.5 - 1.0, 12, 3, stride=2, scope="entry")
            net = split_separable_conv2d(low, 24, stride=2, scope="block1")
            net = split_separable_conv2d(net, 24, rate=2, scope="block2")
        branches = []
        pooled = tf.reduce_mean(net, [1, 2], keepdims=True)
        pooled = slim.conv2d(pooled, 12, 1, scope=IMAGE_POOLING_SCOPE)
        branches.append(tf.image.resize_bilinear(pooled, tf.shape(net)[1:3], align_corners=True))
        branches.append(slim.conv2d(net, 12, 1, scope=ASPP_SCOPE + "0"))
        for i, rate in enumerate(model_options.atrous_rates or (), 1):
            scope = f"{ASPP_SCOPE}{i}"
            branches.append(
                split_separable_conv2d(net, 12, rate, weight_decay=weight_decay, scope=scope)
            )
        net = slim.conv2d(tf.concat(branches, 3), 12, 1, scope=CONCAT_PROJECTION_SCOPE)
        with tf.variable_scope(DECODER_SCOPE, DECODER_SCOPE, [net], reuse=reuse):
            skip = slim.conv2d(low, 8, 1, scope="feature_projection0")
            net = tf.image.resize_bilinear(net, tf.shape(skip)[1:3], align_corners=True)
            net = tf.concat([net, skip], 3)
            return split_separable_conv2d(net, 16, weight_decay=weight_decay, scope="decoder_conv0")
