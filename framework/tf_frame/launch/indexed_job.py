"""Makes the manifest of a Kubernetes Job (batch/v1) with a changing number of workers.

`kubectl patch` changes the parallelism of an Indexed Job while it runs, together with its
completions. Kubernetes ends the pods with the highest numbers, or makes more; the tasks find each
other in the model folder (`tf_frame.cluster.meeting`).
"""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from typing import Any

from tf_frame.cluster.meeting import ADDRESS, WORKERS
from tf_frame.errors import EXIT_FAILED, EXIT_START_AGAIN, EXIT_USAGE, ConfigError
from tf_frame.launch.job import Job
from tf_frame.shell_text import shell_line
from tf_frame.yaml_text import QuotedText

# A task listens at this port of its pod.
PORT = 2222
_POD_IP = "POD_IP"
# A task that was stopped by SIGTERM has saved.
_EXIT_TERMINATED = 128 + signal.SIGTERM
# A worker that dies more often, such as by SIGKILL for want of memory, is given up.
_MOST_DEATHS = 10


def indexed_job(
    job: Job, metadata: Mapping[str, Any], pod_of_task: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the Job of a job with `min_workers`; all its pods are like `pod_of_task`.

    Raises:
      ConfigError: the job has tasks other than chief and workers.
    """
    if job.num_ps or job.evaluator:
        raise ConfigError(
            f"--num_workers {job.min_workers}..{job.num_workers} --on kubernetes is for a chief "
            "and workers; leave out --num_ps and --evaluator"
        )
    assert job.min_workers is not None
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "completionMode": "Indexed",
            "completions": job.num_workers,
            "parallelism": job.num_workers,
            "backoffLimitPerIndex": _MOST_DEATHS,
            "maxFailedIndexes": job.num_workers - job.min_workers,
            "podFailurePolicy": {"rules": _failure_rules()},
            # The chief is the last to end.
            "successPolicy": {"rules": [{"succeededIndexes": QuotedText("0")}]},
            "template": {"spec": _pod(job, pod_of_task)},
        },
    }


def scale_command(metadata: Mapping[str, Any], num_workers: int) -> str:
    """Returns the shell line that changes the number of workers of a Job."""
    spec = {"spec": {"parallelism": num_workers, "completions": num_workers}}
    namespace = ["--namespace", metadata["namespace"]] if "namespace" in metadata else []
    words = ["kubectl", "patch", "job", metadata["name"], *namespace, "--patch", json.dumps(spec)]
    return shell_line(words)


def _failure_rules() -> list[dict[str, Any]]:
    """Returns what happens to a pod that fails; of the first rule that fits."""
    return [
        _for_exit_codes("FailJob", EXIT_FAILED, EXIT_USAGE),
        # Such a pod is made again, and it does not count.
        _for_exit_codes("Ignore", EXIT_START_AGAIN, _EXIT_TERMINATED),
        {
            "action": "Ignore",
            "onPodConditions": [{"type": "DisruptionTarget", "status": QuotedText("True")}],
        },
    ]


def _for_exit_codes(action: str, *codes: int) -> dict[str, Any]:
    return {"action": action, "onExitCodes": {"operator": "In", "values": list(codes)}}


def _pod(job: Job, pod_of_task: Mapping[str, Any]) -> dict[str, Any]:
    (container,) = pod_of_task["containers"]
    # The kubelet replaces $(NAME) by the value of an earlier variable.
    variables = [
        {"name": _POD_IP, "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": ADDRESS, "value": QuotedText(f"$({_POD_IP}):{PORT}")},
        {"name": WORKERS, "value": QuotedText(f"{job.min_workers}..{job.num_workers}")},
    ]
    container = {
        **container,
        "args": [*container["args"], QuotedText("--cluster_from"), QuotedText("folder")],
        "env": variables,
    }
    return {**pod_of_task, "restartPolicy": "Never", "containers": [container]}
