"""Holds a container image against its own digests and the program it was made of: tryimage.py IMAGE BINARY."""

import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile

image, binary = sys.argv[1:]
with tarfile.open(image) as tar:
    read = {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}


def blob(of):
    content = read["blobs/" + of["digest"].replace(":", "/")]
    assert "sha256:" + hashlib.sha256(content).hexdigest() == of["digest"] and len(content) == of["size"], of
    return content


manifest = json.loads(blob(json.loads(read["index.json"])["manifests"][0]))
config, layer = json.loads(blob(manifest["config"])), gzip.decompress(blob(manifest["layers"][0]))
assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()], config
assert config["config"]["User"] != "0", config
with tarfile.open(fileobj=io.BytesIO(layer)) as files:
    program = files.getmember("usr/bin/assay")
    assert program.mode & 0o111 and files.extractfile(program).read() == pathlib.Path(binary).read_bytes(), program
