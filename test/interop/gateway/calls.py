"""Looks at logs of Inspect with a tool: it was called, and what it gave back was read."""
import glob
import sys

from inspect_ai.log import read_eval_log

logs = [read_eval_log(name) for name in sorted(glob.glob(f"{sys.argv[1]}/*.eval"))]
for log in logs:
    roles = [m.role for s in log.samples for m in s.messages]
    assert log.status == "success" and len(log.samples) == 4, log.status
    assert "tool" in roles, (log.eval.model, roles)
assert len(logs) == 2, len(logs)
