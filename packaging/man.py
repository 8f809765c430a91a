"""Writes manual pages from what the program's help says: man.py BINARY VERSION FOLDER."""

import pathlib
import re
import subprocess
import sys

binary, version, folder = sys.argv[1:]


def help(*args):
    return subprocess.run([binary, *args], capture_output=True, text=True, check=True).stdout


def roff(text):
    return "\n".join(re.sub(r"^(?=[.'])", r"\\&", line.replace("\\", "\\e").replace("-", "\\-")) for line in text.splitlines())


def page(name, short, text):
    """One page: the text before «Usage:», then a section for every heading, each as it stands."""
    parts = re.split(r"(?m)^([A-Z][A-Za-z ]+):$", text)
    out = [f'.TH "{name.upper()}" 1 "" "assay {version}" "User Commands"', ".SH NAME", f"{roff(name)} \\- {roff(short)}"]
    if parts[0].strip():
        out += [".SH DESCRIPTION", ".nf", roff(parts[0].strip()), ".fi"]
    for head, body in zip(parts[1::2], parts[2::2]):
        out += [f".SH {head.upper().replace('USAGE', 'SYNOPSIS')}", ".nf", roff(body.strip("\n")), ".fi"]
    (pathlib.Path(folder) / (name + ".1")).write_text("\n".join(out) + "\n", encoding="utf-8")


pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
all = help("help")
page("assay", all.splitlines()[0], all)
commands = [c for c in re.findall(r"(?m)^  ([a-z]+) {2,}(.*)$", help("help", "--all")) if c[0] not in ("help", "assay")]
for command, short in commands:
    page("assay-" + command, short, help("help", command))
if not {"init", "resume", "export", "sim"} <= {command for command, _ in commands}:  # one of each group
    sys.exit("the help does not list all commands")
