"""Results of assay as pandas data frames.

    import assay
    assay.answers("my-study")     # one row for every answer of the study's newest run
    assay.verdicts("my-study")    # one row for every verdict
    assay.findings("my-study")    # one row for every number that `assay analyse` computes

RUN is what every command takes: the id of a run, the beginning of one, a study's name, a bundle's file, or "latest". `home` is the folder of the
ledger, as with --home. The columns are those of docs/data.md; findings have the fields of `assay analyse --json`.
"""

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile

__all__ = ["answers", "verdicts", "findings", "requests", "items", "program"]


class AssayError(RuntimeError):
    """The program ended with an error; the message is its own."""


def program():
    """The path of the program that this package brings, else of the one on the PATH."""
    name = "assay.exe" if os.name == "nt" else "assay"
    for folder in (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")):
        if os.path.isfile(os.path.join(folder, name)):
            return os.path.join(folder, name)
    found = shutil.which("assay")
    if not found:
        raise AssayError("the program assay is not installed")
    return found


def _call(args, home, fine=(0,)):
    args = [program(), *args] + (["--home", os.fspath(home)] if home is not None else [])
    done = subprocess.run(args, capture_output=True, text=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    if done.returncode not in fine:
        raise AssayError(done.stderr.strip() or f"assay ended with exit code {done.returncode}")
    return done.stdout


def _table(name, run, home):
    import pandas

    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "tables")
        _call(["export", run, "--format", "jsonl", "--out", out], home)
        with open(os.path.join(out, name + ".jsonl"), encoding="utf-8") as file:
            return pandas.DataFrame([json.loads(line) for line in file])


def requests(run="latest", home=None):
    """Every request, those of judges too."""
    return _table("answers", run, home)


def answers(run="latest", home=None):
    """Every request that asked for an answer, and what came back; `ending` says how it ended."""
    rows = requests(run, home)
    return rows[~rows["verb"].isin(["judge", "compare"])].reset_index(drop=True) if len(rows) else rows


def verdicts(run="latest", home=None):
    """Every verdict of judges, rules, programs and people."""
    return _table("verdicts", run, home)


def items(run="latest", home=None):
    """Every item of the inputs."""
    return _table("items", run, home)


def findings(run="latest", home=None):
    """Every number of `assay analyse`, with its interval; what it is grouped by are columns that begin with by_."""
    import pandas

    found = json.loads(_call(["analyse", run, "--json"], home, fine=(0, 3, 6)))
    rows = []
    for one in found["runs"]:
        for table in one["tables"]:
            for finding in table["findings"]:
                row = {"run": one["run"], "study": one["study"], "stage": table.get("stage"), "table": table.get("title"), "incomplete": table.get("incomplete")}
                row.update({"by_" + name: value for name, value in (finding.get("by") or {}).items()})
                row.update({name: value for name, value in finding.items() if not isinstance(value, (dict, list))})
                rows.append(row)
    return pandas.DataFrame(rows)
