"""Tables, MNIST and vocabularies of tf.contrib.learn, and the model of the tutorial on MNIST."""

import gzip
import struct

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.learn import datasets, preprocessing
from tf_frame_legacy.contrib.learn.datasets import mnist_model


def test_tables(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("2,2,a,b\n1.5,2.5,0\n3.5,4.5,1\n")
    with_header = datasets.base.load_csv_with_header(str(path), np.int32, np.float32)
    np.testing.assert_array_equal(with_header.data, [[1.5, 2.5], [3.5, 4.5]])
    np.testing.assert_array_equal(with_header.target, [0, 1])
    path.write_text("0,1.5,2.5\n1,3.5,4.5\n")
    without = datasets.base.load_csv_without_header(str(path), np.int32, np.float32, 0)
    np.testing.assert_array_equal(without.data, with_header.data)
    np.testing.assert_array_equal(without.target, [0, 1])


@pytest.fixture
def mnist_folder(tmp_path):
    for name, number in (("train", 6), ("t10k", 2)):
        images = np.arange(number * 4, dtype=np.uint8) * 10
        header = struct.pack(">4I", 2051, number, 2, 2)
        with gzip.open(tmp_path / f"{name}-images-idx3-ubyte.gz", "wb") as file:
            file.write(header + images.tobytes())
        with gzip.open(tmp_path / f"{name}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(struct.pack(">2I", 2049, number) + bytes(range(number)))
    return str(tmp_path)


def test_mnist(mnist_folder):
    read = datasets.mnist.read_data_sets(mnist_folder, one_hot=True, validation_size=2, seed=1)
    assert [d.num_examples for d in read] == [4, 2, 2]
    assert read.train.images.shape == (4, 4) and read.train.images.dtype == np.float32
    np.testing.assert_allclose(read.validation.images[1], np.array([40, 50, 60, 70]) / 255)
    np.testing.assert_array_equal(read.validation.labels, np.eye(10)[:2])

    batches = [read.train.next_batch(3)[1].argmax(axis=1) for _ in range(4)]
    seen = np.concatenate(batches).reshape(3, 4)  # Three epochs, each of all examples.
    np.testing.assert_array_equal(np.sort(seen), [[2, 3, 4, 5]] * 3)
    assert read.train.epochs_completed == 2

    raw = datasets.mnist.read_data_sets(mnist_folder, False, False, tf.uint8, False, 0)
    assert raw.train.images.shape == (6, 2, 2, 1) and raw.train.images.dtype == np.uint8
    images, labels = raw.train.next_batch(2, shuffle=False)
    np.testing.assert_array_equal(labels, [0, 1])
    assert images.max() == 70
    with pytest.raises(ValueError, match="Validation size should be between 0 and 6"):
        datasets.mnist.read_data_sets(mnist_folder)
    with pytest.raises(TypeError, match="expected uint8 or float32"):
        datasets.mnist.DataSet(images, labels, dtype=tf.int32)
    fake = datasets.mnist.read_data_sets("", fake_data=True, one_hot=True)
    assert np.shape(fake.test.next_batch(3, fake_data=True)[0]) == (3, 784)


def test_files_of_another_format(mnist_folder):
    path = f"{mnist_folder}/t10k-labels-idx1-ubyte.gz"
    with open(path, "rb") as file, pytest.raises(ValueError, match="Invalid magic number 2049"):
        datasets.mnist.extract_images(file)


def test_words_become_numbers(tmp_path):
    processor = preprocessing.VocabularyProcessor(4)
    texts = ["to be or not to be", "that's NASA's self-made IPAddress"]
    rows = np.array(list(processor.fit_transform(texts)))
    np.testing.assert_array_equal(rows, [[1, 2, 3, 4], [5, 6, 7, 8]])
    assert list(preprocessing.tokenizer(texts[1:])) == [
        ["that's", "NASA", "'s", "self-made", "IP", "Address"]
    ]
    assert len(processor.vocabulary_) == 11
    np.testing.assert_array_equal(list(processor.transform(["be new"])), [[2, 0, 0, 0]])
    assert list(processor.reverse([[1, 0]])) == ["to <UNK>"]
    processor.save(str(tmp_path / "vocabulary"))
    restored = preprocessing.VocabularyProcessor.restore(str(tmp_path / "vocabulary"))
    np.testing.assert_array_equal(list(restored.transform(texts)), rows)


def test_attributes_that_programs_read():
    processor = preprocessing.VocabularyProcessor(
        3, tokenizer_fn=lambda texts: map(str.split, texts)
    )
    processor.fit(["b a b"])
    assert processor.vocabulary_._mapping == {"<UNK>": 0, "b": 1, "a": 2}
    assert processor.vocabulary_._reverse_mapping == ["<UNK>", "b", "a"]
    assert processor.vocabulary_._freq == {"b": 2, "a": 1}
    assert next(iter(processor._tokenizer(["a b"]))) == ["a", "b"]


def test_rare_words_are_dropped_and_others_ordered_by_frequency():
    processor = preprocessing.VocabularyProcessor(3, min_frequency=1)
    processor.fit(["b a b c b", "a d"])
    np.testing.assert_array_equal(list(processor.transform(["b a c"])), [[1, 2, 0]])
    vocabulary = preprocessing.CategoricalVocabulary(support_reverse=False)
    for word, count in (("x", 5), ("y", 3), ("z", 1)):
        vocabulary.add(word, count)
    vocabulary.trim(1, max_frequency=5)
    assert (vocabulary.get("y"), len(vocabulary)) == (1, 2)
    with pytest.raises(ValueError, match="support_reverse"):
        vocabulary.reverse(1)


def test_the_model_of_the_tutorial_trains(graph):
    images = tf.constant(np.eye(mnist_model.NUM_CLASSES, mnist_model.IMAGE_PIXELS, dtype="f"))
    labels = tf.range(mnist_model.NUM_CLASSES)
    logits = mnist_model.inference(images, 16, 8)
    loss = mnist_model.loss(logits, labels)
    train_op = mnist_model.training(loss, 0.5)
    correct = mnist_model.evaluation(logits, labels)
    names = [variable.op.name for variable in tf.trainable_variables()]
    assert names[::2] == ["hidden1/weights", "hidden2/weights", "softmax_linear/weights"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(60):
            session.run(train_op)
        assert session.run(loss) < before
        assert 1 <= session.run(correct) <= mnist_model.NUM_CLASSES
