from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


@task
def questions():
    return Task(dataset=[Sample(input=f"What is {n} plus {n}?", target=str(2 * n)) for n in range(8)], solver=generate(), scorer=includes())
