package media

import (
	"strings"
	"testing"

	"assay/internal/assay"
)

func TestLimitsRefuseWhatAProviderWouldNotTake(t *testing.T) {
	t.Parallel()
	l := Limits{Images: []string{"image/png"}, Documents: []string{"application/pdf"}, URLs: []assay.MediaKind{assay.MediaImage},
		ImageBytes: 1000, ImageBase64: 1200, ImageSide: 800, ImageCount: 3, Many: Many{Over: 2, Side: 100}, DocumentBytes: 5000,
		DocumentCount: 2,
		DocumentPages: 10, Body: 7000}
	png := func(size int64, side int) *assay.Media {
		return &assay.Media{Kind: assay.MediaImage, Type: "image/png", Size: size, Width: side, Height: 5}
	}
	pdf := func(size int64, pages int) *assay.Media {
		return &assay.Media{Kind: assay.MediaDocument, Type: "application/pdf", Size: size, Pages: pages}
	}
	for _, c := range []struct {
		name  string
		shown []*assay.Media
		why   string // empty: it is taken
	}{
		{"small", []*assay.Media{png(900, 800), pdf(2000, 3)}, ""},
		{"at the limit of base64", []*assay.Media{png(900, 10)}, ""},
		{"above it", []*assay.Media{png(901, 10)}, "1.2 kB in base64"},
		{"too many bytes", []*assay.Media{png(1001, 10)}, "at most 1.0 kB"},
		{"too wide", []*assay.Media{png(10, 801)}, "800 pixels a side, this one has 801"},
		{"too many", []*assay.Media{png(1, 1), png(1, 1), png(1, 1), png(1, 1)}, "at most 3 pictures in a request, there are 4"},
		{"wide among many", []*assay.Media{png(1, 101), png(1, 1), png(1, 1)}, "where there are more than 2, one has 101"},
		{"another type", []*assay.Media{{Kind: assay.MediaImage, Type: "image/heic"}}, "takes no image/heic"},
		{"another kind", []*assay.Media{{Kind: assay.MediaAudio, Type: "audio/wav"}}, "takes no sounds"},
		{"a URL", []*assay.Media{{Kind: assay.MediaImage, URL: "https://a/b.png"}}, ""},
		{"a URL of another kind", []*assay.Media{{Kind: assay.MediaDocument, URL: "https://a/b.pdf"}}, "does not fetch documents"},
		{"three documents", []*assay.Media{pdf(1, 1), pdf(1, 1), pdf(1, 1)}, "at most 2 documents"},
		{"too many pages", []*assay.Media{pdf(1, 6), pdf(1, 5)}, "10 pages, there are 11"},
		{"too much paper", []*assay.Media{pdf(5001, 1)}, "documents of at most"},
		{"a large body", []*assay.Media{png(900, 1), png(900, 1), pdf(4000, 1)}, "the files alone"},
	} {
		got := l.Check(c.shown, true)
		if c.why == "" && len(got) > 0 || c.why != "" && (len(got) != 1 || !strings.Contains(got[0].Why, c.why) || got[0].Hint == "") {
			t.Errorf("%s: %+v, want %q", c.name, got, c.why)
		}
	}
	l.BatchURLs = true
	if got := l.Check([]*assay.Media{png(1, 1)}, true); len(got) != 1 || !strings.Contains(got[0].Why, "only by URL") {
		t.Errorf("in a batch: %+v", got)
	}
	if got := l.Check([]*assay.Media{png(1, 1)}, false); len(got) != 0 {
		t.Errorf("live: %+v", got)
	}
}
