"""Folders of VOC's XML and DOTA's text files as programs and people leave them."""

import numpy as np
import pytest
from PIL import Image

from tf_frame import Mode
from tf_frame.errors import DataError
from tf_frame_detection.inputs import dota, voc_xml
from tf_frame_vision.reading import cache

BOX = "<bndbox><xmin>7</xmin><ymin>5</ymin><xmax>26</xmax><ymax>20</ymax></bndbox>"  # No blank.
# As macOS writes next to each file of a foreign disk.
APPLE = bytes.fromhex("0005160700020000") + b"Mac OS X        " + bytes(40) + b"\xb0ATTR"
LINE = "6 4 26 4 26 20 6 20 ship 0\n"


def xml(inner=BOX):
    return f"<annotation><object><name>cone</name>{inner}</object></annotation>"


def image(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.zeros([32, 48, 3], np.uint8)).save(path, "PNG")


def text(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def voc_folder(root, names="abcd"):
    for name in names:
        image(root / f"JPEGImages/{name}.png")
        text(root / f"Annotations/{name}.xml", xml())


def dota_folder(root, names="abcd"):
    for name in names:
        image(root / f"images/{name}.png")
        text(root / f"labelTxt/{name}.txt", LINE)


def source(kind, root, **options):
    module, name = {"voc": (voc_xml, "VocXml"), "dota": (dota, "Dota")}[kind]
    values = {"image_size": (), "data_augmentation": (), "eval_fraction": 0.0, **options}
    return getattr(module, name)(params=module.Params(data_dir=str(root), **values))


def names(of, mode=Mode.TRAIN):
    return [photograph.path.name for photograph in of.splits[mode].content]


def test_hidden_files_are_none_and_endings_may_be_in_upper_case(tmp_path):
    voc_folder(tmp_path)
    (tmp_path / "Annotations/a.xml").rename(tmp_path / "Annotations/a.XML")
    (tmp_path / "JPEGImages/b.png").rename(tmp_path / "JPEGImages/b.PNG")
    for path in ("Annotations/._a.xml", "JPEGImages/._a.png", "Annotations/.DS_Store"):
        text(tmp_path / path, APPLE)
    of = source("voc", tmp_path)
    assert names(of) == ["a.png", "b.PNG", "c.png", "d.png"]
    assert of.notes() == ("files that are left out: hidden and system files (3)",)
    dota_folder(tmp_path / "dota")
    text(tmp_path / "dota/labelTxt/._a.txt", APPLE)
    text(tmp_path / "dota/images/Thumbs.db", b"\0")
    of = source("dota", tmp_path / "dota")
    assert names(of) == ["a.png", "b.png", "c.png", "d.png"]
    assert of.notes() == ("files that are left out: hidden and system files (2)",)
    text(tmp_path / "Annotations/a.xml", xml())
    with pytest.raises(DataError, match="has both a.XML and a.xml; remove one"):
        source("voc", tmp_path)


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        (
            "<polygon><x1>7</x1></polygon>",
            "object 2: it has no bndbox, but a polygon, which is not",
        ),
        ("<robndbox><cx>9</cx></robndbox>", "object 2: it has no bndbox, but a robndbox, which"),
        ("", "object 2: it has no bndbox"),
    ],
)
def test_an_object_without_a_box_takes_its_image_out(tmp_path, inner, message):
    voc_folder(tmp_path)
    for name in "ab":
        content = xml().replace("</annotation>", "") + xml(inner).replace("<annotation>", "")
        text(tmp_path / f"Annotations/{name}.xml", content)
    with pytest.raises(DataError, match=message) as caught:
        source("voc", tmp_path)
    assert "(1 more in this split)" in str(caught.value)
    of = source("voc", tmp_path, skip_corrupt=True)
    assert names(of) == ["c.png", "d.png"]
    (reason, count), *_ = of.data_report().splits[Mode.TRAIN].left_out.items()
    assert (reason[:16], count) == ("it has no bndbox", 2)


def test_lists_name_no_file_elsewhere_and_sizes_may_be_huge(tmp_path):
    root = tmp_path / "data"
    voc_folder(root)
    for path in ("far/a.jpg", "far/a.xml"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes((root / "Annotations/a.xml").read_bytes())
    for name in ("../../far/a", f"{tmp_path}/far/a"):
        text(root / "ImageSets/Main/train.txt", f"a\n{name}\n")
        with pytest.raises(DataError, match="train.txt: the path '.*far/a' leads out of the data"):
            source("voc", root)
    text(root / "ImageSets/Main/train.txt", "a\n")
    text(root / "Annotations/a.xml", xml().replace("<annotation>", f"<annotation>{HUGE}"))
    with pytest.raises(DataError, match="it says that .*a.png is 2147483647 x 2147483647"):
        source("voc", root)


HUGE = f"<size><width>{'9' * 30}</width><height>{'9' * 5000}</height></size>"


def test_images_without_an_annotation_are_named_and_counted(tmp_path):
    voc_folder(tmp_path)
    dota_folder(tmp_path)
    for kind, folder, suffix in (("voc", "Annotations", "xml"), ("dota", "labelTxt", "txt")):
        for name in "ab":
            (tmp_path / folder / f"{name}.{suffix}").unlink()
        message = rf"a.png has no annotation: write .*a.{suffix}, without .* \(1 more in"
        with pytest.raises(DataError, match=message):
            source(kind, tmp_path)
        of = source(kind, tmp_path, skip_corrupt=True)
        assert names(of) == ["c.png", "d.png"]
        assert of.data_report().splits[Mode.TRAIN].left_out == {"it has no annotation": 2}


def test_parts_are_found_by_the_one_rule(tmp_path):
    for split, files in (("train", "abc"), ("valid", "d"), ("test", "e")):
        dota_folder(tmp_path / "dota" / split, files)
        for name in files:  # Roboflow: side by side.
            image(tmp_path / f"roboflow/{split}/{name}.png")
            text(tmp_path / f"roboflow/{split}/{name}.xml", xml())
    voc_folder(tmp_path / "voc", "abcde")
    for split, content in (("train", "a\nb\n"), ("val", "c\n"), ("test", "d\n"), ("trainval", "e")):
        text(tmp_path / f"voc/ImageSets/Main/{split}.txt", content)
    for kind, folder, count in (("dota", "dota", 3), ("voc", "roboflow", 3), ("voc", "voc", 2)):
        of = source(kind, tmp_path / folder)
        assert [of.info.num_examples[mode] for mode in (Mode.TRAIN, Mode.EVAL)] == [count, 1]
        (note,) = of.notes()
        assert note.endswith("not used; --input.eval_split test evaluates the test part")
        other = source(kind, tmp_path / folder, eval_split="test")
        assert names(other, Mode.EVAL) != names(of, Mode.EVAL)
    for name in "ab":  # labelImg: side by side, and no parts.
        image(tmp_path / f"flat/{name}.png")
        text(tmp_path / f"flat/{name}.xml", xml())
    assert names(source("voc", tmp_path / "flat")) == ["a.png", "b.png"]


def test_a_class_of_dota_may_have_blanks_and_without_one_the_first_fault_is_named(tmp_path):
    dota_folder(tmp_path, "abc")
    text(tmp_path / "labelTxt/a.txt", LINE.replace("ship", "storage  tank"))
    text(tmp_path / "labelTxt/b.txt", LINE.replace("ship 0", "storage tank"))
    of = source("dota", tmp_path)
    assert of.class_names == ["ship", "storage tank"]
    assert [one.marks[0].number for one in of.splits[Mode.TRAIN].content] == [1, 1, 0]
    for name in "abc":
        text(tmp_path / f"labelTxt/{name}.txt", LINE.replace("ship 0", "ship 0 1"))
    with pytest.raises(DataError, match=r"class; the first .*a.txt, line 1: it has 11 fields ins"):
        source("dota", tmp_path)
    voc_folder(tmp_path, "a")
    text(tmp_path / "Annotations/a.xml", xml().replace("cone", " "))
    with pytest.raises(DataError, match=r"a.xml, object 1: its class has no name"):
        source("voc", tmp_path)
    text(tmp_path / "Annotations/a.xml", xml(""))
    with pytest.raises(DataError, match=r"class; the first .*a.xml, object 1: it has no bndbox"):
        source("voc", tmp_path)


@pytest.mark.parametrize("kind", ["voc", "dota"])
def test_an_image_is_its_path_below_the_folder_of_images(tmp_path, kind):
    write, lists = {"voc": voc_folder, "dota": dota_folder}[kind], tmp_path / "ImageSets/Main"
    write(tmp_path, ["a", "x/a", "x/b", "y/a"])
    paths = [photograph.path for photograph in source(kind, tmp_path).splits[Mode.TRAIN].content]
    folder = tmp_path / {"voc": "JPEGImages", "dota": "images"}[kind]
    assert paths == [folder / f"{name}.png" for name in ("a", "x/a", "x/b", "y/a")]
    with pytest.raises(DataError, match="no part called test"):
        source(kind, tmp_path, eval_split="test")
    if kind == "voc":
        text(lists / "train.txt", "x/b\nx/a\n")
        text(lists / "test.txt", "y/a\n")
        of = source(kind, tmp_path)
        assert [names(of), names(of, Mode.EVAL)] == [["b.png", "a.png"], ["a.png"]]
        assert of.splits[Mode.EVAL].content[0].path == folder / "a.png"
    write(tmp_path / "parts", ["train/a", "train/b", "test/a"])
    of = source(kind, tmp_path / "parts")
    assert (names(of), of.splits[Mode.EVAL].count) == (["a.png", "b.png"], 0)
    assert "test is not used" in of.notes()[0]


def test_rotated_boxes_of_yolo_are_no_dota(tmp_path):
    for n in range(3):
        image(tmp_path / f"images/p{n}.png")
        text(tmp_path / f"labels/p{n}.txt", "0 0.125 0.125 0.5 0.125 0.5 0.6 0.125 0.625\n")
    for options in ({}, {"skip_corrupt": True}):
        with pytest.raises(DataError, match="p0.txt is YOLO-OBB: --input yolo"):
            source("dota", tmp_path, **options)


def test_files_are_read_once(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "KEPT_AFTER_SECS", 0)
    voc_folder(tmp_path)
    dota_folder(tmp_path)
    text(tmp_path / "Annotations/a.xml", "<annotation>")
    text(tmp_path / "labelTxt/a.txt", "1 2 3\n")
    first = {kind: source(kind, tmp_path, skip_corrupt=True) for kind in ("voc", "dota")}
    read, reads = voc_xml.read_xml, []
    monkeypatch.setattr(voc_xml, "read_xml", lambda path: reads.append(path.name) or read(path))
    monkeypatch.setattr(dota, "read_lines", None)
    monkeypatch.setattr("tf_frame_vision.reading.headers.open_image", None)
    for kind, of in first.items():
        again = source(kind, tmp_path, skip_corrupt=True).splits[Mode.TRAIN]
        assert list(again.content) == list(of.splits[Mode.TRAIN].content)
        assert again.damaged == of.splits[Mode.TRAIN].damaged
    # A file that cannot be used may have been mended.
    assert reads == ["a.xml"]
