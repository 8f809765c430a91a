package tables_test

import (
	"strings"
	"testing"

	"assay/internal/find/tables"
)

func TestATableOfASpreadsheetMayHaveSemicolonsOrTabs(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"commas.csv": "a,b,winner\nx,y,x\n", "semicolons.csv": "a;b;winner\nx;y;x\n", "tabs.csv": "a\tb\twinner\nx\ty\tx\n",
		"quoted.csv": "\"a\";b;\"winner\"\nx;\"y, or z\";x\n", "tabs.tsv": "a\tb\twinner\nx, y\tz\tx\n",
	} {
		table, err := tables.Open(strings.NewReader(text), name)
		if err != nil || !table.Has("a") || !table.Has("b") || !table.Has("winner") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
