"""tools/release/sbom.py: the part of an environment that a wheel needs."""

import hashlib


def component(name):
    reference = {"type": "distribution", "url": "file:///tmp/dist"}
    return {"bom-ref": f"{name}==1", "name": name, "externalReferences": [reference]}


def test_a_wheel_has_what_it_needs_and_its_own_hash(tmp_path):
    from sbom import wheel_bom

    wheel = tmp_path / "tf_frame_vision-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"content")
    names = ("tf-frame-vision", "tf-frame", "tensorflow", "pillow", "optuna", "tf-frame-sweep")
    needs = {
        "tf-frame-vision": ["tf-frame", "pillow"],
        "tf-frame": ["tensorflow"],
        "tensorflow": ["tf-frame"],  # A circle ends.
        "tf-frame-sweep": ["tf-frame", "optuna"],
    }
    whole = {
        "specVersion": "1.6",
        "metadata": {"tools": {}},
        "components": [component(name) for name in names],
        "dependencies": [
            {"ref": f"{name}==1", "dependsOn": [f"{needed}==1" for needed in needs.get(name, ())]}
            for name in names
        ],
    }
    bom = wheel_bom(whole, wheel)
    assert [part["name"] for part in bom["components"]] == ["tf-frame", "tensorflow", "pillow"]
    assert len(bom["dependencies"]) == 4
    digest = hashlib.sha256(b"content").hexdigest()
    assert bom["metadata"] == {
        "tools": {},
        "component": {
            "bom-ref": "tf-frame-vision==1",
            "name": "tf-frame-vision",
            "hashes": [{"alg": "SHA-256", "content": digest}],
        },
    }
