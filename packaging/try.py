"""Tries the Python package where it is installed: a rehearsal, then its answers, verdicts and findings as data frames."""

import subprocess
import sys

import assay

subprocess.run([sys.argv[1], "init", "study"], check=True, capture_output=True)
subprocess.run([sys.argv[1], "run", "study", "--rehearse"], check=True, capture_output=True)
answers, verdicts, findings = assay.answers("start"), assay.verdicts("start"), assay.findings("start")
print(f"{len(answers)} answers, {len(verdicts)} verdicts, {len(findings)} findings")
assert len(answers) == 192 and set(answers["ending"]) == {"answered"}, answers["ending"].value_counts()
assert len(verdicts) == 252 and set(verdicts["stage"]) == {"correct", "flips", "arena"}, verdicts["stage"].value_counts()
right = verdicts[(verdicts["stage"] == "correct") & (verdicts["lane"] == "haiku")]["score"].mean()
found = findings[(findings["stage"] == "correct") & (findings["what"] == "rate") & (findings["by_lane"] == "haiku")]
assert abs(found["value"].iloc[0] - right) < 1e-9, (found, right)
try:
    assay.answers("nosuch")
except RuntimeError as problem:
    assert "nosuch" in str(problem), problem
else:
    raise SystemExit("a run that is not there has answers")
