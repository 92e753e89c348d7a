"""Prints the manifest of a job for Kubernetes.

A job of a fixed number of tasks is a TFJob (kubeflow.org/v1), for the training operator of
Kubeflow. The operator starts a pod for each task, gives it a name in the cluster's DNS, and sets
TF_CONFIG. A job with a changing number of workers is a Job of Kubernetes itself: `indexed_job`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from tf_frame.command_line.screen import report
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.file_system import is_remote
from tf_frame.launch.indexed_job import PORT, indexed_job, scale_command
from tf_frame.launch.job import (
    CHIEF,
    EVALUATOR,
    GPUS_PER_WORKER,
    PS,
    WORKER,
    Job,
    refuse_unprintable,
)
from tf_frame.text import short, short_word
from tf_frame.yaml_text import QuotedText, to_quoted_yaml

OPTIONS = (
    Option("image", str, "", "the container image, with tf-frame and the plugins in it"),
    Option("name", str, "", "the name of the job; default: the name of the model folder"),
    Option("namespace", str, "", "the namespace; default: kubectl's"),
    Option(
        "volume_claim",
        str,
        "",
        "a PersistentVolumeClaim (ReadWriteMany), mounted where the model folder lies",
    ),
    GPUS_PER_WORKER,
)
_REPLICA_TYPES = {PS: "PS", CHIEF: "Chief", WORKER: "Worker", EVALUATOR: "Evaluator"}
# A service is made for each task, and its name, NAME-evaluator-0, begins with a letter: RFC 1035.
_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LONGEST_LABEL = 63
# The operator expects these names.
_CONTAINER, _PORT_NAME = "tensorflow", "tfjob-port"
# In this time a task saves after SIGTERM.
_GRACE_SECS = 120
_VOLUME = "model-dir"


def main(job: Job, values: Mapping[str, Any]) -> int:
    """Prints the manifest of a job.

    Raises:
      ConfigError: there is no image, a name is not allowed, or the pods would not share the
        model folder.
    """
    refuse_unprintable(job.model_dir, "a comment of the manifest")
    content = manifest(job, values)
    text = to_quoted_yaml(content)
    if job.min_workers is None:
        report("# kubectl apply -f this file; needs the training operator of Kubeflow (TFJob v1)")
    else:
        number = job.min_workers
        report(f"# kubectl apply -f this file; needs Kubernetes 1.33. Later, for {number} workers:")
        report(f"# {scale_command(content['metadata'], number)}")
    report(f"# All pods must see {job.model_dir}.")
    report(text.removesuffix("\n"))
    return EXIT_OK


def manifest(job: Job, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the TFJob of a job, or its Job; errors as of `main`."""
    metadata = _metadata(job, values)
    if job.min_workers is not None:
        return indexed_job(job, metadata, _pod(job, WORKER, values))
    return _tf_job(job, metadata, values)


def _metadata(job: Job, values: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {"name": QuotedText(values["name"] or _default_name(job))}
    longest = _LONGEST_LABEL - _longest_suffix(job)
    if not _NAME.fullmatch(metadata["name"]) or len(metadata["name"]) > longest:
        raise ConfigError(
            f"--name {short_word(metadata['name'])}: Kubernetes takes a-z, 0-9 and -, first a "
            f"letter, last no -, and for a job of these tasks {longest} characters at most"
        )
    if values["namespace"]:
        if not _NAMESPACE.fullmatch(values["namespace"]):
            raise ConfigError(
                f"--namespace {short_word(values['namespace'])}: it is of a-z, 0-9 and -"
            )
        metadata["namespace"] = QuotedText(values["namespace"])
    return metadata


def _tf_job(job: Job, metadata: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    # When the chief has ended, the operator takes the job for done. With `Running` it then deletes
    # the pods that are left, and an evaluator may still be evaluating the last checkpoint.
    clean = "None" if job.evaluator else "Running"
    counts = [task.type for task in job.tasks]
    replicas = {
        name: _replicas(job, kind, counts.count(kind), values)
        for kind, name in _REPLICA_TYPES.items()
        if kind in counts
    }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": metadata,
        "spec": {"runPolicy": {"cleanPodPolicy": clean}, "tfReplicaSpecs": replicas},
    }


def _replicas(job: Job, kind: str, count: int, values: Mapping[str, Any]) -> dict[str, Any]:
    # ExitCode: 1 and 2 (the run failed, a wrong option) end the job; from 128 on, which are
    # signals and a task that lost its peers, the pod is started again.
    pod = _pod(job, kind, values)
    return {"replicas": count, "restartPolicy": "ExitCode", "template": {"spec": pod}}


def _pod(job: Job, kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = {
        "terminationGracePeriodSeconds": _GRACE_SECS,
        "containers": [_container(job, kind, values)],
    }
    claim = values["volume_claim"]
    if claim:
        pod["volumes"] = [
            {"name": _VOLUME, "persistentVolumeClaim": {"claimName": QuotedText(claim)}}
        ]
    return pod


def _container(job: Job, kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    if not values["image"]:
        raise ConfigError("--image is missing: the container image with tf-frame and the plugins")
    container: dict[str, Any] = {
        "name": _CONTAINER,
        "image": QuotedText(values["image"]),
        "command": ["tf-frame"],
        "args": [_argument(word) for word in job.words],
        "ports": [{"name": _PORT_NAME, "containerPort": PORT}],
    }
    gpus = values["gpus_per_worker"]
    if gpus and kind in (CHIEF, WORKER):
        container["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
    mount = _mount_path(job, values["volume_claim"])
    if mount:
        container["volumeMounts"] = [{"name": _VOLUME, "mountPath": QuotedText(mount)}]
    return container


def _argument(word: str) -> QuotedText:
    """Returns a word for `args`, where the kubelet takes `$(NAME)` for a variable, `$$` for `$`."""
    return QuotedText(word.replace("$", "$$"))


def _mount_path(job: Job, claim: str) -> str:
    """Returns the parent of the model folder; empty without a volume."""
    if is_remote(job.model_dir):
        if claim:
            raise ConfigError(
                f"--volume_claim {short_word(claim)}: --model_dir {short(job.model_dir)} is not "
                "on a volume; leave out one of them"
            )
        return ""
    if not claim:
        raise ConfigError(
            f"--model_dir {short(job.model_dir)} would be a different folder in each pod; give the "
            "volume that they share by --volume_claim, or a path such as gs://bucket/run"
        )
    if not os.path.isabs(job.model_dir):
        raise ConfigError(
            f"--model_dir {short(job.model_dir)}: with --volume_claim it must be absolute, such as "
            f"/runs/{short(os.path.basename(job.model_dir.rstrip('/')), 40)}; the volume is "
            "mounted at /runs"
        )
    path = os.path.normpath(job.model_dir)
    return os.path.dirname(path) if os.path.dirname(path) != "/" else path


def _default_name(job: Job) -> str:
    base = os.path.basename(job.model_dir.rstrip("/")).lower()
    name = re.sub(r"[^a-z0-9]+", "-", base).strip("-")
    if not name[:1].isalpha():
        name = f"tf-{name}"
    return name[: _LONGEST_LABEL - _longest_suffix(job)].rstrip("-")


def _longest_suffix(job: Job) -> int:
    """Returns the length of the longest suffix that the operator appends to the name of the job."""
    return max(len(f"-{task}") for task in job.tasks)
