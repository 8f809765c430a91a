package batchrun_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/study/catalog"
)

// Files for endpoints whose replies are no text go out as they are, and their replies come back as they came.
func TestEndpointsThatGiveNoTextPassThrough(t *testing.T) {
	t.Parallel()
	const call = `{"custom_id":"%s","method":"POST","url":"%s","body":%s}` + "\n"
	const bare = `{"custom_id":"%s","body":%s}` + "\n"
	for _, x := range []struct {
		provider, name, url, body, model string
		reply                            string // what a reply holds
		priced                           bool
	}{
		{"openai", "embeddings", "/v1/embeddings", `{"model":"text-embedding-3-small","input":["one word","two words"],"dimensions":8}`, "",
			`"embedding":[`, true},
		{"openai", "moderations", "/v1/moderations", `{"model":"omni-moderation-latest","input":"some violence"}`, "", `"flagged":true`, false},
		{"mistral", "embeddings", "", `{"model":"mistral-embed","input":"one word"}`, "", `"object":"embedding"`, false},
		{"mistral", "embeddings", "", `{"input":"one word"}`, "mistral-embed", `"object":"embedding"`, false},
		{"mistral", "moderations", "", `{"model":"mistral-moderation-latest","input":["some hate"]}`, "", `"hate":true`, false},
	} {
		for _, mode := range []assay.Mode{assay.ModeBatch, assay.ModeLive} {
			if mode == assay.ModeLive && x.model != "" { // a live call has no other place for the model
				continue
			}
			name := strings.Join([]string{x.provider, x.name, x.model, string(mode)}, " ")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				text := ""
				for _, id := range []string{"first line", "second"} {
					if x.url == "" {
						text += fmt.Sprintf(bare, id, x.body)
					} else {
						text += fmt.Sprintf(call, id, x.url, x.body)
					}
				}
				r := newRig(t)
				run := r.begin("run", "in.jsonl", text, batchfile.Options{Provider: x.provider, Model: x.model, Mode: mode})
				b, _ := batchrun.Of(run)
				if l := b.File.Lanes[0]; l.API != x.name || (l.High.Priced > 0) != x.priced || x.priced && l.High.Sum < l.Expected.Sum {
					t.Errorf("lane %+v", l)
				}
				run, _ = r.drive(run, nil)
				got, results, failed := r.collect(run, batchrun.FormatProvider)
				if diff := cmp.Diff(batchrun.Tally{Answers: 2}, got); diff != "" || strings.Count(results, x.reply) < 2 {
					t.Fatalf("(-want +got):\n%s\n%s\n%s", diff, results, failed)
				}
				_, rows, _ := r.collect(run, batchrun.FormatJSONL)
				if x.priced == strings.Contains(rows, `"cost_usd":null`) {
					t.Errorf("priced: want %t, rows:\n%s", x.priced, rows)
				}
			})
		}
	}
}

func TestDataThatCannotBeSentIsRefused(t *testing.T) {
	t.Parallel()
	const line = `{"custom_id":"a","method":"POST","url":"/v1/embeddings","body":{"model":"m"%s}}` + "\n"
	for _, x := range []struct{ provider, text, want string }{
		{"openai", fmt.Sprintf(line, ""), "the body has no input"},
		{"groq", fmt.Sprintf(line, `,"input":"x"`), "groq has no embeddings api"},
		{"together", `{"custom_id":"a","body":{"model":"m","input":"x"}}`, "together has no embeddings api"},
	} {
		_, problems, err := batchfile.Check(t.Context(), opener(x.text), batchfile.Options{Name: "in.jsonl", Provider: x.provider,
			Mode: assay.ModeBatch, Catalog: catalog.Default()})
		if err != nil || !strings.Contains(fmt.Sprint(problems), x.want) {
			t.Errorf("%s: %v, %v", x.provider, problems, err)
		}
	}
}
