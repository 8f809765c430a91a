package assay_test

import (
	"testing"

	"assay/internal/assay"
)

func TestFormulasOfEveryWidthAreMarkedAndComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"=1+1", "+1", "-1", "@x", "\tx", "＝1+1", "＋1", "－1", "＠x", "'＝1", "''=1"} {
		marked := assay.SafeCell(text)
		if marked != "'"+text || assay.PlainCell(marked) != text {
			t.Errorf("%q is written as %q and read as %q", text, marked, assay.PlainCell(marked))
		}
	}
	for _, text := range []string{"", "a=1", "東京", "'a", "–1"} {
		if marked := assay.SafeCell(text); marked != text || assay.PlainCell(text) != text {
			t.Errorf("%q is written as %q", text, marked)
		}
	}
}
