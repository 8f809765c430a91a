package cli_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const commandsHead = "# Commands\n\nEvery command in one line, with its examples and flags. `assay help COMMAND` explains each in full. " +
	"STUDY is a study file or its folder (`study.yaml` here when omitted). RUN is the id of a run, the beginning of one, the name of " +
	"a study (its newest run) or `latest`, which is the default.\n\n" +
	"Flags that many commands share are [at the end](#shared-flags). `make update` writes this page from the program.\n"

// shared are flags that stand once on the page: those of the home, of the study, and of a provider that is asked directly.
var shared = []struct {
	title, of string
	flags     *regexp.Regexp
}{
	{"Where runs are kept", "status", regexp.MustCompile(`(?m)^ +--(home|db|artifacts|cache|connections) .*\n`)},
	{"Changes to the study", "plan", regexp.MustCompile(`(?m)^ +--(prices|profile|set) .*\n`)},
	{"A provider that is asked without a study", "cancel",
		regexp.MustCompile(`(?m)^ +--(account|base-url|batch-api|bucket|key-env|location|project|role) .*\n`)},
}

// takes finds the kind of value that a flag takes.
var takes = regexp.MustCompile(`(?m)^( +(?:-[a-z], )?--[a-z-]+) (?:string|strings|stringArray|int|uint|float|duration|bytes|stringToString|FILE)\b`)

// commandsPage is docs/commands.md as the program has it now.
func commandsPage(help func(args ...string) string) string {
	var page strings.Builder
	page.WriteString(commandsHead)
	all := help("help", "--all")
	for _, line := range regexp.MustCompile(`(?m)^(?:([A-Z][a-z]+):|  ([a-z]+) {2,}(.*))$`).FindAllStringSubmatch(all, -1) {
		switch name := line[2]; {
		case line[1] != "" && slices.Contains([]string{"Start", "Run", "Look", "Decide", "Tools"}, line[1]):
			fmt.Fprintf(&page, "\n## %s\n", line[1])
		case name == "" || name == "help" || name == "assay":
		default:
			page.WriteString(section(name, line[3], help("help", name)))
			for _, sub := range regexp.MustCompile(`(?m)^  ([a-z]+) {2,}(.*)$`).
				FindAllStringSubmatch(between(help("help", name), "Available Commands:\n", "\n\n"), -1) {
				page.WriteString(section(name+" "+sub[1], sub[2], help(name, sub[1], "--help")))
			}
		}
	}
	page.WriteString("\n## Exit codes\n\n```text\n" +
		strings.Trim(between(help("help", "exit-codes"), "Exit codes:\n", ""), "\n") + "\n```\n")
	page.WriteString("\n## Shared flags\n")
	for _, s := range shared {
		fmt.Fprintf(&page, "\n%s:\n\n```text\n%s```\n", s.title, values(strings.Join(s.flags.FindAllString(help("help", s.of), -1), "")))
	}
	fmt.Fprintf(&page, "\nEvery command:\n\n```text\n%s```\n", between(help("help", "status"), "Global Flags:\n", ""))
	return page.String()
}

// section returns the chapter of one command: what it does in one line, how it is typed, examples and its own flags.
func section(name, short, help string) string {
	_, rest, _ := strings.Cut(help, "\nUsage:\n")
	rest, _, _ = strings.Cut(rest, "\nGlobal Flags:\n")
	rest, _, _ = strings.Cut(rest, "\nUse \"assay")
	if i := strings.Index(rest, "\nAvailable Commands:\n"); i >= 0 { // its chapters follow
		rest = regexp.MustCompile(`(?m)^  assay \w+( \[\w+\])?\n`).ReplaceAllString(rest[:i], "")
	}
	rest = regexp.MustCompile(`(?m)^ +-h, --help .*\n`).ReplaceAllString(rest, "")
	for _, s := range shared {
		rest = s.flags.ReplaceAllString(rest, "")
	}
	rest = regexp.MustCompile(`(?m)^(Examples|Flags):\n`).ReplaceAllString(rest, "")
	rest = strings.ReplaceAll(strings.TrimRight(strings.ReplaceAll(rest, " [flags]", ""), "\n"), "\n\n\n", "\n\n")
	if rest = values(strings.Trim(rest, "\n")); rest == "" {
		return fmt.Sprintf("\n### assay %s\n\n%s.\n", name, short)
	}
	return fmt.Sprintf("\n### assay %s\n\n%s.\n\n```text\n%s\n```\n", name, short, rest)
}

// values writes --flag=… in place of a flag and the kind of its value, as wide as before.
func values(flags string) string {
	return takes.ReplaceAllStringFunc(flags, func(flag string) string {
		name := takes.ReplaceAllString(flag, "$1=…")
		return name + strings.Repeat(" ", max(0, len([]rune(flag))-len([]rune(name))))
	})
}

func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	if to != "" {
		text, _, _ = strings.Cut(text, to)
	}
	return text
}

// TestTheCommandsPageIsWhatTheProgramPrints holds docs/commands.md against the program. `make update` writes the page anew.
func TestTheCommandsPageIsWhatTheProgramPrints(t *testing.T) {
	t.Parallel()
	c := &newcomer{t: t, dir: t.TempDir()}
	now := commandsPage(func(args ...string) string { return c.run(0, args...) })
	if *update {
		if err := os.WriteFile("../../../docs/commands.md", []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), now); diff != "" {
		t.Errorf("docs/commands.md is not what the program prints (make update; -page +program):\n%s", diff)
	}
	for _, name := range designed {
		if !strings.Contains(now, "\n### assay "+name+"\n") {
			t.Errorf("docs/commands.md has no chapter on %s", name)
		}
	}
	if flags := len(regexp.MustCompile(`(?m)^ +(?:-[a-z], )?--[a-z-]+`).FindAllString(now, -1)); flags < 80 {
		t.Errorf("%d flags were found", flags)
	}
}
