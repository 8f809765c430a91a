from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate


@task
def sums():
    return Task(dataset=[Sample(input=f"{i}+{i}?", target=str(2 * i)) for i in range(1, 4)], solver=generate(), scorer=match())
