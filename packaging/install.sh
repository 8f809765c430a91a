#!/bin/sh
# Installs the program of a release: install.sh [VERSION]. The archive is taken from $ASSAY_URL, held against the release's checksums, and its program
# is put into $ASSAY_BIN (~/.local/bin). Nothing else is written.
set -eu
url=${ASSAY_URL:-@URL@}
version=${1:-@VERSION@}
bin=${ASSAY_BIN:-$HOME/.local/bin}
fail() { echo "install.sh: $*" >&2; exit 1; }

case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) fail "no archive is made for $(uname -s): see docs/install.md" ;; esac
case $(uname -m) in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) fail "no archive is made for $(uname -m)" ;; esac
name=assay_${version}_${os}_$arch
if command -v curl >/dev/null; then get() { curl -fsSL "$1" -o "$2"; }; elif command -v wget >/dev/null; then get() { wget -q "$1" -O "$2"; }; else fail "curl or wget is needed"; fi
if command -v sha256sum >/dev/null; then sum() { sha256sum "$1"; }; else sum() { shasum -a 256 "$1"; }; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
get "$url/$name.tar.gz" "$work/$name.tar.gz" || fail "$url/$name.tar.gz cannot be fetched"
get "$url/SHA256SUMS" "$work/SHA256SUMS" || fail "$url/SHA256SUMS cannot be fetched"
want=$(awk -v name="$name.tar.gz" '$2 == name {print $1}' "$work/SHA256SUMS")
[ -n "$want" ] || fail "SHA256SUMS does not name $name.tar.gz"
[ "$(sum "$work/$name.tar.gz" | cut -d' ' -f1)" = "$want" ] || fail "$name.tar.gz is not what SHA256SUMS says: nothing was installed"
tar -xzf "$work/$name.tar.gz" -C "$work"
mkdir -p "$bin"
mv "$work/$name/assay" "$bin/.assay.new" && mv "$bin/.assay.new" "$bin/assay" # one that runs goes on
"$bin/assay" version
case :$PATH: in *":$bin:"*) ;; *) echo "put $bin on your PATH" ;; esac
