"""Canned estimators on feature columns, in the style of the census examples."""

from __future__ import print_function

import os
import sys

import numpy as np
import tensorflow as tf


def build_columns():
    age = tf.feature_column.numeric_column("age", normalizer_fn=lambda x: (x - 45.0) / 15.0)
    work = tf.feature_column.categorical_column_with_vocabulary_list(
        "work", ["none", "office", "field"]
    )
    place = tf.feature_column.categorical_column_with_hash_bucket("place", hash_bucket_size=20)
    ages = tf.feature_column.bucketized_column(age, boundaries=[-1.0, 0.0, 1.0])
    wide = [work, ages, tf.feature_column.crossed_column([ages, "work"], hash_bucket_size=50)]
    deep = [
        age,
        tf.feature_column.indicator_column(work),
        tf.feature_column.embedding_column(place, dimension=4),
    ]
    return wide, deep


def data():
    random = np.random.RandomState(0)
    age = random.uniform(20, 70, 200).astype(np.float32)
    work = random.choice(["none", "office", "field"], 200)
    place = np.array(["p%d" % n for n in random.randint(0, 9, 200)])
    label = ((age > 45) == (work == "office")).astype(np.int32)
    return {"age": age, "work": work, "place": place}, label


def input_fn(num_epochs, shuffle):
    features, labels = data()

    def dataset_fn():
        dataset = tf.data.Dataset.from_tensor_slices((features, labels))
        if shuffle:
            dataset = dataset.shuffle(200, seed=1)
        return dataset.repeat(num_epochs).batch(20)

    return dataset_fn


def main(_):
    wide, deep = build_columns()
    config = tf.estimator.RunConfig(tf_random_seed=1)
    models = {
        "deep": tf.estimator.DNNClassifier(
            hidden_units=[16, 8],
            feature_columns=deep,
            n_classes=2,
            config=config,
            optimizer=lambda: tf.train.AdamOptimizer(0.02),
            model_dir=os.path.join(sys.argv[1], "deep"),
        ),
        "wide_deep": tf.estimator.DNNLinearCombinedClassifier(
            linear_feature_columns=wide,
            dnn_feature_columns=deep,
            dnn_hidden_units=[16, 8],
            dnn_optimizer=tf.train.AdamOptimizer(0.02),
            config=config,
            model_dir=os.path.join(sys.argv[1], "wide_deep"),
        ),
    }
    for name, model in sorted(models.items()):
        model.train(input_fn(5, True))
        result = model.evaluate(input_fn(1, False))
        first = next(model.predict(input_fn(1, False)))
        print(
            "%s step %d accuracy %.2f auc %.2f"
            % (name, result["global_step"], result["accuracy"], result["auc"])
        )
        print(sorted(first)[:3], first["probabilities"].shape)


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.app.run(main=main)
