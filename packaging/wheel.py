"""Writes a wheel that carries the program: wheel.py BINARY GOOS GOARCH VERSION FOLDER. A wheel is a zip file; no tool is needed."""

import base64
import hashlib
import os
import pathlib
import re
import sys
import zipfile

PLATFORMS = {
    ("linux", "amd64"): "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",  # static: no C library is needed
    ("linux", "arm64"): "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    ("darwin", "amd64"): "macosx_12_0_x86_64",
    ("darwin", "arm64"): "macosx_12_0_arm64",
    ("windows", "amd64"): "win_amd64",
    ("windows", "arm64"): "win_arm64",
}


def pep440(version):
    """A version as pip sorts it: a release candidate and a commit without a tag before the release, commits after a tag after it."""
    release, _, rest = version.removeprefix("v").partition("-")
    if not rest:
        return release
    if after := re.fullmatch(r"(\d+)-g[0-9a-f]+", rest):  # git describe: so many commits after the tag
        return f"{release}.post{after[1]}"
    if candidate := re.fullmatch(r"rc\.?(\d+)", rest):
        return f"{release}rc{candidate[1]}"
    if untagged := re.fullmatch(r"(\d{14})-[0-9a-f]+", rest):  # the time of the commit
        return f"{release}.dev{untagged[1]}"
    raise SystemExit(f"wheel.py: {version} has no version that pip can sort: want v1.2.3 or v1.2.3-rc.1")


binary, goos, goarch, version, folder = sys.argv[1:]
here = pathlib.Path(__file__).parent
platform = PLATFORMS[goos, goarch]
version = pep440(version)
info, data = f"assay-{version}.dist-info", f"assay-{version}.data"

METADATA = f"""Metadata-Version: 2.1
Name: assay
Version: {version}
Summary: Compare language models with many questions, at batch prices, losing nothing
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: pandas>=2
Description-Content-Type: text/markdown

"""
WHEEL = "Wheel-Version: 1.0\nGenerator: assay\nRoot-Is-Purelib: false\n" + "".join(f"Tag: py3-none-{one}\n" for one in platform.split("."))

files = {
    "assay/__init__.py": (here / "assay" / "__init__.py").read_bytes(),
    "assay/py.typed": b"",
    f"{data}/scripts/assay{'.exe' if goos == 'windows' else ''}": pathlib.Path(binary).read_bytes(),
    f"{info}/METADATA": (METADATA + (here.parent / "README.md").read_text(encoding="utf-8")).encode(),
    f"{info}/WHEEL": WHEEL.encode(),
    f"{info}/LICENSE": (here.parent / "LICENSE").read_bytes(),
}
out = pathlib.Path(folder) / f"assay-{version}-py3-none-{platform}.whl"
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
    record = ""
    for name, content in files.items():
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
        wheel.writestr(entry, content, compresslevel=int(os.environ.get("LEVEL", "6")))
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0)), record + f"{info}/RECORD,,\n")
print(out)
