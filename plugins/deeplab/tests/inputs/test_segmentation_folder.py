import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from segmentation_folders import names, picture, random_classes, random_image, source, take, write
from sessions import run_initialized
from tf_frame import InputContext, Mode
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import ConfigError, DataError, NoDataError
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_deeplab.inputs.segmentation_folder import SegmentationFolder
from tf_frame_deeplab.model import DeepLab

pytestmark = pytest.mark.usefixtures("graph")

COLOURS = [(0, 0, 0), (200, 30, 30), (30, 200, 30)]


@pytest.mark.slow
def test_two_folders_of_the_same_names_are_pairs(tmp_path):
    of = source(write(tmp_path), eval_fraction=0.5)
    assert of.info.num_examples == {Mode.TRAIN: 2, Mode.EVAL: 2, Mode.PREDICT: 2}
    assert of.info.class_names == ("background", "nucleus", "boundary")
    assert of.info.ignore_label == 255
    held_out = names(of, Mode.EVAL)
    assert sorted([*names(of, Mode.TRAIN), *held_out]) == ["p0", "p1", "p2", "p3"]
    ((features, labels),) = take(of, Mode.EVAL)
    for name, image, mask in zip(held_out, features["image"], labels["semantic"], strict=True):
        number = int(name[1:])
        np.testing.assert_array_equal(image, random_image(number))
        np.testing.assert_array_equal(mask, random_classes(number))


def test_all_pairs_are_evaluated_where_the_fraction_is_one(tmp_path):
    of = source(write(tmp_path), eval_fraction=1.0)
    assert of.info.num_examples == {Mode.TRAIN: 4, Mode.EVAL: 4, Mode.PREDICT: 4}


@pytest.mark.parametrize(
    ("form", "params"),
    [
        ({"images": ".", "masks": ".", "ending": "bmp"}, {}),
        ({"images": ".", "masks": ".", "suffix": "_mask"}, {}),
        ({"images": "JPEGImages", "masks": "SegmentationClass"}, {}),
        ({"suffix": "_labels"}, {"mask_suffix": "_labels"}),
    ],
    ids=["side by side", "the usual suffix", "VOC's names", "a suffix that is given"],
)
def test_other_forms_of_a_folder(tmp_path, form, params):
    of = source(write(tmp_path, **form), eval_fraction=0.0, **params)
    assert names(of, Mode.TRAIN) == ["p0", "p1", "p2", "p3"]
    with pytest.raises(NoDataError, match="leaves nothing to evaluate"):
        of.dataset(Mode.EVAL, InputContext(batch_size=1))


def test_train_and_val_are_folders_or_lists(tmp_path):
    both = tmp_path / "both"
    write(both / "train")
    write(both / "val", range(4, 6))
    (both / "classes.txt").write_text("a\nb\nc\n")
    of = source(both)
    assert (names(of, Mode.TRAIN)[-1], names(of, Mode.EVAL)) == ("p3", ["p4", "p5"])
    lists = write(tmp_path / "lists")
    (lists / "train.txt").write_text("p2\np0\n")
    of = source(lists)
    assert (names(of, Mode.TRAIN), names(of, Mode.EVAL)) == (["p2", "p0"], ["p1", "p3"])
    picture(lists / "images" / "unlabelled.png", random_image(9))
    (lists / "few.txt").write_text("p1\n")
    assert names(source(lists, eval_list=str(lists / "few.txt")), Mode.EVAL) == ["p1"]


LAYOUTS = {
    "Roboflow": ("{}", {"images": ".", "masks": ".", "ending": "jpg", "suffix": "_mask"}, ()),
    "folders": ("{}", {}, ()),
    "Ultralytics": (".", {"images": "images/{}", "masks": "labels/{}"}, ()),
    "lists": (".", {}, "{}.txt"),
    "VOC's lists": (".", {"images": "JPEGImages", "masks": "SegmentationClass"}, True),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_rule_finds_the_parts_of_every_layout(tmp_path, layout):
    place, form, lists = LAYOUTS[layout]
    for split, numbers in (("Train", (0, 1, 2)), ("valid", (3,)), ("test", (4,))):
        form_of_part = {key: value.format(split) for key, value in form.items()}
        write(tmp_path / place.format(split), numbers, **form_of_part)
        if lists:
            folder = tmp_path / ("ImageSets/Segmentation" if lists is True else ".")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{split}.txt").write_text("\n".join(f"p{n}" for n in numbers))
    (tmp_path / "classes.txt").write_text("a\nb\nc\n")
    of = source(tmp_path)
    parts = (names(of, Mode.TRAIN), names(of, Mode.EVAL))
    assert parts == (["p0", "p1", "p2"], ["p3"])
    ending = ".txt" if lists else ""
    hint = "; --input.eval_split test evaluates the test part"
    assert of.notes() == (f"test{ending} is not used{hint}",)
    of = source(tmp_path, eval_split="test")
    assert (names(of, Mode.TRAIN), names(of, Mode.EVAL)) == (["p0", "p1", "p2"], ["p4"])
    assert of.notes() == (f"valid{ending} is not used",)


def test_a_test_part_alone_is_not_evaluated_and_default_is_undivided(tmp_path):
    for folder in ("a/train", "a/test"):
        write(tmp_path / folder)
    (tmp_path / "a" / "classes.txt").write_text("a\nb\nc\n")
    of = source(tmp_path / "a", eval_fraction=0.25)
    assert len(names(of, Mode.TRAIN)) == 3 and len(names(of, Mode.EVAL)) == 1
    assert of.splits[Mode.EVAL].content[0][0].image.parent == tmp_path / "a/train/images"
    assert "test is not used" in of.notes()[0]
    whole = write(tmp_path / "b")
    (whole / "default.txt").write_text("p0\np1\np2\np3\n")
    of = source(whole, eval_fraction=0.25)
    assert of.info.num_examples[Mode.TRAIN] == 3 and of.info.num_examples[Mode.EVAL] == 1
    with pytest.raises(DataError, match="--input.eval_split test: .* has no part called test or"):
        source(write(tmp_path / "c"), eval_split="test")


@pytest.mark.parametrize("eval_split", ["val", "test"])
def test_images_of_a_list_that_is_not_used_are_not_trained_on(tmp_path, eval_split):
    write(tmp_path)
    (tmp_path / "valid.txt").write_text("p0\n")
    (tmp_path / "test.txt").write_text("p1\nunlabelled\n" if eval_split == "val" else "p1\n")
    of = source(tmp_path, eval_split=eval_split)
    evaluated = ["p0" if eval_split == "val" else "p1"]
    assert (names(of, Mode.TRAIN), names(of, Mode.EVAL)) == (["p2", "p3"], evaluated)
    assert "txt is not used" in of.notes()[0]
    (tmp_path / "few.txt").write_text("p2\n")
    if eval_split == "val":
        of = source(tmp_path, eval_list=str(tmp_path / "few.txt"))
        assert (names(of, Mode.TRAIN), names(of, Mode.EVAL)) == (["p0", "p3"], ["p2"])
        assert of.notes()[0].startswith("test.txt and valid.txt are not used")


def test_an_image_is_its_path_and_names_match_in_any_normal_form(tmp_path):
    composed, separate = "\xe9", "e\u0301"
    for number, name in enumerate(["a/p", "b/p", separate]):
        mask = name.replace(separate, composed)
        picture(tmp_path / "images" / f"{name}.JPG", random_image(number))
        picture(tmp_path / "masks" / f"{mask}.PNG", random_classes(number))
        (tmp_path / "images" / f"{name}x.png").parent.mkdir(exist_ok=True)
    for name in ("images/._p.jpg", "images/a/Thumbs.db", "masks/.DS_Store", "masks/a/._p.png"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "classes.txt").write_text("a\nb\nc\n")
    of = source(tmp_path, eval_fraction=0.0)
    assert names(of, Mode.TRAIN) == ["a/p", "b/p", composed]
    lists = {"train": f"b\\p\n{separate}.JPG\n./b/p\n", "val": "a/p.jpg\n"}
    for name, text in lists.items():
        (tmp_path / f"{name}.txt").write_text(text)
    of = source(tmp_path)
    assert (names(of, Mode.TRAIN), names(of, Mode.EVAL)) == (["b/p", composed], ["a/p"])
    assert of.notes() == (
        f"1 lines of {tmp_path}/train.txt repeat a name; an image counts once",
        "files that are left out: hidden and system files (4)",
    )
    for (features, labels), number in zip(take(of, Mode.EVAL, batch_size=1), [0], strict=True):
        np.testing.assert_array_equal(labels["semantic"][0], random_classes(number))
        assert features["name"][0].decode().endswith("images/a/p.JPG")


@pytest.mark.slow
def test_images_and_masks_side_by_side_in_sub_folders(tmp_path):
    for number, name in enumerate(["p", "a/p", "b/c/p"]):
        picture(tmp_path / f"{name}.jpg", random_image(number))
        picture(tmp_path / f"{name}.png", random_classes(number))
    (tmp_path / "classes.txt").write_text("a\nb\nc\n")
    (tmp_path / "val.txt").write_text("a/p\n")
    of = source(tmp_path)
    assert (names(of, Mode.TRAIN), names(of, Mode.EVAL)) == (["b/c/p", "p"], ["a/p"])
    ((_, labels),) = take(of, Mode.EVAL, batch_size=1)
    np.testing.assert_array_equal(labels["semantic"][0], random_classes(1))


@pytest.mark.parametrize("name", ["../p1", "/etc/passwd", "..\\p1", "images/p1", "a/../../p1"])
def test_a_list_names_images_of_the_folder_only(tmp_path, name):
    write(tmp_path / "data")
    picture(tmp_path / "p1.png", random_image(1))
    (tmp_path / "data" / "train.txt").write_text(f"p0\n{name}\n")
    with pytest.raises(DataError, match="lists .*p1|passwd, but there is no such image with a"):
        source(tmp_path / "data")


def test_text_files_may_have_a_byte_order_mark_and_images_of_both_lists_are_told(tmp_path):
    write(tmp_path)
    for name, text in (("classes", "a\r\nb\r\nc\r\n"), ("val", "p2\r\np0\r\n")):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8-sig")
    of = source(tmp_path)
    assert of.info.class_names == ("a", "b", "c")
    assert names(of, Mode.EVAL) == ["p2", "p0"]
    (tmp_path / "images/p3.png").rename(tmp_path / "images/cafe\u0301 1.png")
    (tmp_path / "masks/p3.png").rename(tmp_path / "masks/caf\u00e9 1.png")
    (tmp_path / "train.txt").write_text("p1\np2\ncafe\u0301 1", encoding="utf-16")
    (warning,) = source(tmp_path).data_report().warnings
    assert "share 1 image, such as" in str(warning)


def kinds(folder):
    """The same classes as masks of every kind; returns the names."""
    mask = np.tile(np.arange(2, dtype=np.uint8), [24, 16])
    three = np.tile(np.array([0, 1, 2, 1], np.uint8), [24, 8])
    made = {
        "grey": lambda path: picture(path, three),
        "16 bits": lambda path: picture(path, three.astype(np.uint16)),
        "1 bit": lambda path: Image.fromarray(mask > 0).save(path),
        "colour": lambda path: picture(path, np.array(COLOURS, np.uint8)[three]),
    }
    for bits in (2, 4, 8):
        made[f"palette of {bits} bits"] = lambda path, bits=bits: with_palette(path, three, bits)
    (folder / "classes.txt").write_text(
        "\n".join(f"{n} {r} {g} {b}" for n, (r, g, b) in zip("abc", COLOURS, strict=True))
    )
    (folder / "masks").mkdir()
    for name, make in made.items():
        picture(folder / "images" / f"{name}.png", random_image(0))
        make(folder / "masks" / f"{name}.png")
    return {name: mask if name == "1 bit" else three for name in made}


def with_palette(path, pixels, bits):
    """Saves a palette of one colour, so that only the indices differ between classes."""
    image = Image.fromarray(pixels)
    image.putpalette([7, 7, 7] * 256)
    image.save(path, bits=bits)


def test_masks_of_every_kind_are_classes(tmp_path):
    expected = kinds(tmp_path)
    (tmp_path / "val.txt").write_text("\n".join(expected))
    (tmp_path / "train.txt").write_text("grey")
    of = source(tmp_path)
    assert of.info.class_colours == tuple(COLOURS)
    batches = take(of, Mode.EVAL, batch_size=1)
    assert len(batches) == len(expected) == 7
    for (_, labels), (name, mask) in zip(batches, expected.items(), strict=True):
        np.testing.assert_array_equal(labels["semantic"][0], mask, err_msg=name)


@pytest.mark.slow
def test_evaluation_pads_to_the_largest_image_of_a_batch_or_to_a_size(tmp_path):
    write(tmp_path)
    for number, size in ((0, (24, 40)), (1, (30, 32))):
        picture(tmp_path / "images" / f"p{number}.png", random_image(number, size))
        picture(tmp_path / "masks" / f"p{number}.png", random_classes(number, size))
    (tmp_path / "val.txt").write_text("p0\np1\n")
    ((features, labels),) = take(source(tmp_path), Mode.EVAL)
    assert features["image"].shape == (2, 30, 40, 3)
    assert (features["image"][1, :, 32:] == 127.5).all()
    assert (labels["semantic"][0, 24:] == 255).all()
    ((features, labels),) = take(source(tmp_path, eval_crop_size=(48, 64)), Mode.EVAL)
    assert features["image"].shape == (2, 48, 64, 3)
    assert (labels["semantic"][1, :, 32:] == 255).all()


def test_prediction_and_exports_resize_images_as_an_evaluation_does(tmp_path):
    write(tmp_path)
    file = tmp_path / "images" / "p0.png"
    picture(file, random_image(0, (24, 40)))
    picture(tmp_path / "masks" / "p0.png", random_classes(0, (24, 40)))
    (tmp_path / "val.txt").write_text("p0\n")
    of = source(tmp_path, min_resize_value=12, resize_factor=4)
    ((evaluated, _),) = take(of, Mode.EVAL, batch_size=1)
    assert evaluated["image"].shape == (1, 13, 21, 3)
    of_file = of.prediction_dataset([str(file)], InputContext(batch_size=1))
    predicted = run_initialized(tf.data.make_one_shot_iterator(of_file).get_next())
    assert predicted["original_size"].tolist() == [[24, 40]]
    forms = of.raw_serving()
    encoded = forms["encoded"].features({"image_bytes": tf.constant([file.read_bytes()])})
    exact = of.raw_serving(fixed_size=(24, 40))["pixels"]
    fixed = exact.features({"image": tf.zeros([1, 24, 40, 3], tf.uint8)})
    assert fixed["image"].shape == (1, 24, 40, 3)
    for image in (predicted["image"], run_initialized(encoded["image"])):
        np.testing.assert_array_equal(image, evaluated["image"])


def test_training_crops_have_one_size_and_their_labels(tmp_path):
    write(tmp_path)
    for number, size in enumerate([(1, 1), (1, 50), (50, 1)]):
        picture(tmp_path / f"images/p{number}.png", random_image(number, size))
        picture(tmp_path / f"masks/p{number}.png", random_classes(number, size))
    of = source(tmp_path, crop_size=(40, 20), eval_fraction=0.0)
    for features, labels in take(of, Mode.TRAIN, count=4):
        assert features["image"].shape == (2, 40, 20, 3)
        beyond = (features["image"] == 127.5).all(axis=3)
        assert (labels["semantic"][beyond] == 255).all()
        assert set(np.unique(labels["semantic"])) <= {0, 1, 2, 255}


@pytest.mark.parametrize(
    ("params", "remark"),
    [
        (
            {"crop_size": (64,)},
            "training crops, 64 x 64, have 5.3 times the pixels of the largest image; "
            "--input.crop_size 32,32 makes a step faster",
        ),
        ({"crop_size": (32, 48)}, "--input.crop_size 32,32 makes a step faster"),
        ({"crop_size": (16, 256)}, "--input.crop_size 16,32 makes a step faster"),
        ({"crop_size": (32, 32)}, None),
        ({"crop_size": (64,), "min_resize_value": 64}, None),
    ],
)
def test_crops_much_larger_than_the_images_are_told(tmp_path, params, remark):
    remarks = source(write(tmp_path), **params).data_report().remarks
    if remark is None:
        assert remarks == ()
    else:
        assert len(remarks) == 1
        assert remarks[0].endswith(remark)


def test_few_held_out_examples_are_told_and_named(tmp_path):
    of = source(write(tmp_path, range(8)))
    assert of.notes() == (
        "1 held-out example: figures of so few vary by chance; --input.eval_fraction 0.3 holds out "
        "about 2 of 8",
    )
    (held_out,) = of.data_report().splits[Mode.EVAL].names
    assert held_out == f"images/{names(of, Mode.EVAL)[0]}.png"
    assert of.data_report().splits[Mode.TRAIN].names == ()
    assert source(tmp_path, eval_fraction=0.3).notes() == ()
    assert source(tmp_path, eval_fraction=1).notes() == ()
    (tmp_path / "val.txt").write_text("p0\n")
    assert source(tmp_path).notes() == ()


def test_colours_of_training_crops_are_varied_where_an_option_says_so(tmp_path):
    write(tmp_path)
    fixed = {"crop_size": (48,), "flip": False, "min_scale_factor": 1.0, "max_scale_factor": 1.0}
    as_they_are, varied = (
        take(source(tmp_path, eval_fraction=0.0, distort_colors=flag, **fixed), Mode.TRAIN, count=2)
        for flag in (False, True)
    )
    for (before, labels), (after, same_labels) in zip(as_they_are, varied, strict=True):
        np.testing.assert_array_equal(labels["semantic"], same_labels["semantic"])
        image = np.s_[:, :24, :32]
        assert np.abs(after["image"][image] - before["image"][image]).mean() > 5
        assert after["image"].min() >= 0
        assert after["image"].max() <= 255
        # Pixels beyond the image stay the mean pixel.
        assert (after["image"][:, 24:] == 127.5).all()


@pytest.mark.slow
def test_a_position_can_be_saved(tmp_path):
    of = source(write(tmp_path), crop_size=(16,), eval_fraction=0.0)
    check_exact_resume(of, batch_size=2, steps=3)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"crop_size": (1, 2, 3)}, "--input.crop_size: give HEIGHT,WIDTH"),
        (
            {"eval_split": "test", "eval_list": "x"},
            "eval_split test and --input.eval_list both choose",
        ),
        ({"min_scale_factor": 3.0}, "--input.min_scale_factor 3.0 is greater than"),
        ({"resize_factor": 16}, "have no effect without --input.min_resize_value"),
        ({"min_resize_value": 9, "max_resize_value": 8}, "--input.min_resize_value 9 is greater"),
    ],
)
def test_options_that_contradict_each_other_are_refused(tmp_path, params, expected):
    with pytest.raises(ConfigError, match=expected):
        source(write(tmp_path), **params)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [Mode.TRAIN, pytest.param(Mode.EVAL, marks=pytest.mark.slow)])
def test_edges_are_where_classes_meet(tmp_path, mode):
    write(tmp_path)
    params = {"edges": True, "crop_size": (24, 40), "max_scale_factor": 1}
    ((_, labels),) = take(source(tmp_path, **params), mode, 1)
    assert 0 < np.mean(labels["semantic"] == 255) < 1
    for classes, edges in zip(labels["semantic"], labels["edge"], strict=True):
        known = classes != 255
        np.testing.assert_array_equal(edges == 255, ~known)
        for row, column in np.argwhere(known):
            window = np.s_[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
            near = classes[window][known[window]]
            assert edges[row, column] == (len(set(near)) > 1)


def test_a_head_for_edges_asks_for_them(tmp_path):
    argv = ["--plugin", "deeplab", "--input", "segmentation_folder"]
    setup = parse_command_line([*argv, "--model.heads", "semantic,edge"]).setup()
    assert setup.input.params.edges
    assert not parse_command_line(argv).setup().input.params.edges
    output = DeepLab(params=setup.model.params, info=source(write(tmp_path)).info)
    assert set(output.label_names) <= set(SegmentationFolder.label_names)
