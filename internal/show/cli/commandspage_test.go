package cli_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const commandsHead = "# Commands\n\nWritten by `make update` from the program itself: what `assay help COMMAND` prints. Flags that many " +
	"commands share stand at the end.\n"

// shared are flags that stand once on the page.
var shared = regexp.MustCompile(`(?m)^ +--(home|db|artifacts|cache|connections)\b.*\n`)

// commandsPage is docs/commands.md as the program has it now.
func commandsPage(help func(args ...string) string) string {
	var page strings.Builder
	page.WriteString(commandsHead)
	for _, line := range regexp.MustCompile(`(?m)^(?:([A-Z][a-z]+):|  ([a-z]+) {2,}.*)$`).FindAllStringSubmatch(help("help", "--all"), -1) {
		switch name := line[2]; {
		case line[1] != "" && slices.Contains([]string{"Start", "Run", "Look", "Decide", "Tools"}, line[1]):
			fmt.Fprintf(&page, "\n## %s\n", line[1])
		case name == "" || name == "help" || name == "assay":
		default:
			page.WriteString(section(name, help("help", name)))
			for _, sub := range regexp.MustCompile(`(?m)^  ([a-z]+) {2,}`).
				FindAllStringSubmatch(between(help("help", name), "Available Commands:\n", "\n\n"), -1) {
				page.WriteString(section(name+" "+sub[1], help(name, sub[1], "--help")))
			}
		}
	}
	page.WriteString("\n## Exit codes\n\n```text\n" +
		strings.Trim(between(help("help", "exit-codes"), "Exit codes:\n", ""), "\n") + "\n```\n")
	some := help("help", "status")
	page.WriteString("\n## Flags that many commands share\n\n```text\n" + strings.Join(shared.FindAllString(some, -1), "") +
		between(some, "Global Flags:\n", "") + "```\n")
	return page.String()
}

// section returns the chapter of one command.
func section(name, help string) string {
	about, rest, _ := strings.Cut(help, "\nUsage:\n")
	rest, _, _ = strings.Cut(rest, "\nGlobal Flags:\n")
	rest, _, _ = strings.Cut(rest, "\nUse \"assay")
	rest = regexp.MustCompile(`(?m)^ +-h, --help .*\n`).ReplaceAllString(shared.ReplaceAllString(rest, ""), "")
	rest = strings.ReplaceAll(strings.TrimSuffix(strings.TrimRight(rest, "\n"), "\nFlags:"), "\n\n\n", "\n\n")
	return fmt.Sprintf("\n### assay %s\n\n```text\n%s\n\nUsage:\n%s\n```\n", name, strings.TrimSpace(about), strings.TrimRight(rest, "\n"))
}

func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	if to != "" {
		text, _, _ = strings.Cut(text, to)
	}
	return text
}

// TestTheCommandsPageNamesWhatIsThere holds docs/commands.md against the program: every command has its chapter, and every flag that the
// page names is one. `make update` writes the page anew.
func TestTheCommandsPageNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	c := &newcomer{t: t, dir: t.TempDir()}
	help := func(args ...string) string { return c.run(0, args...) }
	if *update {
		if err := os.WriteFile("../../../docs/commands.md", []byte(commandsPage(help)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	chapters := map[string]string{}
	for _, part := range strings.Split(string(text), "\n### assay ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		chapters[name], _, _ = strings.Cut(body, "\n## ")
	}
	for _, name := range designed {
		if chapters[name] == "" {
			t.Errorf("docs/commands.md has no chapter on %s: make update", name)
		}
	}
	flags := 0
	for name, body := range chapters {
		now := help(append(strings.Fields(name), "--help")...)
		for _, m := range regexp.MustCompile(`(?m)^ +(?:-[a-z], )?(--[a-z-]+)`).FindAllStringSubmatch(body, -1) {
			flags++
			if !regexp.MustCompile(m[1] + `\b`).MatchString(now) {
				t.Errorf("docs/commands.md: assay %s has no flag %s: make update", name, m[1])
			}
		}
	}
	if flags < 80 {
		t.Errorf("%d flags were found", flags)
	}
}
