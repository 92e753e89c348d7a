"""Time and memory that an input needs before the first step, for many images with many boxes.

    python tools/bench/image_folders.py              # 1,000 and 100,000 images, 8 boxes each
    python tools/bench/image_folders.py --images 20000

A data set in COCO's form is made in a temporary folder: small PNG files, each a file of its own.
Each start is a process of its own, that makes the input and the first batch; the second one finds
the caches of the first. Memory is the largest resident set of the process. The data is made by a
process of its own as well: a process inherits the largest resident set of the one that starts it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_BOXES = 8
_SIZE = (24, 32)


def make(folder: Path, count: int) -> None:
    """Writes images and the JSON file of their boxes."""
    from PIL import Image

    (folder / "train").mkdir(parents=True)
    Image.new("RGB", _SIZE[::-1]).save(folder / "first.png")
    data = (folder / "first.png").read_bytes()
    (folder / "first.png").unlink()
    numbers = random.Random(0)
    images, annotations = [], []
    for image in range(count):
        name = f"{image:012d}.png"
        (folder / "train" / name).write_bytes(data)
        height, width = _SIZE
        images.append({"id": image, "file_name": name, "height": height, "width": width})
        for _ in range(_BOXES):
            box = [numbers.uniform(0, 12), numbers.uniform(0, 8), 10.5, 9.25]
            annotations.append(
                {
                    "id": len(annotations),
                    "image_id": image,
                    "category_id": len(annotations) % 80 + 1,
                    "bbox": box,
                    "area": box[2] * box[3],
                    "iscrowd": 0,
                    "segmentation": [],
                }
            )
    categories = [{"id": id_, "name": f"class {id_}"} for id_ in range(1, 81)]
    content = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "annotations.json").write_text(json.dumps(content))


def start(folder: str) -> None:
    """Makes the input and its first batch, and prints seconds and megabytes."""
    import tensorflow.compat.v1 as tf

    from tf_frame import InputContext, Mode
    from tf_frame_detection.inputs.coco_json import CocoJson, Params

    started, cpu_started = time.monotonic(), time.process_time()
    source = CocoJson(params=Params(data_dir=folder))
    found, cpu_secs = time.monotonic() - started, time.process_time() - cpu_started
    with tf.Graph().as_default() as graph, tf.Session() as session:
        dataset = source.dataset(Mode.TRAIN, InputContext(batch_size=4))
        iterator = tf.data.make_initializable_iterator(dataset)
        batch = iterator.get_next()
        session.run(iterator.initializer)
        session.run(batch)
        graph_bytes = graph.as_graph_def().ByteSize()
    result = {
        "find_secs": found,
        "cpu_secs": cpu_secs,
        "first_batch_secs": time.monotonic() - started,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "graph_bytes": graph_bytes,
    }
    print(json.dumps(result))


def main() -> None:
    """Measures both sizes, and prints a line for each start."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--start", help=argparse.SUPPRESS)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.start:
        start(flags.start)
        return
    if flags.make:
        make(Path(flags.make), flags.images)
        return
    with tempfile.TemporaryDirectory() as folder:
        for count in (1000, flags.images):
            root = Path(folder) / str(count)
            words = [sys.executable, __file__, "--make", str(root), "--images", str(count)]
            subprocess.check_call(words)
            for name in ("first", "second"):
                words = [sys.executable, __file__, "--start", str(root)]
                environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
                output = subprocess.check_output(words, text=True, env=environment)
                result = json.loads(output.splitlines()[-1])
                print(
                    f"{count} images, {name} start: found in {result['find_secs']:.1f} s "
                    f"({result['cpu_secs']:.1f} s of a core), first batch after "
                    f"{result['first_batch_secs']:.1f} s, {result['memory_mb']:.0f} MB, graph of "
                    f"{result['graph_bytes']} bytes",
                    flush=True,
                )


if __name__ == "__main__":
    main()
