import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame import InputContext, Mode
from tf_frame.errors import DataError, NoDataError
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_classification.inputs.image_folder import ImageFolder, Params

pytestmark = pytest.mark.usefixtures("graph")
# Content of files that are not decoded: an image of a pixel.
ANY = b"P5 1 1 255 x"


@pytest.fixture(scope="module")
def pictures():
    """Five images as `[8, 8, 3]`, and each encoded as PNG."""
    images = np.random.RandomState(0).randint(0, 256, [5, 8, 8, 3]).astype(np.uint8)
    with tf.Graph().as_default(), tf.Session() as session:
        return images, session.run([tf.io.encode_png(image) for image in images])


def write(folder, content, *names):
    for name, data in zip(names, content, strict=False):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def folder(path, **params):
    return ImageFolder(params=Params(data_dir=str(path), **{"image_size": 8, **params}))


def pixels(image):
    return np.rint((image + 1) * 127.5).astype(np.uint8)


def files(source, mode):
    """Names below the folder, and labels, of a split."""
    _, names, labels = source.splits[mode].content
    return dict(zip(names, labels, strict=True))


def test_classes_are_the_folders_in_the_order_of_their_names(tmp_path, pictures, take):
    names = ["rose/a.png", "rose/b.PNG", "daisy/c.png", "daisy/d.png", "daisy/e.png"]
    write(tmp_path, pictures[1], *names)
    write(tmp_path, [ANY] * 3, "rose/notes.txt", "README", ".hidden/x.png")
    source = folder(tmp_path, eval_fraction=0.4)
    assert source.info.class_names == ("daisy", "rose")
    assert source.info.num_examples == {Mode.TRAIN: 3, Mode.EVAL: 2, Mode.PREDICT: 2}
    both = {**files(source, Mode.TRAIN), **files(source, Mode.EVAL)}
    assert both == {name: int(name.startswith("rose")) for name in names}
    assert source.notes() == ["files that are left out: .txt (1), hidden and system files (1)"]
    ((features, labels),) = take(source.dataset(Mode.EVAL, InputContext(batch_size=4)))
    assert labels["label"].tolist() == [0, 1]
    assert labels["label"].dtype == np.int32
    assert features["image"].shape == (2, 8, 8, 3)
    for name, image in zip(features["name"], features["image"], strict=True):
        below = name.decode().removeprefix(f"{tmp_path}/")
        np.testing.assert_array_equal(pixels(image), pictures[0][names.index(below)])


def test_what_is_held_out_depends_on_names_alone(tmp_path):
    names = [f"{kind}/{number}.jpg" for kind in "ab" for number in range(40)]
    write(tmp_path, [ANY] * 80, *names)
    source = folder(tmp_path, eval_fraction=0.25)
    held_out = files(source, Mode.EVAL)
    every = folder(tmp_path, eval_fraction=1.0)
    assert set(files(every, Mode.EVAL)) == set(names) == set(files(every, Mode.TRAIN))
    assert [list(held_out.values()).count(label) for label in (0, 1)] == [10, 10]
    assert not set(held_out) & set(files(source, Mode.TRAIN))
    # Not simply the first ones, which are often alike.
    names = sorted(names)
    assert not {*names[:10], *names[40:50]} <= set(held_out)
    assert files(folder(tmp_path, eval_fraction=0.25), Mode.EVAL) == held_out
    write(tmp_path, [ANY], "c/1.jpg")
    assert held_out.items() <= files(folder(tmp_path, eval_fraction=0.25), Mode.EVAL).items()


@pytest.mark.parametrize("root", [".", "train"])
def test_a_class_of_one_image_trains_and_one_of_two_does_both(tmp_path, root):
    """A folder that has only images for training is divided like one without such a folder."""
    write(tmp_path / root, [ANY] * 3, "a/1.jpg", "b/1.jpg", "b/2.jpg")
    source = folder(tmp_path)
    assert source.info.class_names == ("a", "b")
    assert list(files(source, Mode.TRAIN).values()) == [0, 1]
    assert list(files(source, Mode.EVAL).values()) == [1]


@pytest.mark.parametrize("name", ["validation", "val", "valid", "Dev"])
def test_folders_for_training_and_evaluation_are_found(tmp_path, name):
    write(tmp_path, [ANY] * 3, "train/a/1.jpg", "train/b/2.gif", f"{name}/b/3.bmp")
    source = folder(tmp_path)
    assert files(source, Mode.TRAIN) == {"a/1.jpg": 0, "b/2.gif": 1}
    assert files(source, Mode.EVAL) == {"b/3.bmp": 1}
    assert source.splits[Mode.EVAL].content[0] == str(tmp_path / name)
    assert not source.notes()


def test_the_test_part_is_evaluated_only_if_it_is_asked_for(tmp_path):
    write(tmp_path, [ANY] * 4, "train/a/1.jpg", "train/a/2.jpg", "test/a/3.jpg")
    source = folder(tmp_path)
    assert source.info.num_examples == {Mode.TRAIN: 1, Mode.EVAL: 1, Mode.PREDICT: 1}
    assert source.splits[Mode.EVAL].content[0] == str(tmp_path / "train")
    hint = "; --input.eval_split test evaluates the test part"
    assert source.notes() == [f"test is not used{hint}"]
    write(tmp_path, [ANY] * 2, "valid/a/4.jpg", "spare/a/5.jpg")
    source = folder(tmp_path)
    assert source.splits[Mode.EVAL].content[0] == str(tmp_path / "valid")
    assert source.notes() == [f"spare and test are not used{hint}"]
    source = folder(tmp_path, eval_split="test")
    assert source.splits[Mode.EVAL].content[0] == str(tmp_path / "test")
    assert source.notes() == ["spare and valid are not used"]
    with pytest.raises(DataError, match=r"--input.eval_split test: .*/train has no part called"):
        folder(tmp_path / "train", eval_split="test")


def test_another_folder_is_evaluated_instead_of_a_part(tmp_path):
    write(tmp_path, [ANY] * 3, "one/train/a/1.jpg", "one/val/a/2.jpg", "two/a/3.jpg")
    source = folder(tmp_path / "one", eval_dir=str(tmp_path / "two"))
    assert files(source, Mode.TRAIN) == {"a/1.jpg": 0}
    assert source.splits[Mode.EVAL].content[0] == str(tmp_path / "two")


def test_sub_folders_of_class_folders_are_read_and_hidden_files_are_not(tmp_path):
    write(
        tmp_path,
        [ANY] * 9,
        *("a/photo.jpg", "a/one/photo.jpg", "a/two/photo.JPG", "b/1.jpg", "a/._photo.jpg"),
        *("b/Thumbs.db", "__MACOSX/a/1.jpg", ".ipynb_checkpoints/1.jpg", "a/one/desktop.ini"),
    )
    (tmp_path / "a" / "two" / "loop").symlink_to(tmp_path / "a")
    source = folder(tmp_path, eval_fraction=0.0)
    names = ["a/photo.jpg", "a/one/photo.jpg", "a/two/photo.JPG", "b/1.jpg"]
    assert files(source, Mode.TRAIN) == dict(zip(names, [0, 0, 0, 1], strict=True))
    assert source.notes() == ["files that are left out: hidden and system files (5)"]


@pytest.mark.slow
def test_odd_names_of_files_and_folders_are_read(tmp_path, pictures, take):
    """Names of Windows, telephones and other alphabets, and characters of patterns."""
    names = ["IMG (1).JPG", "a[1].jpg", "50% *off*?.jpeg", "\xfcml\xe4ut \u732b.png", " lead.jpg"]
    root = tmp_path / "data [1] *"
    write(root / "gro\xdf \u72d7", pictures[1], *names)
    source = folder(root, eval_fraction=0.0)
    ((features, _),) = take(source.dataset(Mode.TRAIN, InputContext(batch_size=5)), 1)
    assert features["image"].shape == (5, 8, 8, 3)
    assert len({image.tobytes() for image in features["image"]}) == 5


def test_a_class_whose_name_is_no_text_is_refused(tmp_path):
    write(tmp_path, [ANY] * 2, "a/1.jpg", "b\udcfc/2.jpg")
    with pytest.raises(DataError, match="class folder .*b\udcfc is no text in UTF-8; rename it"):
        folder(tmp_path)


def test_names_of_classes_match_however_their_accents_are_stored(tmp_path):
    composed, separate = "\xe9", "e\u0301"
    write(tmp_path, [ANY] * 2, f"train/{separate}/1.jpg", f"val/{composed}/2.jpg")
    source = folder(tmp_path)
    assert source.info.class_names == (composed,)
    assert files(source, Mode.TRAIN) == {f"{separate}/1.jpg": 0}
    assert files(source, Mode.EVAL) == {f"{composed}/2.jpg": 0}
    write(tmp_path, [ANY], f"train/{composed}/1.jpg")
    with pytest.raises(DataError, match="has two folders \xe9, which differ only in the way"):
        folder(tmp_path)


def test_another_folder_may_be_evaluated(tmp_path):
    write(tmp_path, [ANY] * 3, "one/a/1.jpg", "one/b/2.jpeg", "two/b/3.jpg")
    source = folder(tmp_path / "one", eval_dir=str(tmp_path / "two"))
    assert source.info.num_examples == {Mode.TRAIN: 2, Mode.EVAL: 1, Mode.PREDICT: 1}
    write(tmp_path, [ANY], "two/c/3.jpg")
    with pytest.raises(DataError, match=r"two has the class 'c', which .*one has not; .* a, b"):
        folder(tmp_path / "one", eval_dir=str(tmp_path / "two"))
    with pytest.raises(DataError, match=r"three \(--input.eval_dir\) does not exist"):
        folder(tmp_path / "one", eval_dir=str(tmp_path / "three"))


@pytest.mark.slow
def test_training_shuffles_shards_and_goes_on_exactly(tmp_path, pictures, take):
    names = ["a/1.png", "a/2.png", "b/3.png", "b/4.png", "b/5.png"]
    write(tmp_path / "train", pictures[1], *names)
    write(tmp_path / "val", pictures[1], "a/1.png")
    source = folder(tmp_path, preprocessing="cifarnet", image_size=6)
    check_exact_resume(source, batch_size=3, steps=2)
    plain = folder(tmp_path)
    context = {"batch_size": 5, "seed": 7, "num_shards": 2}
    parts = [
        take(plain.dataset(Mode.TRAIN, InputContext(shard_index=index, **context)), 1)[0]
        for index in (0, 1)
    ]
    images = np.stack([pixels(features["image"]) for features, _ in parts], axis=1)
    images, expected = images.reshape(2, 5, -1), pictures[0].reshape(5, -1)
    orders = [[np.argmax((expected == image).all(axis=1)) for image in part] for part in images]
    assert [sorted(order) for order in orders] == [list(range(5))] * 2
    batch_labels = np.stack([labels["label"] for _, labels in parts], axis=1).reshape(-1)
    np.testing.assert_array_equal(batch_labels, np.array([0, 0, 1, 1, 1])[np.concatenate(orders)])


def test_pictures_of_other_kinds_and_sizes_are_read_and_predicted(tmp_path, take):
    random = np.random.RandomState(1)
    shapes = {"a.png": [5, 9, 4], "b.png": [3, 3], "c.bmp": [4, 4, 3], "d.jpg": [20, 9, 3]}
    shapes |= {"e.png": [1, 1, 3], "f.png": [1, 90]}
    (tmp_path / "x").mkdir()
    for name, shape in shapes.items():
        image = Image.fromarray(random.randint(0, 256, shape).astype(np.uint8))
        image.save(tmp_path / "x" / name)
    source = folder(tmp_path, channels=1)
    paths = [str(tmp_path / "x" / name) for name in reversed(shapes)]
    batches = take(source.prediction_dataset(paths, InputContext(batch_size=3)))
    names = [name.decode() for batch in batches for name in batch["name"]]
    assert names == paths
    assert [batch["image"].shape for batch in batches] == [(3, 8, 8, 1), (3, 8, 8, 1)]
    predicted = dict(zip(names, np.concatenate([batch["image"] for batch in batches]), strict=True))
    for features, _ in take(source.dataset(Mode.EVAL, InputContext(batch_size=1))):
        np.testing.assert_array_equal(features["image"][0], predicted[features["name"][0].decode()])
    assert ".bmp" in source.prediction_suffixes


def test_a_folder_to_train_on_next_to_an_unknown_one_is_no_class(tmp_path):
    write(tmp_path, [ANY] * 4, "train/a/1.jpg", "train/b/1.jpg", "other/b/2.jpg")
    with pytest.raises(DataError, match=r"next to it other, which .* give .*/train to"):
        folder(tmp_path)
    write(tmp_path / "other", [ANY] * 4, "train/1.jpg", "train/2.jpg", "tram/1.jpg")
    assert files(folder(tmp_path / "other"), Mode.TRAIN).keys() >= {"tram/1.jpg"}


def test_images_that_are_none_are_named_at_the_start_or_left_out_by_reason(tmp_path):
    write(tmp_path, [ANY] * 6, "a/1.jpg", "a/2.jpg", "a/3.jpg", "b/1.jpg", "b/2.jpg", "b/3.jpg")
    for name in ("a/2.jpg", "b/1.jpg"):
        (tmp_path / name).write_bytes(b"<html>404</html>")
    (tmp_path / "b/3.jpg").write_bytes(b"P5 9000 9000 255 " + bytes(10**4))
    with pytest.raises(DataError, match=r"a/2.jpg: it is no JPEG, PNG.* \(1 more in this split\)"):
        folder(tmp_path, eval_fraction=0.0, max_pixels=10**8)
    source = folder(tmp_path, eval_fraction=0.0, skip_corrupt=True, max_pixels=10**6)
    assert list(files(source, Mode.TRAIN)) == ["a/1.jpg", "a/3.jpg", "b/2.jpg"]
    (first, second), (reason, count) = source.data_report().splits[Mode.TRAIN].left_out.items()
    assert (first[:20], second) == ("it is no JPEG, PNG, G"[:20], 2)
    assert (reason, count) == ("it is N x N pixels, more than N (--input.max_pixels)", 1)


def test_a_class_with_the_parts_of_a_data_set_is_warned_of(tmp_path):
    write(tmp_path, [ANY] * 4, "own/train/a/1.jpg", "own/valid/a/1.jpg", "b/1.jpg", "b/train/2.jpg")
    (warning,) = (w for w in folder(tmp_path).data_report().warnings if w.kind == "parts_in_class")
    assert str(warning) == (
        f"the class own contains train/ and valid/; did you mean --input.data_dir {tmp_path}/own?"
    )


def test_nothing_to_read_and_nothing_to_evaluate(tmp_path):
    with pytest.raises(DataError, match=r"--input.data_dir is not given. Give --input.data_dir"):
        ImageFolder(params=Params())
    with pytest.raises(DataError, match=r"has no folder in it: no file either. It needs"):
        folder(tmp_path)
    write(tmp_path, [ANY], "1.jpg")
    with pytest.raises(DataError, match=r"has no folder in it: 1.jpg. It needs"):
        folder(tmp_path)
    write(tmp_path / "one", [ANY] * 3, "a/1.jpg", "b/1.jpg", "b2/1.txt")
    with pytest.raises(DataError, match=r"class folder .*/b2 has no image: it has 1.txt, and none"):
        folder(tmp_path / "one")
    (tmp_path / "one/b2/1.txt").unlink()
    with pytest.raises(DataError, match=r"class folder .*/b2 has no image. Remove it, or put"):
        folder(tmp_path / "one")
    with pytest.raises(DataError, match=r"has the folder one only, with the folders a, b, b2; if"):
        write(tmp_path / "around", [ANY] * 3, "one/a/1.jpg", "one/b/1.jpg", "one/b2/1.jpg")
        folder(tmp_path / "around")
    tmp_path /= "two"
    write(tmp_path, [ANY] * 2, "a/1.jpg", "a/2.jpg")
    source = folder(tmp_path, eval_fraction=0.0)
    assert source.info.num_examples == {Mode.TRAIN: 2, Mode.EVAL: 0, Mode.PREDICT: 0}
    with pytest.raises(NoDataError, match=r"eval_fraction 0.0 of .* leaves nothing to evaluate"):
        source.dataset(Mode.EVAL, InputContext(batch_size=1))
