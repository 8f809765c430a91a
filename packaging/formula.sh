#!/usr/bin/env bash
# Prints a Homebrew formula for the archives in a folder: formula.sh VERSION FOLDER URL, where URL is where the archives will be.
set -euo pipefail
version=$1 folder=$2 url=$3
sum() { sha256sum "$folder/assay_${version}_$1.tar.gz" 2>/dev/null | cut -d' ' -f1; }
archive() { # of one system, where it was built
	[ -e "$folder/assay_${version}_$2.tar.gz" ] || return 0
	printf '    on_%s do\n      url "%s/assay_%s_%s.tar.gz"\n      sha256 "%s"\n    end\n' "$1" "$url" "$version" "$2" "$(sum "$2")"
}
cat <<EOF
class Assay < Formula
  desc "Compare language models with many questions, at batch prices, losing nothing"
  homepage "$url"
  version "${version#v}"
  license "Apache-2.0"

  on_macos do
$(archive arm darwin_arm64)
$(archive intel darwin_amd64)
  end
  on_linux do
$(archive arm linux_arm64)
$(archive intel linux_amd64)
  end

  def install
    bin.install "assay"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/assay.bash" => "assay"
    zsh_completion.install "completions/_assay"
    fish_completion.install "completions/assay.fish"
  end

  test do
    system bin/"assay", "init", "study"
    system bin/"assay", "run", "study", "--rehearse"
  end
end
EOF
