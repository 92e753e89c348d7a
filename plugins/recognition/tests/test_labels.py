import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, DataError
from tf_frame_recognition.labels import LabelMap, comparable, load_label_map


def evaluate(make):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(make())


def test_the_maps_have_their_characters():
    sizes = {name: len(load_label_map(name).characters) for name in ("digits", "lower", "case")}
    assert sizes == {"digits": 10, "lower": 36, "case": 62}
    printable = load_label_map("printable").characters
    assert sorted(printable) == [chr(code) for code in range(33, 127)]
    assert load_label_map("lower").ids("0aZ") == [0, 10, 35]
    assert load_label_map("case").ids("0aZ") == [0, 10, 61]


def test_a_file_has_a_character_a_line(tmp_path):
    path = tmp_path / "characters.txt"
    path.write_bytes("\ufeffé\r\n \nß\n".encode())
    label_map = load_label_map(str(path))
    assert label_map.characters == ("é", " ", "ß")
    assert label_map.text([2, 1, 0, -1, -1]) == "ß é"
    for text, message in (
        ("a\nbc\n", r"characters.txt: character 1 .* 'bc', is not one"),
        ("a\na\n", "has the character 'a' twice"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigError, match=message):
            load_label_map(str(path))


def test_unknown_maps_and_characters_are_named():
    with pytest.raises(ConfigError, match="none of digits, .*, and there is no such file"):
        load_label_map("klingon")
    with pytest.raises(DataError, match="does not have the character 'x' of '1x'"):
        load_label_map("digits").ids("1x")


# Characters of a map, and texts that are one word in it.
FORMS = {
    "composed": ("a\u00e9", ["a\u00e9", "ae\u0301"]),
    "decomposed": ("ae\u0301", ["a\u00e9", "ae\u0301"]),
    "syllables": ("\ud55c", ["\ud55c", "\u1112\u1161\u11ab"]),
    "letters of syllables": ("\u1112\u1161\u11ab", ["\ud55c", "\u1112\u1161\u11ab"]),
    "a letter without a composed form": ("\u0958", ["\u0958"]),
}


@pytest.mark.parametrize(("characters", "texts"), FORMS.values(), ids=FORMS)
def test_accents_are_looked_up_in_any_form(characters, texts):
    label_map = LabelMap(characters)
    expected = list(range(len(characters)))
    assert [label_map.ids(text) for text in texts] == [expected] * len(texts)
    looked_up = evaluate(lambda: [label_map.padded_ids(tf.constant(text), 3) for text in texts])
    assert [(ids[ids >= 0].tolist(), problem) for ids, problem in looked_up] == [
        (expected, b"")
    ] * len(texts)
    assert [label_map.find_problem(text, 3) for text in texts] == [""] * len(texts)


def test_a_letter_and_its_accent_are_one_line(tmp_path):
    (tmp_path / "characters.txt").write_text("a\ne\u0301\n")
    assert load_label_map(str(tmp_path / "characters.txt")).characters == ("a", "\u00e9")


def test_texts_become_numbers_and_numbers_texts_in_the_graph():
    label_map = LabelMap("aéß", folds_case=True)
    texts = ["ÉaA", "", "aaaaa", "axé", b"a\xff"]

    def fetches():
        looked_up = [label_map.padded_ids(tf.constant(text), 4) for text in texts]
        ids = tf.stack([ids for ids, _ in looked_up])
        return ids, tf.stack([problem for _, problem in looked_up]), label_map.strings(ids)

    ids, problems, strings = evaluate(fetches)
    np.testing.assert_array_equal(ids[0], [1, 0, 0, -1])
    np.testing.assert_array_equal(ids[1], [-1] * 4)
    assert strings[0].decode() == "éaa" and strings[1] == b""
    problems = [problem.decode(errors="replace") for problem in problems]
    assert [label_map.find_problem(text, 4) for text in texts[:4]] == problems[:4]
    assert problems == [
        "",
        "its text is empty",
        "its text aaaaa has 5 characters; --input.max_length is 4",
        "its text axé has the character x, which --input.characters does not have",
        "its text a\ufffd has the character \ufffd, which --input.characters does not have",
    ]


@pytest.mark.parametrize(
    ("case_sensitive", "punctuation", "expected"),
    [(True, True, "Don't É-2"), (False, True, "don't é-2"), (False, False, "donté2")],
)
def test_protocols_compare_without_case_and_punctuation(case_sensitive, punctuation, expected):
    options = {"case_sensitive": case_sensitive, "punctuation": punctuation}
    (text,) = evaluate(lambda: comparable(tf.constant(["Don't É-2"]), **options))
    assert text.decode() == expected
