"""Changes of a training as words and variables."""

from tf_frame.experiments.variant import Variant


def test_options_come_last_so_that_they_win():
    variant = Variant({"xla": "true"}, {"MALLOC_ARENA_MAX": "2"})
    words = variant.words(["--noxla"])
    assert words == ["--noxla", "--xla=true", "--environment=MALLOC_ARENA_MAX=2"]
    assert str(variant) == "MALLOC_ARENA_MAX=2 --xla=true"


def test_the_other_option_of_a_pair_is_unset():
    words = Variant({"save_checkpoint_secs": "600"}).words(["--save_checkpoint_steps=1"])
    assert words[1:] == ["--save_checkpoint_steps=none", "--save_checkpoint_secs=600"]


def test_a_hook_is_left_out_by_naming_the_others():
    words = Variant({"hook": "b"}).words(["--hook=a", "--hook=b:9"])
    assert words == ["--hook=a", "--hook=b:9", "--hook=", "--hook=b"]


def test_changes_of_both():
    both = Variant({"a": "1", "b": "1"}, {"X": "1"}) | Variant({"b": "2"}, {"Y": "2"})
    assert both == Variant({"a": "1", "b": "2"}, {"X": "1", "Y": "2"})
