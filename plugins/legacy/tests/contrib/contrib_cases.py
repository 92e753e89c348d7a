"""Programs for small modules of tf.contrib, and the table of what they compute.

`contrib.json` was made by running this file with TensorFlow 1.15.5, the last release with
tf.contrib: `python contrib_cases.py contrib.json`.
"""

import json
import sys

import numpy as np
import tensorflow.compat.v1 as tf

RANDOM = np.random.RandomState(0)
IMAGES = RANDOM.uniform(size=[2, 5, 6, 3]).astype(np.float32)
NUMBERS = np.arange(30, dtype=np.int32).reshape(5, 6)
MATRIX = RANDOM.normal(size=[4, 3]).astype(np.float32)
TARGETS = RANDOM.normal(size=[4, 3]).astype(np.float32)
FLOW = RANDOM.uniform(-2, 2, size=[2, 5, 6, 2]).astype(np.float32)
POINTS = RANDOM.uniform(0, 4, size=[2, 6, 2]).astype(np.float32)
VALUES = RANDOM.normal(size=[2, 6, 1]).astype(np.float32)
AREAS = np.array(
    [
        [[1, 1, 0, 2, 2], [0, 1, 0, 2, 1], [3, 0, 0, 0, 1], [3, 3, 1, 1, 1]],
        [[0, 0, 0, 0, 0], [5, 5, 5, 5, 5], [5, 0, 0, 0, 5], [0, 0, 7, 0, 5]],
    ],
    np.int32,
)


def rotations(contrib):
    image = contrib.image
    return [
        image.rotate(IMAGES, 0.5),
        image.rotate(IMAGES, [0.5, -1.0], interpolation="BILINEAR"),
        image.rotate(NUMBERS, 0.7),
        image.rotate(IMAGES[0], -2.0),
    ]


def transforms(contrib):
    image = contrib.image
    turn = image.angles_to_projective_transforms(0.3, tf.constant([5.0]), tf.constant([6.0]))
    move = image.translations_to_projective_transforms([[1.0, -0.5], [0.0, 2.0]])
    tilt = [1.0, 0.1, 0.2, 0.0, 1.0, 0.0, 0.01, -0.02]
    both = image.compose_transforms(turn, tilt)
    images = tf.constant(IMAGES)
    warped = image.transform(images, both, "BILINEAR", output_shape=[4, 3])
    return [
        turn,
        move,
        both,
        image.flat_transforms_to_matrices(tilt),
        image.matrices_to_flat_transforms(2 * np.eye(3, dtype=np.float32)),
        image.translate(IMAGES, [1.0, -2.0]),
        image.translate(IMAGES, [[1.0, -0.5], [0.0, 2.0]], "BILINEAR"),
        warped,
        tf.gradients(image.transform(images, both, "BILINEAR"), images)[0],
    ]


def colours(contrib):
    image = contrib.image
    integers = (255 * IMAGES).astype(np.uint8)
    return [
        image.adjust_hsv_in_yiq(IMAGES, 0.4, 1.3, 0.9),
        image.adjust_hsv_in_yiq(integers, -0.2, 0.5, 1.0),
        image.random_hsv_in_yiq(IMAGES, 0, 0.7, 0.7, 1.2, 1.2),
    ]


def warps(contrib):
    image = contrib.image
    images, flow = tf.constant(IMAGES), tf.constant(FLOW)
    dense = image.dense_image_warp(images, flow)
    queries = POINTS[:, ::-1] + 0.3
    moved = POINTS + 0.3 * FLOW[:, 0]
    splines = [
        image.interpolate_spline(POINTS, VALUES, queries, order, 0.01) for order in (1, 2, 3, 4, 6)
    ]
    return [
        dense,
        *tf.gradients(tf.square(dense), [images, flow]),
        *splines,
        *image.sparse_image_warp(IMAGES, POINTS, moved, num_boundary_points=1),
        *image.sparse_image_warp(IMAGES, POINTS, moved, 1, 0.1, num_boundary_points=3),
    ]


def components(contrib):
    image = contrib.image
    rows = RANDOM_DISTANCES
    return [
        image.connected_components(AREAS),
        image.connected_components(AREAS[0] == 1),
        image.connected_components(AREAS[1]),
        *image.bipartite_match(rows, 5),
        *image.bipartite_match(rows, [3]),
        *image.bipartite_match(rows.T, 4, 2),
    ]


RANDOM_DISTANCES = np.random.RandomState(1).normal(size=[5, 4]).astype(np.float32)


def resampled(contrib):
    data, warp = tf.constant(IMAGES), tf.constant(np.add(FLOW, [2.0, 1.5]), tf.float32)
    values = contrib.resampler.resampler(data, warp)
    return [values, *tf.gradients(tf.square(values), [data, warp])]


def losses(contrib):
    of = contrib.losses
    with tf.variable_scope("losses"):
        values = [
            of.absolute_difference(tf.constant(MATRIX), tf.constant(TARGETS), 0.5),
            of.mean_squared_error(tf.constant(MATRIX), tf.constant(TARGETS)),
            of.softmax_cross_entropy(tf.constant(MATRIX), tf.nn.softmax(TARGETS), 2.0, 0.1),
        ]
    return [*values, of.get_total_loss(), *of.get_losses("losses")]


def metric_learning(contrib):
    learning = contrib.losses.metric_learning
    labels = tf.constant([0, 1, 0, 1])
    embeddings = tf.constant(MATRIX)
    values = [
        learning.contrastive_loss(labels, embeddings, TARGETS, 2.0),
        learning.npairs_loss(labels, embeddings, tf.constant(TARGETS)),
        learning.triplet_semihard_loss(labels, embeddings, 0.5),
        learning.triplet_semihard_loss(tf.constant([0, 0, 0, 1]), embeddings),
    ]
    return values + [tf.gradients(value, embeddings)[0] for value in values]


def activations(contrib):
    nn = contrib.nn
    matrix = tf.constant(MATRIX)
    soft = nn.scaled_softplus(matrix, 0.5, clip=1.0)
    sparse = contrib.sparsemax.sparsemax(matrix)
    # More samples than rows, so that none is left out.
    sampled = tf.constant([0, 2, 3], tf.int64), tf.fill([4, 1], 0.5), tf.constant([0.1, 0.2, 0.9])
    rank = nn.rank_sampled_softmax_loss(
        tf.constant(TARGETS),
        tf.constant([0.1, 0.2, 0.3, 0.4]),
        tf.constant([[1], [0], [3], [1]], tf.int64),
        matrix,
        3,
        2,
        4,
        1,
        sampled,
        0.5,
        True,
        "mod",
    )
    return [
        nn.deprecated_flipped_softmax_cross_entropy_with_logits(MATRIX, tf.nn.softmax(TARGETS)),
        nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(MATRIX, [0, 2, 1, 0]),
        nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(MATRIX, TARGETS),
        nn.nth_element(MATRIX, 1),
        soft,
        tf.gradients(soft, matrix)[0],
        rank,
        nn.sampled_sparse_softmax_loss(
            tf.constant(TARGETS),
            tf.constant([0.1, 0.2, 0.3, 0.4]),
            tf.constant([[1], [0], [3], [1]], tf.int64),
            matrix,
            3,
            4,
            sampled_values=sampled,
        ),
        sparse,
        contrib.sparsemax.sparsemax_loss(matrix, sparse, np.eye(4, 3, dtype=np.float32)),
        contrib.sparsemax.sparsemax([[np.inf, 1.0], [np.nan, 0.0]]),
    ]


def datasets(contrib):
    data, make = contrib.data, tf.data.Dataset.range
    dictionary = make(7).map(lambda n: {"n": n, "half": tf.cast(n, tf.float32) / 2})
    pairs = make(5).map(lambda n: (n, tf.fill([2], n)))
    count = data.Reducer(lambda _: np.int64(0), lambda state, n: state + n, lambda state: state)
    checked = pairs.apply(data.assert_element_shape(([], [2])))
    return [
        elements(make(7).apply(data.batch_and_drop_remainder(3))),
        elements(make(5).map(tf.range).apply(data.padded_batch_and_drop_remainder(2, [5]))),
        elements(make(7).apply(data.sliding_window_batch(3, window_shift=2))),
        elements(make(7).apply(data.sliding_window_batch(2, stride=3, window_stride=2))),
        elements(dictionary.apply(data.sliding_window_batch(3)))["half"],
        elements(pairs.apply(data.sliding_window_batch(2)))[1],
        elements(make(6).apply(data.map_and_batch(lambda n: 2 * n, 3))),
        elements(make(3).apply(data.sloppy_interleave(lambda n: make(n, n + 1), 1))),
        elements(make(6).apply(data.group_by_window(lambda n: n % 2, lambda _, n: n.batch(3), 3))),
        elements(checked)[1],
        elements(make(4).apply(data.enumerate_dataset(2)))[0],
        data.reduce_dataset(make(5), count),
    ]


def elements(dataset):
    """All elements of a dataset, batched where their shapes are equal."""
    return tf.data.make_one_shot_iterator(dataset.repeat(1).batch(20)).get_next()


def lookups(contrib):
    lookup = contrib.lookup
    words = tf.constant(["a", "b", "c"])
    asked = tf.constant(["c", "a", "x"])
    pairs = lookup.KeyValueTensorInitializer(words, tf.constant([5, 6, 7], tf.int64))
    table = lookup.HashTable(pairs, -1, shared_name="shared")
    same = lookup.HashTable(pairs, -9, shared_name="shared")
    counts = lookup.MutableHashTable(tf.string, tf.int64, -1)
    filled = tf.group(tf.tables_initializer(), table.init)
    with tf.control_dependencies([filled, counts.insert(words, tf.range(3, dtype=tf.int64))]):
        return [
            table.lookup(asked),
            same.lookup(asked),
            counts.lookup(asked),
            tf.shape(table.export()[0]),
            lookup.index_table_from_tensor(words, num_oov_buckets=2).lookup(asked),
            lookup.string_to_index_table_from_tensor(words).lookup(asked),
            lookup.string_to_index(asked, words, default_value=4),
            lookup.index_to_string_table_from_tensor(words).lookup(tf.constant([2, 9], tf.int64)),
            lookup.index_to_string(tf.constant([1, 5], tf.int64), words, default_value="?"),
        ]


def tensors(contrib):
    framework = contrib.framework
    unknown = tf.placeholder_with_default(MATRIX[:1, :1], None)
    predictions, labels = framework.remove_squeezable_dimensions(
        tf.constant(MATRIX[:, :1]), tf.constant(TARGETS[:, 0])
    )
    nested = framework.py_func(
        lambda a, b, scale: {"sum": scale * (a + b["b"]), "shape": np.int64(a.size)},
        args=(MATRIX, {"b": TARGETS}),
        kwargs={"scale": np.float32(2)},
        output_types={"sum": tf.float32, "shape": tf.int64},
        output_shapes={"sum": [4, 3], "shape": []},
    )
    return [
        framework.with_shape([1, 1], unknown),
        framework.with_shape(tf.constant([1, 1]) + 0 * tf.shape(unknown), unknown),
        framework.with_shape([], tf.constant([3])),
        framework.with_same_shape(tf.constant([[0.0]]), unknown),
        framework.reduce_sum_n([tf.constant(MATRIX), tf.constant(2.0)]),
        framework.assert_scalar_int(tf.constant(3)),
        predictions - labels,
        nested["sum"],
        nested["shape"],
    ]


def nested(contrib):
    nest = contrib.framework.nest
    structure = {"b": [1, (2, 3)], "a": 4}
    return [
        nest.flatten(structure),
        nest.flatten(nest.map_structure(lambda n: n + 1, structure)),
        [int(nest.is_sequence(value)) for value in ([], 1)],
        nest.flatten(nest.pack_sequence_as(structure, [1, 2, 3, 4])["b"]),
    ]


def optimizer_steps(make):
    """Returns a program that takes steps on dense, and on sparse gradients."""

    def program(contrib):
        dense = tf.get_variable("dense", initializer=MATRIX)
        rows = tf.get_variable("rows", initializer=TARGETS)
        scale = tf.placeholder_with_default(1.0, [])
        picked = tf.gather(rows, [0, 2])
        loss = tf.reduce_sum(tf.square(dense)) + tf.reduce_sum(picked * IMAGES[:, 0, 0] * scale)
        optimizer = make(contrib)
        step = optimizer.minimize(loss, tf.train.get_or_create_global_step())
        return Steps(step, scale)

    return program


class Steps:
    """A train operation that is run three times; the variables after it are the result."""

    def __init__(self, step, scale):
        self.step, self.scale = step, scale

    def run(self, session):
        for scale in (1.0, -2.0, 0.5):
            session.run(self.step, {self.scale: scale})
        return session.run({v.op.name: v for v in tf.global_variables()})


CASES = {
    function.__name__: function
    for function in (
        rotations,
        transforms,
        colours,
        warps,
        components,
        resampled,
        losses,
        metric_learning,
        activations,
        datasets,
        lookups,
        tensors,
        nested,
    )
}
OPTIMIZERS = {
    "adamax": lambda of: of.opt.AdaMaxOptimizer(0.1),
    "add_sign": lambda of: of.opt.AddSignOptimizer(0.1, alpha=0.9, sign_decay_fn=lambda _: 0.7),
    "adamw": lambda of: of.opt.AdamWOptimizer(0.01, learning_rate=0.1),
    "lars": lambda of: of.opt.LARSOptimizer(0.5, weight_decay=0.01, skip_list=["bias"]),
    "lars_nesterov": lambda of: of.opt.LARSOptimizer(0.5, use_nesterov=True, skip_list=["dense"]),
    "lazy_adam": lambda of: of.opt.LazyAdamOptimizer(0.1),
    "momentumw": lambda of: of.opt.MomentumWOptimizer(0.01, 0.1, 0.9),
    "moving_average": lambda of: of.opt.MovingAverageOptimizer(
        tf.train.MomentumOptimizer(0.1, 0.9), 0.9
    ),
    "moving_average_beside": lambda of: of.opt.MovingAverageOptimizer(
        tf.train.GradientDescentOptimizer(0.0), 0.9, tf.train.get_or_create_global_step(), False
    ),
    "multitask": lambda of: of.opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.1, 0.9)),
    "nadam": lambda of: of.opt.NadamOptimizer(0.1),
    "power_sign": lambda of: of.opt.PowerSignOptimizer(0.1),
    "scaled": lambda of: of.mixed_precision.LossScaleOptimizer(
        tf.train.AdamOptimizer(0.1), of.mixed_precision.FixedLossScaleManager(128)
    ),
    "sgdw": lambda of: of.opt.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)(
        0.1, learning_rate=0.2
    ),
}
CASES.update({name: optimizer_steps(make) for name, make in OPTIMIZERS.items()})


def made_by(case, contrib):
    """Returns what a program computes: numbers, in lists and dictionaries."""
    with tf.Graph().as_default():
        made = CASES[case](contrib)
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            if isinstance(made, Steps):
                return plain(made.run(session))
            tensors = [each for each in made if isinstance(each, tf.Tensor)]
            values = iter(session.run(tensors))
            return plain([next(values) if isinstance(e, tf.Tensor) else e for e in made])


def plain(value):
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [each.decode() for each in value.flat]
    if np.asarray(value).dtype.kind == "f":
        return [float(f"{number:.6g}") for number in np.asarray(value).flat]
    return np.asarray(value).reshape(-1).tolist()


if __name__ == "__main__":
    import tensorflow.contrib
    from tensorflow.contrib.image.python.ops import distort_image_ops

    tensorflow.contrib.image.adjust_hsv_in_yiq = distort_image_ops.adjust_hsv_in_yiq
    tensorflow.contrib.image.random_hsv_in_yiq = distort_image_ops.random_hsv_in_yiq
    tables = {case: made_by(case, tensorflow.contrib) for case in sorted(CASES)}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        rows = (json.dumps(case) + ": " + json.dumps(tables[case]) for case in tables)
        file.write("{\n" + ",\n".join(rows) + "\n}\n")
