package media

import (
	"testing"
	"time"

	"assay/internal/assay"
)

func TestTokensOfPicturesAreThoseOfTheVendorsExamples(t *testing.T) {
	t.Parallel()
	small := Rule{Patches: &Patches{Factor: 1.2, High: Fit{1536, 2048}}}
	large := Rule{Patches: &Patches{Factor: 1.2, High: Fit{2500, 2048}, Original: &Fit{10000, 6000}}}
	open := Rule{Patches: &Patches{Factor: 1.2, High: Fit{2500, 2048}, Original: &Fit{}, Auto: "original"}}
	gpt4o, gpt5 := Rule{Tiles: &Tiles{85, 170}}, Rule{Tiles: &Tiles{70, 140}}
	for _, c := range []struct {
		w, h                                 int
		small, large, original, open, o4, g5 int
	}{
		{256, 256, 77, 77, 77, 77, 255, 210},
		{512, 512, 308, 308, 308, 308, 255, 210},
		{1024, 1024, 1229, 1229, 1229, 1229, 765, 630},
		{1800, 2400, 1743, 2942, 5130, 5130, 765, 630},
		{1920, 1080, 1810, 2448, 2448, 2448, 1105, 910},
		{2048, 768, 1844, 1844, 1844, 1844, 1445, 1190},
		{3840, 2160, 1810, 2765, 9792, 9792, 1105, 910},
		{4000, 2500, 1728, 2949, 11850, 11850, 1105, 910},
		{4032, 3024, 1743, 2942, 11868, 14364, 765, 630},
		{768, 1024, 922, 922, 922, 922, 765, 630},
		{1280, 720, 1104, 1104, 1104, 1104, 1105, 910},
	} {
		got := []int{small.Image(c.w, c.h, ""), large.Image(c.w, c.h, "high"), large.Image(c.w, c.h, "original"),
			open.Image(c.w, c.h, "auto"), gpt4o.Image(c.w, c.h, ""), gpt5.Image(c.w, c.h, "high")}
		for i, want := range []int{c.small, c.large, c.original, c.open, c.o4, c.g5} {
			if got[i] != want {
				t.Errorf("%dx%d, rule %d: %d tokens, want %d", c.w, c.h, i, got[i], want)
			}
		}
	}
	if n := small.Image(4000, 4000, "low"); n != 308 {
		t.Errorf("low detail: %d tokens, want 308", n)
	}
	if n := gpt4o.Image(4000, 4000, "low"); n != 85 {
		t.Errorf("low detail in tiles: %d tokens, want 85", n)
	}
}

func TestTokensOfSquares(t *testing.T) {
	t.Parallel()
	standard, sharp := Rule{Squares: &Squares{1568, 1568}}, Rule{Squares: &Squares{2576, 4784}}
	for _, c := range []struct{ w, h, standard, sharp int }{
		{200, 200, 64, 64}, {1000, 1000, 1296, 1296}, {1092, 1092, 1521, 1521}, {1075, 1520, 1551, 2145}, {1520, 1075, 1551, 2145},
		{1920, 1080, 1560, 2691}, {2000, 1500, 1564, 3888}, {3840, 2160, 1560, 4784}, {4000, 2500, 1550, 4698}, {4032, 3024, 1564, 4740},
		{1, 100000, 56, 92},
	} {
		if a, b := standard.Image(c.w, c.h, ""), sharp.Image(c.w, c.h, ""); a != c.standard || b != c.sharp {
			t.Errorf("%dx%d: %d and %d tokens, want %d and %d", c.w, c.h, a, b, c.standard, c.sharp)
		}
	}
}

func TestTokensOfOtherRules(t *testing.T) {
	t.Parallel()
	rows, pixtral := Rule{Rows: &Rows{28, 1540}}, Rule{Rows: &Rows{16, 1024}}
	crops := Rule{Crops: &Crops{Small: 384, Each: 258, Least: 256, Most: 768}}
	levels := Rule{Levels: &Levels{Low: 280, Medium: 560, High: 1120, Ultra: 2240, Auto: 1120}}
	nova := Rule{Sizes: []Size{{900, 450, 800}, {900, 900, 1300}, {1400, 900, 1800}, {1800, 900, 2400}, {1300, 1300, 2600}}}
	for _, c := range []struct {
		name   string
		rule   Rule
		w, h   int
		detail string
		want   int
	}{
		{"rows", rows, 1024, 1024, "", 1406}, {"rows", rows, 1920, 1080, "", 1736}, {"rows", rows, 1800, 2400, "", 2365},
		{"rows", rows, 512, 512, "", 380}, {"rows of 16", pixtral, 1024, 1024, "", 4160},
		{"crops", crops, 384, 384, "", 258}, {"crops", crops, 960, 540, "", 1548}, {"crops", crops, 3840, 2160, "", 3870},
		{"levels", levels, 10, 10, "", 1120}, {"levels", levels, 10, 10, "low", 280}, {"levels", levels, 10, 10, "ultra_high", 2240},
		{"sizes", nova, 800, 400, "", 800}, {"sizes", nova, 900, 900, "", 1300}, {"sizes", nova, 2600, 1300, "", 5200},
		{"flat", Rule{Flat: 384}, 4000, 4000, "", 384},
	} {
		if got := c.rule.Image(c.w, c.h, c.detail); got != c.want {
			t.Errorf("%s, %dx%d %s: %d tokens, want %d", c.name, c.w, c.h, c.detail, got, c.want)
		}
	}
}

func TestTokensOfDocumentsAndSounds(t *testing.T) {
	t.Parallel()
	r := Rule{Page: Page{Expected: 560, High: 1000}, Second: 32, Flat: 100, Slack: 0.3}
	for _, c := range []struct {
		name string
		of   assay.Media
		want Tokens
	}{
		{"a document", assay.Media{Kind: assay.MediaDocument, Pages: 3, Size: 9e6}, Tokens{1680, 3000}},
		{"one that cannot be counted", assay.Media{Kind: assay.MediaDocument, Size: 250 << 10}, Tokens{3 * 560, 3000}},
		{"one behind a URL", assay.Media{Kind: assay.MediaDocument, URL: "https://x"}, Tokens{5600, 10000}},
		{"a minute", assay.Media{Kind: assay.MediaAudio, Length: time.Minute}, Tokens{1920, 1920}},
		{"a sound of unknown length", assay.Media{Kind: assay.MediaAudio}, Tokens{1920, 1920}},
		{"a picture", assay.Media{Kind: assay.MediaImage, Width: 5, Height: 5}, Tokens{100, 130}},
	} {
		if got := r.Of(&c.of); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := (Rule{}).Of(&assay.Media{Kind: assay.MediaAudio, Length: time.Second}); got.Expected != secondTokens {
		t.Errorf("a sound without a rule: %v, want %d tokens a second", got, secondTokens)
	}
}
