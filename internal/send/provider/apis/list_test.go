package apis

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// rows are n jobs of a list, each under an id of its own.
func rows(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

// TestAListThatMayHideMoreIsNeverAbsence has every kind of list end too early.
func TestAListThatMayHideMoreIsNeverAbsence(t *testing.T) {
	t.Parallel()
	const job = `{"id":"job%d","status":"completed"}`
	for name, c := range map[string]struct {
		kind, body string
		want       provider.Sighting
	}{
		"groq says that there is more, and repeats itself": {"groq", `{"has_more":true,"data":[` + rows(3, job) + `]}`,
			provider.Unclear},
		"groq says that there is more, and shows nothing": {"groq", `{"has_more":true,"data":[]}`, provider.Unclear},
		"groq fills a page and says nothing":              {"groq", `{"data":[` + rows(20, job) + `]}`, provider.Unclear},
		"groq says nothing":                               {"groq", `{"data":[` + rows(19, job) + `]}`, provider.Absent},
		"groq fills a page and says that this is all": {"groq", `{"has_more":false,"data":[` + rows(20, job) + `]}`,
			provider.Absent},
		"a server fills the page and says nothing": {"openai-compatible", `{"data":[` + rows(100, job) + `]}`,
			provider.Unclear},
		"a server says nothing":                             {"openai-compatible", `{"data":[` + rows(99, job) + `]}`, provider.Absent},
		"openai says that there is more, and shows nothing": {"openai", `{"has_more":true,"data":[]}`, provider.Unclear},
		"together fills a page":                             {"together", `[` + rows(50, job) + `]`, provider.Unclear},
		"together shows all there is":                       {"together", `[` + rows(51, job) + `]`, provider.Absent},
		"anthropic says that there is more, and not where":  {"anthropic", `{"has_more":true,"data":[]}`, provider.Unclear},
		"anthropic says that there is more, and repeats itself": {"anthropic",
			`{"has_more":true,"data":[` + rows(2, `{"id":"b%d","processing_status":"ended"}`) + `]}`, provider.Unclear},
		"openrouter fills the page and says nothing":            {"openrouter", `{"data":[` + rows(100, job) + `]}`, provider.Unclear},
		"openrouter says that there is more, and shows nothing": {"openrouter", `{"has_more":true,"data":[]}`, provider.Unclear},
		"gemini turns in a circle":                              {"gemini", `{"operations":[],"nextPageToken":"x"}`, provider.Unclear},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, c.kind, func(r *http.Request) *http.Response {
				if strings.HasSuffix(r.URL.Path, "/files") {
					return answer(200, `{"data":[]}`)
				}
				return answer(200, c.body)
			})
			s := provider.Search{Stamp: provider.Stamp{Run: "r", Segment: "s", Attempt: 1, SHA256: strings.Repeat("0", 64)}, Count: 7,
				Nonce: assay.NonceFrom([7]byte{1})}
			found, err := a.Batch.(provider.Finder).Find(context.Background(), s)
			if err != nil || found.Sighting != c.want {
				t.Errorf("%+v, %v, want %s", found, err, c.want)
			}
			partial := false
			for _, err := range a.Batch.(provider.Lister).List(context.Background()) {
				partial = partial || errors.Is(err, provider.ErrPartial) && provider.FaultOf(err) != nil
			}
			if want := c.want == provider.Unclear; partial != want {
				t.Errorf("the list says partial: %v, want %v", partial, want)
			}
		})
	}
}
