"""Runs the code of a notebook from top to bottom: notebook.py FILE [TAG], without the cells that have the tag."""

import json
import sys

name, without = sys.argv[1], set(sys.argv[2:])
with open(name, encoding="utf-8") as file:
    cells = json.load(file)["cells"]
ran, names = 0, {}
for cell in cells:
    if cell["cell_type"] == "code" and not without & set(cell["metadata"].get("tags", [])):
        exec(compile("".join(cell["source"]), f"{name} {cell['id']}", "exec"), names)
        ran += 1
print(f"{ran} cells of {name} ran")
