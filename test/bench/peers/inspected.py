"""Asks every question of items.jsonl through Inspect's batch mode and prints how many answers came."""
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.model import BatchConfig
from inspect_ai.solver import generate

if __name__ == "__main__":
    model, size = sys.argv[1], int(sys.argv[2])
    items = json_dataset("items.jsonl", FieldSpec(input="text", id="id"))
    log, = eval(Task(dataset=items, solver=generate()), model=model, max_tokens=500, log_dir="logs", display="none",
                max_samples=len(items), max_connections=len(items),
                batch=BatchConfig(size=size, send_delay=2, tick=1))
    assert log.status == "success", log.error
    print(sum(1 for s in log.samples if s.output.completion), "answers")
