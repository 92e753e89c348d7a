"""A folder of another format is named in the error of the input that it was given to."""

import pytest

from tf_frame.errors import ConfigError, DataError, NoDataError
from tf_frame_vision.formats import look_alikes
from tf_frame_vision.formats.look_alikes import naming_look_alikes, recognise

COCO = '{"info": {}, "images": [%s{}], "categories": []}'
FILES = {
    look_alikes.BOXES: ("labels/a.txt", "\n0 0.5 0.5 0.25 1\n"),
    look_alikes.OBB: ("a.txt", "1 0.1 0.2 0.5 0.2 0.5 1.1 0.1 0.6 0.93"),
    look_alikes.SEGMENTS: ("a.txt", "1 0.1 0.2 0.5 0.2 0.5 0.6"),
    look_alikes.LABELME: ("a.json", '{"version": "5.5.0",\n "shapes": [\n'),
    look_alikes.COCO: ("sub/a.json", COCO % ("{}, " * 100_000)),
    look_alikes.VOC: ("Annotations/a.xml", "<annotation><size/><object></object></annotation>"),
    look_alikes.DOTA: ("labels/a.txt", "1 2 3 4 5 6 7 8 ship 0"),
    look_alikes.MASKS: ("masks/a/b.png", ""),
    "": ("README.txt", "0 is the first class"),
    "  ": ("notes.json", '{"categories": [{"id": 0}], "info": {}}'),
    " ": ("a.json", '{"shapes": 3}'),
}


@pytest.mark.parametrize("name", FILES)
def test_formats(tmp_path, name):
    path, content = FILES[name]
    (tmp_path / path).parent.mkdir(exist_ok=True, parents=True)
    (tmp_path / path).write_text(content)
    (tmp_path / "aaa.txt").write_text("imagesource" if name == look_alikes.DOTA else "words")
    assert recognise(tmp_path) == ({name: tmp_path / path} if name.strip() else {})


def test_errors_get_a_sentence_where_it_helps(tmp_path):
    (tmp_path / "a.txt").write_text("imagesource:x")
    inputs = {look_alikes.DOTA: "--input dota"}

    def text(error, *own):
        with pytest.raises(type(error)) as caught, naming_look_alikes(str(tmp_path), inputs, own):
            raise error
        return str(caught.value)

    sentence = f". {tmp_path}/a.txt is DOTA's text files: --input dota"
    assert text(DataError("nothing here.")) == f"nothing here{sentence}"
    assert text(ConfigError("nothing here")) == f"nothing here{sentence}"
    assert text(DataError("no; give --input dota")) == "no; give --input dota"
    assert text(DataError("damaged"), look_alikes.DOTA) == "damaged"
    assert text(NoDataError("no part")) == f"no part{sentence}"
    (tmp_path / "a.txt").unlink()
    assert text(DataError("nothing here.")) == "nothing here."
