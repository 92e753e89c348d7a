import json
import re
import shlex

import pytest
import yaml
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame.cli.main import main
from tf_frame.errors import ConfigError
from tf_frame.launch import kubernetes
from tf_frame.launch.job import Job
from tf_frame.text import printable

VALUES = {option.name: option.default for option in kubernetes.OPTIONS} | {
    "image": "site/x:1",
    "volume_claim": "runs",
}

# What a TFJob may hold, as far as tf-frame writes it. Field -> type; * stands for any name, and !
# for a field that is required. Facts of the CustomResourceDefinition tfjobs.kubeflow.org, version
# v1, of kubeflow/training-operator (manifests/base/crds/kubeflow.org_tfjobs.yaml, commit 07a4a89,
# and the models of kubeflow-training 1.9.0). The values below come from its common_types.go and
# tensorflow_types.go: the schema itself says only that they are texts.
CONTAINER = {
    "name!": {"tensorflow"},
    "image": str,
    "command": [str],
    "args": [str],
    "ports": [{"name": {"tfjob-port"}, "containerPort!": int}],
    "resources": {"limits": {"*": (int, str)}},
    "volumeMounts": [{"name!": str, "mountPath!": str}],
}
POD = {
    "terminationGracePeriodSeconds": int,
    "containers!": [CONTAINER],
    "volumes": [{"name!": str, "persistentVolumeClaim": {"claimName!": str}}],
}
REPLICAS = {
    "replicas": int,
    "restartPolicy": {"Always", "OnFailure", "Never", "ExitCode"},
    "template": {"spec": POD},
}
TF_JOB = {
    "apiVersion!": {"kubeflow.org/v1"},
    "kind!": {"TFJob"},
    "metadata!": {"name!": str, "namespace": str},
    "spec!": {
        "runPolicy": {"cleanPodPolicy": {"All", "Running", "None"}},
        "tfReplicaSpecs!": dict.fromkeys(
            ("Chief", "Master", "Worker", "PS", "Evaluator"), REPLICAS
        ),
    },
}

# The same of a Job, by the reference of the API batch/v1 of Kubernetes 1.33 (kubernetes.io,
# workload-resources/job-v1).
EXIT_CODES = {"operator!": {"In", "NotIn"}, "values!": [int]}
FAILURE_RULE = {
    "action!": {"FailJob", "FailIndex", "Ignore", "Count"},
    "onExitCodes": EXIT_CODES,
    "onPodConditions": [{"type!": str, "status!": {"True", "False", "Unknown"}}],
}
VARIABLE = {"name!": str, "value": str, "valueFrom": {"fieldRef": {"fieldPath!": str}}}
POD_OF_JOB = {
    **POD,
    "restartPolicy!": {"Never"},
    "containers!": [{**CONTAINER, "env": [VARIABLE]}],
}
JOB = {
    "apiVersion!": {"batch/v1"},
    "kind!": {"Job"},
    "metadata!": {"name!": str, "namespace": str},
    "spec!": {
        "completionMode!": {"Indexed"},
        "completions!": int,
        "parallelism!": int,
        "backoffLimitPerIndex": int,
        "maxFailedIndexes": int,
        "podFailurePolicy": {"rules!": [FAILURE_RULE]},
        "successPolicy": {"rules!": [{"succeededIndexes": str}]},
        "template!": {"spec!": POD_OF_JOB},
    },
}


def violations(value, schema, path=""):
    """Returns the places where a manifest is not as the schema says."""
    if isinstance(schema, set):
        return [] if value in schema else [f"{path}: {value!r}"]
    if isinstance(schema, list):
        if not isinstance(value, list):
            return [f"{path} is no list"]
        return [
            v for i, item in enumerate(value) for v in violations(item, schema[0], f"{path}.{i}")
        ]
    if not isinstance(schema, dict):
        return [] if type(value) in (schema if isinstance(schema, tuple) else (schema,)) else [path]
    if not isinstance(value, dict):
        return [f"{path} is no object"]
    fields = {name.rstrip("!"): part for name, part in schema.items()}
    required = [name[:-1] for name in schema if name.endswith("!")]
    places = [f"{path}.{name} is missing" for name in required if name not in value]
    for name, part in value.items():
        if name not in fields and "*" not in fields:
            places.append(f"{path}.{name} is unknown")
        else:
            places += violations(part, fields.get(name, fields.get("*")), f"{path}.{name}")
    return places


def make_job(model_dir="/shared/runs/first", *, more=(), **tasks):
    words = ["run", "--plugin", "toy", "--model_dir", model_dir, *more]
    tasks = {"num_ps": 2, "num_workers": 3, "evaluator": True} | tasks
    return Job(words=words, model_dir=model_dir, **tasks)


def printed(job, capsys, **values):
    """The manifest, as it is read from the printed text."""
    assert kubernetes.main(job, VALUES | values) == 0
    return yaml.safe_load(capsys.readouterr().out)


def pods(manifest):
    specs = manifest["spec"]["tfReplicaSpecs"]
    return {kind: spec["template"]["spec"] for kind, spec in specs.items()}


@pytest.mark.parametrize("num_ps", [0, 2])
@pytest.mark.parametrize("num_workers", [1, 3])
@pytest.mark.parametrize("evaluator", [False, True])
@pytest.mark.parametrize(
    "model_dir, values",
    [
        ("/runs/first", {"gpus_per_worker": 2, "namespace": "team", "name": "my-job"}),
        ("gs://bucket/first", {"volume_claim": "", "gpus_per_worker": None}),
    ],
)
def test_every_field_is_one_of_a_tfjob(capsys, num_ps, num_workers, evaluator, model_dir, values):
    job = make_job(model_dir, num_ps=num_ps, num_workers=num_workers, evaluator=evaluator)
    manifest = printed(job, capsys, **values)
    assert not violations(manifest, TF_JOB)
    replicas = {k: spec["replicas"] for k, spec in manifest["spec"]["tfReplicaSpecs"].items()}
    expected = {"PS": num_ps, "Chief": 1, "Worker": num_workers - 1, "Evaluator": int(evaluator)}
    assert replicas == {kind: count for kind, count in expected.items() if count}


@pytest.mark.parametrize(
    "change, violation",
    [
        (lambda job: job.pop("kind"), [".kind is missing"]),
        (lambda job: job["spec"].update(cleanPodPolicy="All"), [".spec.cleanPodPolicy is unknown"]),
        (
            lambda job: job["spec"]["runPolicy"].update(cleanPodPolicy=None),
            [".spec.runPolicy.cleanPodPolicy: None"],
        ),
        (
            lambda job: pods(job)["PS"]["containers"][0].update(args=[1]),
            [".spec.tfReplicaSpecs.PS.template.spec.containers.0.args.0"],
        ),
        (lambda job: job["metadata"].update(name=True), [".metadata.name"]),
    ],
)
def test_the_check_finds_what_is_wrong(capsys, change, violation):
    manifest = printed(make_job(), capsys)
    change(manifest)
    assert violations(manifest, TF_JOB) == violation


def test_a_range_of_workers_is_an_indexed_job(capsys):
    job = make_job(num_ps=0, num_workers=4, evaluator=False, min_workers=2)
    manifest = printed(job, capsys, gpus_per_worker=1, namespace="team")
    assert not violations(manifest, JOB)
    spec = manifest["spec"]
    # An Indexed Job changes its size only while both are equal.
    assert spec["completions"] == spec["parallelism"] == 4 and spec["maxFailedIndexes"] == 2
    (container,) = spec["template"]["spec"]["containers"]
    assert container["args"] == [*job.words, "--cluster_from", "folder"]
    assert container["resources"] == {"limits": {"nvidia.com/gpu": 1}}
    (ip, address, counts) = container["env"]
    assert ip["valueFrom"] == {"fieldRef": {"fieldPath": "status.podIP"}}
    assert address == {"name": "TF_FRAME_ADDRESS", "value": f"$({ip['name']}):2222"}
    assert counts == {"name": "TF_FRAME_NUM_WORKERS", "value": "2..4"}


def test_the_rules_of_an_indexed_job_are_those_of_the_exit_codes(capsys):
    job = make_job(num_ps=0, num_workers=4, evaluator=False, min_workers=2)
    rules = printed(job, capsys)["spec"]["podFailurePolicy"]["rules"]

    def action(code):
        fitting = [rule for rule in rules if code in rule.get("onExitCodes", {}).get("values", ())]
        return fitting[0]["action"] if fitting else "counts"

    actions = {code: action(code) for code in (1, 2, 137, 138, 143)}
    expected = {1: "FailJob", 2: "FailJob", 137: "counts", 138: "Ignore", 143: "Ignore"}
    assert actions == expected


def test_the_line_that_changes_the_number_of_workers_is_printed(capsys):
    job = make_job(num_ps=0, num_workers=4, evaluator=False, min_workers=2)
    kubernetes.main(job, VALUES | {"namespace": "team"})
    line = next(line for line in capsys.readouterr().out.splitlines() if "kubectl patch" in line)
    words = shlex.split(line.removeprefix("# "))
    assert words[:6] == ["kubectl", "patch", "job", "first", "--namespace", "team"]
    patch = {"spec": {"parallelism": 2, "completions": 2}}
    assert words[6] == "--patch" and json.loads(words[7]) == patch


@pytest.mark.parametrize("tasks", [{"num_ps": 1}, {"evaluator": True}])
def test_an_indexed_job_has_workers_alone(tasks):
    job = make_job(**{"num_ps": 0, "evaluator": False, "min_workers": 2} | tasks)
    with pytest.raises(ConfigError, match="leave out --num_ps and --evaluator"):
        kubernetes.manifest(job, VALUES)


def test_every_task_runs_the_words_in_the_image(capsys):
    job = make_job(more=["--learning_rate", "1e-3", "--set", "model.name=y", "on", "it's"])
    for pod in pods(printed(job, capsys)).values():
        (container,) = pod["containers"]
        assert container["image"] == "site/x:1"
        assert container["command"] + container["args"] == ["tf-frame", *job.words]
        assert container["ports"] == [{"name": "tfjob-port", "containerPort": 2222}]
    # Quoted, because other readers of YAML take some words for numbers.
    kubernetes.main(make_job(more=["1e-3", "y"]), VALUES | {"name": "n"})
    text = capsys.readouterr().out
    assert '- "1e-3"' in text and '- "y"' in text and 'name: "n"' in text


def expanded(text):
    """A word as the kubelet hands it to the container: `$(NAME)` is a variable, `$$` is `$`.

    Of third_party/forked/golang/expansion/expand.go of Kubernetes, with every variable empty.
    """
    return re.sub(r"\$(\$|\(\w+\))", lambda match: "$" if match[1] == "$" else "", text)


@COUNTS
def test_a_container_gets_the_words_of_the_job(count, capsys):
    def check(words, name):
        job = make_job(f"/runs/{name}", more=words, num_ps=0, num_workers=1, evaluator=False)
        try:
            manifest = printed(job, capsys, name="a")
        except ConfigError:
            assert printable(name) != name
            return
        (container,) = pods(manifest)["Chief"]["containers"]
        assert [*map(expanded, container["args"])] == list(job.words)
        assert container["volumeMounts"][0]["mountPath"] == "/runs"

    words = TEXTS | strategies.sampled_from(["$(HOME)", "$$", "a$b", "1e-3", "y", "- a", "# a"])
    names = TEXTS.filter(lambda name: "/" not in name and name not in ("", ".", ".."))
    check_many(check, count, words=strategies.lists(words, max_size=5), name=names)


def test_a_task_is_started_again_after_a_signal_and_not_after_an_error(capsys):
    # An evaluator may evaluate the last checkpoint after the chief has ended.
    for evaluator, policy in ((False, "Running"), (True, "None")):
        spec = printed(make_job(evaluator=evaluator), capsys)["spec"]
        assert spec["runPolicy"]["cleanPodPolicy"] == policy
    specs = spec["tfReplicaSpecs"]
    assert {spec["restartPolicy"] for spec in specs.values()} == {"ExitCode"}
    assert all(
        pod["terminationGracePeriodSeconds"] >= 60
        for pod in pods(printed(make_job(), capsys)).values()
    )


@pytest.mark.parametrize(
    "model_dir, mount",
    [("/shared/runs/first", "/shared/runs"), ("/runs/first/", "/runs"), ("/runs", "/runs")],
)
def test_the_volume_is_mounted_where_the_model_folder_lies(capsys, model_dir, mount):
    for pod in pods(printed(make_job(model_dir), capsys)).values():
        (volume,) = pod["volumes"]
        assert volume["persistentVolumeClaim"] == {"claimName": "runs"}
        (at,) = pod["containers"][0]["volumeMounts"]
        assert at == {"name": volume["name"], "mountPath": mount}
    for pod in pods(printed(make_job("s3://bucket/x"), capsys, volume_claim="")).values():
        assert "volumes" not in pod and "volumeMounts" not in pod["containers"][0]


@pytest.mark.parametrize(
    "model_dir, name",
    [
        ("/runs/first", "first"),
        ("/runs/My_Run.v2/", "my-run-v2"),
        ("/runs/2024-01-02", "tf-2024-01-02"),
        ("/runs/__", "tf"),
        ("gs://bucket/a/b c", "b-c"),
        ("/runs/" + "x" * 99, "x" * 51),
        ("/runs/" + "x" * 50 + "-yyy", "x" * 50),
    ],
)
def test_the_name_follows_from_the_model_folder(model_dir, name):
    values = VALUES | {"volume_claim": "" if "://" in model_dir else "runs"}
    assert kubernetes.manifest(make_job(model_dir), values)["metadata"] == {"name": name}


def test_chief_and_workers_have_the_gpus(capsys):
    words = ["launch", "--on", "kubernetes", "--num_ps", "1", "--gpus_per_worker", "1"]
    run = ["--", "run", "--plugin", "deeplab", "--model_dir", "/runs/first"]
    tasks = ["--num_workers", "2", "--evaluator"]
    assert main([*words, *tasks, "--image", "x:1", "--volume_claim", "runs", *run]) == 0
    specs = pods(yaml.safe_load(capsys.readouterr().out))
    limits = {kind: pod["containers"][0].get("resources") for kind, pod in specs.items()}
    gpus = {"limits": {"nvidia.com/gpu": 1}}
    assert limits == {"PS": None, "Chief": gpus, "Worker": gpus, "Evaluator": None}


@pytest.mark.parametrize(
    "model_dir, values, message",
    [
        ("/runs/a", {"image": ""}, "--image is missing"),
        ("/runs/a", {"name": "My"}, "--name My: Kubernetes takes a-z"),
        ("/runs/a", {"name": "1a"}, "--name 1a: Kubernetes takes a-z"),
        ("/runs/a", {"name": "a-"}, "--name a-: Kubernetes takes a-z"),
        ("/runs/a", {"name": "a" * 52}, "51 characters at most"),
        ("/runs/a", {"namespace": "A"}, "--namespace A: it is of a-z, 0-9 and -"),
        ("/runs/a", {"volume_claim": ""}, "/runs/a would be a different folder in each pod"),
        ("runs/a", {}, "--model_dir runs/a: with --volume_claim it must be absolute"),
        ("gs://b/a", {}, "--volume_claim runs: --model_dir gs://b/a is not on a volume"),
        ("/shared/a\nkind: Pod", {"name": "a"}, "has a line end or another control character"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_printed(capsys, model_dir, values, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        kubernetes.main(make_job(model_dir), VALUES | values)
    assert not capsys.readouterr().out
