from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver


@solver
def wrong():
    """Answers without a model: those that need no key count tokens with a file from the network."""
    async def solve(state, generate):
        state.output = ModelOutput.from_content("mockllm/model", "It is 5.")
        state.messages.append(ChatMessageAssistant(content="It is 5."))
        return state
    return solve


@task
def sums():
    return Task(dataset=[Sample(input=f"{i}+{i}?", target=str(2 * i)) for i in range(1, 4)], solver=wrong(), scorer=match())
