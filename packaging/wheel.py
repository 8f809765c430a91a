"""Writes a wheel that carries the program: wheel.py BINARY GOOS GOARCH VERSION FOLDER. A wheel is a zip file; no tool is needed."""

import base64
import hashlib
import pathlib
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

binary, goos, goarch, version, folder = sys.argv[1:]
here = pathlib.Path(__file__).parent
platform = PLATFORMS[goos, goarch]
version = version.lstrip("v")
if not version[:1].isdigit():
    version = "0.0.0.dev0"
elif "-" in version:  # a build between releases: 0.1.1-0.20261116…-abcdef
    version = version.split("-")[0] + ".dev" + "".join(c for c in version.split("-")[1] if c.isdigit())
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
        wheel.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0)), record + f"{info}/RECORD,,\n")
print(out)
