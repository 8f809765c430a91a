"""Eight questions through Curator's batch=True. Which server answers them is said by OPENAI_BASE_URL alone."""
import sys

from bespokelabs import curator


class Asker(curator.LLM):
    def prompt(self, input):
        return input["question"]

    def parse(self, input, response):
        return {"question": input["question"], "answer": response}


model = sys.argv[1]
asker = Asker(model_name=model, backend="openai", batch=True, backend_params={"batch_size": 4, "batch_check_interval": 1},
              generation_params={"max_tokens": 4000})
made = asker([{"question": f"What is {n} plus {n}?"} for n in range(8)])
rows = made.dataset.to_list()
assert sorted(r["question"] for r in rows) == sorted(f"What is {n} plus {n}?" for n in range(8)), rows
assert all(r["answer"] for r in rows), rows
