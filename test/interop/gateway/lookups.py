from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool


@tool
def weather():
    async def execute(city: str):
        """Looks up the weather of a city.

        Args:
            city: Its name.
        """
        return f"22 degrees in {city}"

    return execute


@task
def lookups():
    places = ["Paris", "Rome", "Oslo", "Lima"]
    return Task(dataset=[Sample(input=f"Look up the weather in {p}.", target=p) for p in places],
                solver=[use_tools(weather()), generate()], scorer=includes(), message_limit=8)
