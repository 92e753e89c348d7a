"""A report with all figures, as of a small convolutional network with two clones and two tasks."""

import dataclasses
import random
import statistics

from tf_frame.profiling.report import contents as f
from tf_frame.profiling.step_profile import CHECKPOINT, HOOK, SUMMARY

_PHASES = (
    (f.INPUT, "", "waiting for input", 31.0),
    (f.HOST, "", "computing on the CPU", 44.0),
    (f.OVERHEAD, "", "session.run overhead (no operation runs)", 2.1),
    (SUMMARY, "SummaryHook", "writing summaries (SummaryHook)", 3.0),
    (CHECKPOINT, "CheckpointHook", "writing checkpoints (CheckpointHook)", 4.0),
    (HOOK, "LoggingHook", "hook LoggingHook", 1.5),
    (f.LOOP, "", "other Python code", 0.4),
)
# Name -> type, kind, layer, clone, ms.
_OPERATIONS = {
    "clone_0/backbone/conv_1/Relu": ("_FusedConv2D", "convolution", "backbone/conv_1", 9.0),
    "clone_1/backbone/conv_1/Relu": ("_FusedConv2D", "convolution", "backbone/conv_1", 9.4),
    "clone_0/backbone/conv_2/Relu": ("_FusedConv2D", "convolution", "backbone/conv_2", 6.0),
    "gradients/clone_0/backbone/conv_1/Conv2D_grad/Conv2DBackpropFilter": (
        "Conv2DBackpropFilter",
        "convolution",
        "backbone/conv_1",
        12.0,
    ),
    "clone_0/backbone/bn/FusedBatchNormV3": ("FusedBatchNormV3", "batch norm", "backbone/bn", 4.0),
    "gradients/AddN_17": ("AddN", "gradients", "gradients", 2.0),
    "train/update_w/ResourceApplyMomentum": ("ResourceApplyMomentum", "optimizer", "", 1.0),
    "Shape": ("Shape", "other", "", 0.001),
}


def example_report(*, steps=10, factor=1.0, of=("",), seed=0, run="2026_01_31_12_00_00_step_100"):
    """Returns a report.

    Args:
      steps: their number.
      factor: multiplies the times of phases and operations with a name of `of` in theirs.
      of: parts of names.
      seed: of the noise, 2 % of a time.
      run: name of the run.
    """
    draw = random.Random(seed)

    def noisy(name, ms):
        scale = factor if any(part in name for part in of) else 1.0
        return tuple(ms * scale * draw.gauss(1.0, 0.02) for _ in range(steps))

    phases = [(*key, noisy(key[2], ms)) for *key, ms in _PHASES]
    walls = tuple(map(sum, zip(*(times for *_, times in phases), strict=True)))
    mean = statistics.fmean(walls)
    operations = [
        f.Operation(
            **_row(name, noisy(name, ms), mean),
            type=kind_of_op,
            kind=kind,
            layer=layer,
            clone=next((part for part in name.split("/") if part.startswith("clone_")), ""),
            device="CPU:0",
        )
        for name, (kind_of_op, kind, layer, ms) in _OPERATIONS.items()
    ]
    return f.Report(
        version=f.VERSION,
        run=run,
        model="deeplab",
        task="worker_0",
        host="machine",
        cores=2,
        first_step=101,
        last_step=100 + steps,
        examples_per_step=8,
        examples_per_sec=8e3 / statistics.median(walls),
        step=_step_times(walls),
        profiler_ms=3.2,
        phases=tuple(
            f.Phase(*key, statistics.fmean(times), statistics.fmean(times) / mean, times)
            for *key, times in phases
        ),
        input_share=0.36,
        operations_ms=sum(operation.ms for operation in operations),
        kinds=_grouped(operations, "kind", mean),
        types=_grouped(operations, "type", mean),
        layers=_grouped(operations, "layer", mean),
        clones=tuple(
            f.CloneRow(**dataclasses.asdict(row), active_ms=1.2 * row.ms, idle_ms=1.0, wait_ms=wait)
            for row, wait in zip(_grouped(operations, "clone", mean), (0.0, 6.5, 0.0), strict=True)
        ),
        operations=tuple(sorted(operations, key=lambda operation: -operation.ms)),
        memory=(_memory(),),
        costs=(
            f.ScopeRow("", 23_528_512, 16_070_000_000, 44.0, 0.52, 365.2),
            f.ScopeRow("backbone", 23_000_000, 15_070_000_000, 40.0, 0.48, 376.7),
            f.ScopeRow("head", 528_512, None, 4.0, 0.04, None),
        ),
        hooks=(
            f.HookRow("CheckpointHook", CHECKPOINT, 4.0, 0.05, 4.1, 0.05, 12, 1000.0),
            f.HookRow("LoggingHook", HOOK, 1.5, 0.017, None, None, None, None),
        ),
        tasks=tuple(
            f.TaskRow(f"worker_{i}", f"host-{i}", steps, ms, 1.1 * ms, shares, i == 1)
            for i, (ms, shares) in enumerate(
                [(86.0, {f.INPUT: 0.4, f.HOST: 0.6}), (140.0, {f.HOST: 0.9, HOOK: 0.1})]
            )
        ),
        use=(f.Use("CPU:0", 0.61, 1.3, 104, tuple(abs((i * 7) % 20 - 8) / 6 for i in range(100))),),
        python_functions=("read (input.py, line 3)",),
        hints=(
            f.Hint(
                "slow_input",
                0.36,
                "",
                "36 % of the step waits for input",
                "Decode in parallel with --input.threads 8, cache, or prefetch.",
                "--input.threads",
                {"input.threads": "8"},
                {"overfit_batches": "1"},
            ),
        ),
        options={"train_batch_size": 32},
        proofs=(f.Proof("slow_input", {"input.threads": "8"}, "faster", 1.3, 1.2, 1.4, "equal"),),
    )


def _row(name, times, mean):
    ms = statistics.fmean(times)
    gflops = 12.5 if "conv" in name else None
    return {
        "name": name,
        "ms": ms,
        "share": ms / mean,
        "count": 1.0,
        "busy_ms": 1.3 * ms,
        "gflops_per_sec": gflops,
        "ms_of_steps": times,
    }


def _grouped(operations, attribute, mean):
    groups = {}
    for operation in operations:
        key = getattr(operation, attribute)
        groups.setdefault(key, []).append(operation.ms_of_steps)
    rows = [
        f.Row(**_row(name, tuple(map(sum, zip(*times, strict=True))), mean))
        for name, times in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: -row.ms))


def _step_times(walls):
    low, high = min(walls), max(walls)
    width = (high - low) / 10 or 1.0
    counts = [0] * 10
    for wall in walls:
        counts[min(int((wall - low) / width), 9)] += 1
    return f.StepTimes(
        ms_of_steps=walls,
        median_ms=statistics.median(walls),
        p90_ms=sorted(walls)[int(0.9 * len(walls))],
        mean_ms=statistics.fmean(walls),
        jitter_ms=statistics.pstdev(walls),
        histogram=tuple(
            f.Bin(low + i * width, low + (i + 1) * width, n) for i, n in enumerate(counts)
        ),
    )


def _memory():
    return f.MemoryRow(
        "CPU:0",
        104,
        78_528_512,
        (
            f.Owner("gradients/c2/Conv2D_grad/Conv2DBackpropFilter", 33_554_432, 0.43),
            f.Owner("clone_0/backbone/conv_1/Relu", 16_777_216, 0.21),
        ),
    )
