"""Annotation files as other programs write them: encodings, line ends, names in other forms."""

import json

import pytest

from tf_frame import Mode
from tf_frame.errors import DataError
from tf_frame_detection.inputs import coco_json, dota, voc_xml
from tf_frame_detection.inputs.annotation_files import read_list
from tf_frame_vision.reading.class_names import read_class_names

INPUTS = {"coco_json": coco_json.CocoJson, "voc_xml": voc_xml.VocXml, "dota": dota.Dota}

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def source(name, folder):
    params = INPUTS[name].Params(data_dir=str(folder), image_size=(), data_augmentation=())
    return INPUTS[name](params=params)


def class_numbers(of, mode=Mode.TRAIN):
    """The numbers of the classes of each photograph."""
    return [[mark.number for mark in photograph.marks] for photograph in of.splits[mode].content]


def rewrite(path, encoding, **replaced):
    """Writes an XML file again, in an encoding that it declares, with other texts."""
    text = path.read_text()
    for old, new in replaced.items():
        text = text.replace(old, new)
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n{text}'
    path.write_bytes(text.encode(encoding))


def test_xml_is_read_in_its_encoding(forms, tmp_path):
    folder = forms.voc_xml(tmp_path) / "Annotations"
    rewrite(folder / "a.xml", "gb2312", cat="\u9525")
    rewrite(folder / "c.xml", "iso-8859-1", dog="c\u00f4ne")
    rewrite(folder / "d.xml", "utf-16", cat="c\u00f4ne")
    of = source("voc_xml", tmp_path)
    assert of.info.class_names == ("c\u00f4ne", "dog", "\u9525")
    assert class_numbers(of) == [[2, 1], [], [0]]


def test_xml_with_entities_is_refused(forms, tmp_path):
    path = forms.voc_xml(tmp_path) / "Annotations/a.xml"
    path.write_text('<!DOCTYPE a [<!ENTITY e SYSTEM "/etc/passwd">]>' + path.read_text())
    with pytest.raises(DataError, match=r"a\.xml declares the entity 'e'"):
        source("voc_xml", tmp_path)


def test_names_of_classes_are_compared_in_one_form(forms, tmp_path):
    folder = forms.dota(tmp_path)
    for split, name, cat in (("train", "a", COMPOSED), ("val", "d", DECOMPOSED)):
        path = folder / split / "labelTxt" / f"{name}.txt"
        path.write_text(path.read_text().replace("cat", cat), encoding="utf-8")
    of = source("dota", folder)
    assert of.info.class_names in [(COMPOSED, "dog"), (DECOMPOSED, "dog")]
    assert class_numbers(of, Mode.EVAL) == [[0]]
    (folder / "classes.txt").write_text(f"dog\n{DECOMPOSED}\n", encoding="utf-16")
    assert class_numbers(source("dota", folder))[0] == [1, 0]


def test_lines_of_other_ends_and_a_class_with_white_space_of_unicode(forms, tmp_path):
    folder = forms.dota(tmp_path)
    path = folder / "train/labelTxt/a.txt"
    text = path.read_text().replace("\n", "\r").replace("cat", "c\u00a0at\u2028s")
    path.write_bytes(text.encode("utf-8-sig"))
    of = source("dota", folder)
    assert set(of.info.class_names) == {"c\u00a0at\u2028s", "cat", "dog"}
    assert len(class_numbers(of)[0]) == 2


def test_json_in_utf_16(forms, tmp_path):
    path = forms.coco_json(tmp_path) / "annotations/instances_val2017.json"
    path.write_text(json.dumps(json.loads(path.read_text())), encoding="utf-16")
    assert source("coco_json", tmp_path).info.num_examples[Mode.EVAL] == 1


def test_lists_have_names_with_blanks_and_numbers(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text(f"IMG (1)\r\n 000012  -1\n{DECOMPOSED} 2\n")
    assert read_list(path, ["IMG (1)", f"{COMPOSED} 2"]) == ["IMG (1)", "000012", f"{COMPOSED} 2"]


def test_lists_may_have_the_endings_of_files(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("a.jpg 1\nb.XML\nc.d\nnone.jpg\nv1.txt\n")
    expected = ["a", "b", "c.d", "none.jpg", "v1.txt"]
    assert read_list(path, ["a", "b", "c", "v1", "v1.txt"]) == expected


def test_classes_keep_their_blanks_and_are_named_once(tmp_path):
    path = tmp_path / "classes.txt"
    path.write_text(f"traffic  light \r\r\n\t{COMPOSED}\n")
    assert read_class_names(path) == ["traffic  light", COMPOSED]
    path.write_text(f"{COMPOSED}\n{DECOMPOSED}\n")
    with pytest.raises(DataError, match="twice"):
        read_class_names(path)
