"""Asks every question of items.jsonl through Curator's batch=True and prints how many answers came."""
import json
import sys

from bespokelabs import curator


class Asker(curator.LLM):
    def prompt(self, input):
        return input["text"]

    def parse(self, input, response):
        return {"id": input["id"], "answer": response}


if __name__ == "__main__":
    model, size = sys.argv[1], int(sys.argv[2])
    items = [json.loads(line) for line in open("items.jsonl")]
    asker = Asker(model_name=model, backend="openai", batch=True, generation_params={"max_tokens": 500},
                  backend_params={"batch_size": size, "batch_check_interval": 1})
    print(sum(1 for row in asker(items).dataset if row["answer"]), "answers")
