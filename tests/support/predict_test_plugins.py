"""Inputs and models of `tests/cli/test_predict.py`: a small classifier, and faulty ones."""

import os
import signal

import tensorflow.compat.v1 as tf

from tf_frame import Input, InputInfo, Mode, Model, ModelOutput


class Table(Input):
    """Rows of three numbers; a file holds one row."""

    prediction_suffixes = (".txt", ".row")

    @property
    def info(self):
        return InputInfo(num_examples={Mode.EVAL: 5})

    def dataset(self, mode, context):
        assert mode == Mode.EVAL
        rows = tf.data.Dataset.from_tensor_slices(tf.reshape(tf.range(15.0), [5, 3]))
        return rows.map(lambda row: ({"x": row}, row[0])).batch(context.batch_size)

    def prediction_dataset(self, paths, context):
        def row(path):
            words = tf.strings.split([tf.io.read_file(path)], ",").values
            numbers = tf.strings.to_number(words)
            return {"x": tf.ensure_shape(numbers, [3]), "name": path}

        return tf.data.Dataset.from_tensor_slices(list(paths)).map(row).batch(context.batch_size)


class Named(Table):
    """An evaluation split of examples with names, several examples a file."""

    def dataset(self, mode, context):
        return (
            super()
            .dataset(mode, context)
            .map(
                lambda features, label: (
                    {
                        **features,
                        "name": tf.strings.format("row {}", features["x"][0, 0])[tf.newaxis],
                    },
                    label,
                )
            )
        )

    def prediction_dataset(self, paths, context):
        return super().prediction_dataset([path for path in paths for _ in range(2)], context)


class Endless(Table):
    def dataset(self, mode, context):
        return super().dataset(mode, context).repeat()


class Forgetful(Table):
    """Leaves the last file out."""

    def prediction_dataset(self, paths, context):
        return super().prediction_dataset(paths[:-1], context)


class Nameless(Table):
    def prediction_dataset(self, paths, context):
        return super().prediction_dataset(paths, context).map(lambda features: features["x"])


class Empty(Table):
    def dataset(self, mode, context):
        return super().dataset(mode, context).take(0)


class Blind(Input):
    """Reads no files."""

    def dataset(self, mode, context):
        raise AssertionError("called")


class Largest(Model):
    """Predicts the index of the largest of three numbers, and their softmax."""

    default_input = "table"

    def build(self, features, labels, mode):
        assert labels is None
        scale = tf.get_variable("scale", initializer=1.0)
        logits = features["x"] * scale
        outputs = {"class": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits)}
        return ModelOutput(predictions=outputs)


class Drawn(Largest):
    """Writes a file of its own for each example."""

    def prediction_writer(self, directory):
        return Writer(directory)


class Writer:
    predict_keys = ("class",)

    def __init__(self, directory):
        self.directory = directory

    def __call__(self, name, features, prediction):
        with open(os.path.join(self.directory, f"{name}.out"), "w") as file:
            file.write(f"{sorted(prediction)} {prediction['class']} {features['x'].tolist()}")

    def close(self):
        with open(os.path.join(self.directory, "closed"), "w"):
            pass


class Described(Drawn):
    """Says what it wrote."""

    def prediction_writer(self, directory):
        return Describer(directory)


class Describer(Writer):
    def describe(self, name, features, prediction):
        assert os.path.exists(os.path.join(self.directory, f"{name}.out"))
        return [f"class {prediction['class']} of {features['x'].max():g}", f"written to {name}.out"]


class Full(Drawn):
    def prediction_writer(self, directory):
        writer = Writer(directory)

        def write(name, features, prediction):
            if name == "c":
                raise OSError(28, "No space left on device")
            writer(name, features, prediction)

        return write


class Forbidden(Drawn):
    def prediction_writer(self, directory):
        def write(name, features, prediction):
            open(os.path.join(directory, "missing", name), "w").close()

        return write


class Unwilling(Drawn):
    def prediction_writer(self, directory):
        raise NotADirectoryError(20, "Not a directory", os.path.join(directory, "labels"))


class Unclosing(Drawn):
    def prediction_writer(self, directory):
        writer = Writer(directory)
        writer.close = lambda: Unwilling.prediction_writer(self, directory)
        return writer


class Stopped(Drawn):
    """Gets Ctrl-C while its second example is written."""

    def prediction_writer(self, directory):
        writer = Writer(directory)

        def write(name, features, prediction):
            writer(name, features, prediction)
            if name == "b":
                signal.raise_signal(signal.SIGINT)

        return write
