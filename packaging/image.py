"""Writes a container image that holds the program: image.py BINARY GOARCH VERSION FILE. It is an OCI layout in a tar file, with what `docker load`
reads beside it; no daemon is needed. The certificates are those of this machine."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile

binary, arch, version, out = sys.argv[1:]
CERTIFICATES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
BASE = "application/vnd.oci.image."


def add(tar, name, content, mode=0o644):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    tar.addfile(entry, io.BytesIO(content))


def folder(tar, name, mode, owner=0):
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, mode, owner, owner
    tar.addfile(entry)


def text(document):
    return json.dumps(document, separators=(",", ":")).encode()


def digest(content):
    return hashlib.sha256(content).hexdigest()


files = io.BytesIO()
with tarfile.open(fileobj=files, mode="w", format=tarfile.PAX_FORMAT) as tar:
    add(tar, "usr/bin/assay", pathlib.Path(binary).read_bytes(), 0o755)
    add(tar, "etc/ssl/certs/ca-certificates.crt", CERTIFICATES.read_bytes())
    folder(tar, "tmp", 0o1777)
    folder(tar, "work", 0o755, 65532)
layer = gzip.compress(files.getvalue(), int(os.environ.get("LEVEL", "6")), mtime=0)
config = text({
    "architecture": arch, "os": "linux", "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest(files.getvalue())]},
    "config": {
        "Entrypoint": ["/usr/bin/assay"], "WorkingDir": "/work", "User": "65532:65532", "Env": ["HOME=/work", "PATH=/usr/bin"],
        "Labels": {"org.opencontainers.image.title": "assay", "org.opencontainers.image.version": version,
                   "org.opencontainers.image.licenses": "Apache-2.0"},
    },
    "history": [{"created_by": "assay " + version}],
})
blobs = {digest(layer): layer, digest(config): config}


def named(kind, content):
    return {"mediaType": BASE + kind, "digest": "sha256:" + digest(content), "size": len(content)}


manifest = text({"schemaVersion": 2, "mediaType": BASE + "manifest.v1+json", "config": named("config.v1+json", config),
                 "layers": [named("layer.v1.tar+gzip", layer)]})
blobs[digest(manifest)] = manifest
index = named("manifest.v1+json", manifest) | {"platform": {"os": "linux", "architecture": arch},
                                              "annotations": {"org.opencontainers.image.ref.name": version}}
with tarfile.open(out, "w", format=tarfile.PAX_FORMAT) as tar:
    add(tar, "oci-layout", text({"imageLayoutVersion": "1.0.0"}))
    add(tar, "index.json", text({"schemaVersion": 2, "mediaType": BASE + "index.v1+json", "manifests": [index]}))
    add(tar, "manifest.json", text([{"Config": "blobs/sha256/" + digest(config), "RepoTags": ["assay:" + version],
                                    "Layers": ["blobs/sha256/" + digest(layer)]}]))
    for name, content in blobs.items():
        add(tar, "blobs/sha256/" + name, content)
