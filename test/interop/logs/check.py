"""Opens logs as users of Inspect do: whole, header, one sample, lists, data frames. Both forms must say the same."""
import sys

from inspect_ai.analysis import evals_df, messages_df, samples_df
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries


def look(folder):
    seen, messages, cost = {}, 0, 0.0
    for info in list_eval_logs(folder):
        log, header = read_eval_log(info.name), read_eval_log(info.name, header_only=True)
        assert header.eval.task_id == log.eval.task_id and header.results.total_samples == len(log.samples), info.name
        summaries = read_eval_log_sample_summaries(info.name)
        assert sorted(s.uuid for s in summaries) == sorted(s.uuid for s in log.samples), info.name
        for s in log.samples:
            messages += len(s.messages)
            assert s.error or s.messages[-1].text == s.output.completion, s.id
        first = log.samples[0]
        assert read_eval_log_sample(info.name, first.id, first.epoch).uuid == first.uuid
        cost += sum(u.total_cost for u in log.stats.model_usage.values())
        seen[log.eval.task_id] = sorted((s.uuid, s.output.completion, sorted((n, str(v.value)) for n, v in (s.scores or {}).items())) for s in log.samples)
    evals, samples, words = evals_df(folder), samples_df(folder), messages_df(folder)
    assert len(evals) == len(seen) and evals["task_arg_lane"].notna().all()
    assert len(samples) == sum(map(len, seen.values())), (len(samples), sum(map(len, seen.values())))
    assert len(words) == messages, (len(words), messages)
    return seen, round(cost, 9)


one, other = (look(folder) for folder in sys.argv[1:3])
assert one == other and one[1] > 0
print(f"{len(one[0])} logs, {sum(map(len, one[0].values()))} samples, {one[1]} USD: Inspect reads both forms alike")
