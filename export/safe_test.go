package export_test

import (
	"testing"

	"assay/export"
)

func TestFormulasOfEveryWidthAreMarkedAndComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"=1+1", "+1", "-1", "@x", "\tx", "＝1+1", "＋1", "－1", "＠x", "'＝1", "''=1"} {
		marked := export.Safe(text)
		if marked != "'"+text || export.Plain(marked) != text {
			t.Errorf("%q is written as %q and read as %q", text, marked, export.Plain(marked))
		}
	}
	for _, text := range []string{"", "a=1", "東京", "'a", "–1"} {
		if marked := export.Safe(text); marked != text || export.Plain(text) != text {
			t.Errorf("%q is written as %q", text, marked)
		}
	}
}
