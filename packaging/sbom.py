"""Prints the modules that are in a binary as a CycloneDX document: sbom.py BINARY VERSION. The list is the one that Go wrote into the binary."""

import hashlib
import json
import pathlib
import subprocess
import sys

binary, version = sys.argv[1:]
components = []
for line in subprocess.run(["go", "version", "-m", binary], capture_output=True, text=True, check=True).stdout.splitlines():
    kind, *rest = line.strip().split("\t")
    if kind in ("dep", "=>"):
        if kind == "=>":
            components.pop()  # what replaces it
        name, at = rest[0], rest[1]
        components.append({"type": "library", "name": name, "version": at, "purl": f"pkg:golang/{name}@{at}", "bom-ref": f"{name}@{at}"})
    elif kind.startswith(binary):
        go = kind.split(": ")[1]
components.append({"type": "library", "name": "stdlib", "version": go, "purl": f"pkg:golang/stdlib@{go}", "bom-ref": f"stdlib@{go}"})
print(json.dumps({
    "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
    "metadata": {"component": {
        "type": "application", "name": "assay", "version": version, "bom-ref": "assay", "licenses": [{"license": {"id": "Apache-2.0"}}],
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(pathlib.Path(binary).read_bytes()).hexdigest()}],
    }},
    "components": components,
    "dependencies": [{"ref": "assay", "dependsOn": [one["bom-ref"] for one in components]}],
}, indent=1))
