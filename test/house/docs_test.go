package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// markdown returns the pages of the repository, by their paths.
func markdown(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" ||
			d.Name() == "bin" || d.Name() == "prompts") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".md") {
			text, err := os.ReadFile(name)
			pages[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

var (
	fenced   = regexp.MustCompile("(?ms)^```.*?^```")
	spanned  = regexp.MustCompile("`[^`\n]*`")
	linked   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headed   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	unlinked = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the names by which the headings of a page are linked to.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range headed.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		out[strings.ReplaceAll(unlinked.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return out
}

func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages := markdown(t)
	links := 0
	for page, text := range pages {
		text = spanned.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
		for _, m := range linked.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
			} else if anchor != "" && !anchors(pages[target])[anchor] {
				t.Errorf("%s: %s has no heading %s", page, target, anchor)
			}
		}
	}
	if len(pages) < 15 || links < 25 {
		t.Errorf("%d pages and %d links were found", len(pages), links)
	}
}

func TestEveryPageIsListed(t *testing.T) {
	t.Parallel()
	pages := markdown(t)
	site, err := os.ReadFile("mkdocs.yml")
	if err != nil {
		t.Fatal(err)
	}
	for page := range pages {
		name, is := strings.CutPrefix(filepath.ToSlash(page), "docs/")
		if !is || strings.HasSuffix(name, "README.md") {
			continue
		}
		list := "docs/README.md"
		if inner, dev := strings.CutPrefix(name, "dev/"); dev { // pages for who changes the code are not on the site
			name, list = inner, "docs/dev/README.md"
		} else if !strings.Contains(string(site), ": "+name+"\n") {
			t.Errorf("%s is not in mkdocs.yml", page)
		}
		if !strings.Contains(pages[filepath.FromSlash(list)], "]("+name+")") {
			t.Errorf("%s is not in %s", page, list)
		}
	}
}

// siteWords is how many words the site may have. Put a sentence in the place of another.
const siteWords = 30000

func TestTheSiteStaysShort(t *testing.T) {
	t.Parallel()
	words := 0
	for page, text := range markdown(t) {
		if name := filepath.ToSlash(page); strings.HasPrefix(name, "docs/") && !strings.HasPrefix(name, "docs/dev/") {
			words += len(strings.Fields(text))
		}
	}
	if words > siteWords || words < 10000 {
		t.Errorf("the pages of docs/ have %d words, at most %d", words, siteWords)
	}
}

func TestThePageOnStatisticsStaysShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/statistics.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(text))); n > 3200 {
		t.Errorf("docs/statistics.md has %d words, at most 3,200: put a sentence in the place of another", n)
	}
}
