package dialect_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/send/dialect"
)

func TestAGivenBodyGoesOutAsItWasWritten(t *testing.T) {
	t.Parallel()
	body := `{ "model" : "m", "messages":[{"role":"user","content":"a  b\u00e9 \u2028"}], "x": 1.50 }`
	for carrier, want := range map[assay.Carrier]string{
		assay.CarrierOpenAI:    `{"custom_id":"id","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"a  b\u00e9 \u2028"}],"x":1.50}}`,
		assay.CarrierBare:      `{"custom_id":"id","body":{"model":"m","messages":[{"role":"user","content":"a  b\u00e9 \u2028"}],"x":1.50}}`,
		assay.CarrierAnthropic: `{"custom_id":"id","params":{"model":"m","messages":[{"role":"user","content":"a  b\u00e9 \u2028"}],"x":1.50}}`,
		assay.CarrierBedrock:   `{"recordId":"id","modelInput":{"model":"m","messages":[{"role":"user","content":"a  b\u00e9 \u2028"}],"x":1.50}}`,
		assay.CarrierGemini:    `{"key":"id","request":{"model":"m","messages":[{"role":"user","content":"a  b\u00e9 \u2028"}],"x":1.50}}`,
	} {
		w := assay.Wire{Dialect: assay.DialectChat, Carrier: carrier, URL: "/v1/chat/completions"}
		got, err := dialect.AppendLine(nil, "id", &assay.Request{Wire: &w, Body: json.RawMessage(body)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", carrier, diff)
		}
	}
}

func TestTheFieldsOfALineAreThoseThatStandInIt(t *testing.T) {
	t.Parallel()
	for _, carrier := range []assay.Carrier{
		assay.CarrierOpenAI, assay.CarrierBare, assay.CarrierAnthropic, assay.CarrierGemini, assay.CarrierVertex, assay.CarrierOpenRouter,
		assay.CarrierBedrock,
	} {
		w := assay.Wire{Dialect: assay.DialectGenerate, Carrier: carrier, URL: "/v1/chat/completions"}
		line, err := dialect.AppendLine(nil, "id", &assay.Request{Wire: &w, Body: json.RawMessage(`{"contents":[]}`)})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		jsontext.Members(line, func(name, _ []byte) { names = append(names, string(name)) })
		if carrier == assay.CarrierVertex { // which echoes it, and has no name for it
			names = slices.DeleteFunc(names, func(name string) bool { return name == "custom_id" })
		}
		if diff := cmp.Diff(names, dialect.LineFields(carrier)); diff != "" {
			t.Errorf("%s (-line +fields):\n%s", carrier, diff)
		}
	}
	if got := dialect.LineFields(""); got != nil {
		t.Errorf("no carrier has the fields %v", got)
	}
}

func TestAVertexLabelJoinsThoseOfTheBodyAndIsTakenOutAgain(t *testing.T) {
	t.Parallel()
	w := assay.Wire{Dialect: assay.DialectGenerate, Carrier: assay.CarrierVertex}
	for body, want := range map[string]string{
		`{"contents":[]}`:                                         `{"custom_id":"id","request":{"labels":{"assay_id":"id"},"contents":[]}}`,
		`{"labels":{"team":"a"},"contents":[]}`:                   `{"custom_id":"id","request":{"labels":{"assay_id":"id","team":"a"},"contents":[]}}`,
		`{"contents":[],"labels":{"assay_id":"mine","team":"a"}}`: `{"custom_id":"id","request":{"labels":{"assay_id":"id","team":"a"},"contents":[]}}`,
	} {
		got, err := dialect.AppendLine(nil, "id", &assay.Request{Wire: &w, Body: json.RawMessage(body)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
	for _, bad := range []string{``, `[]`, `{`, `{"a":1}x`, `{"labels":3}`} {
		if _, err := dialect.AppendLine(nil, "id", &assay.Request{Wire: &w, Body: json.RawMessage(bad)}); err == nil && bad != "" {
			t.Errorf("%q was taken for a body", bad)
		}
	}
}

func TestAResultComesBackUnderItsAuthorsID(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"id":"b","custom_id":"x","response":{"custom_id":"deep"},"error":null}`:  `{"id":"b","custom_id":"it's \"me\"","response":{"custom_id":"deep"},"error":null}`,
		`{"custom_id":"x","result":{"type":"expired"}}`:                            `{"custom_id":"it's \"me\"","result":{"type":"expired"}}`,
		`{"recordId":"x","modelInput":{"recordId":"deep"},"modelOutput":{}}`:       `{"recordId":"it's \"me\"","modelInput":{"recordId":"deep"},"modelOutput":{}}`,
		`{"key":"x","response":{}}`:                                                `{"key":"it's \"me\"","response":{}}`,
		`{"batch_request_id":"x","batch_result":{}}`:                               `{"batch_request_id":"it's \"me\"","batch_result":{}}`,
		`{"status":"","request":{"labels":{"assay_id":"x"},"contents":[1]}}`:       `{"status":"","request":{"contents":[1]}}`,
		`{"request":{"labels":{"assay_id":"x","team":"a"},"contents":[1]},"x":{}}`: `{"request":{"labels":{"team":"a"},"contents":[1]},"x":{}}`,
		`{"request":{"contents":["assay_id"]}}`:                                    `{"request":{"contents":["assay_id"]}}`,
		`{"custom\u005fid":"x"}`:                                                   `{"custom\u005fid":"it's \"me\""}`,
	} {
		got, err := dialect.AppendRenamed(nil, []byte(line), `it's "me"`)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	if _, err := dialect.AppendRenamed(nil, []byte(`{"custom_id":`), "x"); err == nil {
		t.Error("a cut line was renamed")
	}
}

func TestOnlyAnObjectGetsAnotherModel(t *testing.T) {
	t.Parallel()
	got, err := dialect.AppendModel([]byte("x"), []byte(` {"model":"a","n":1}`), "b")
	if err != nil || string(got) != `x{"model":"b","n":1}` {
		t.Errorf("%s, %v", got, err)
	}
	for _, body := range []string{`[1]`, `"text"`, `{"model":`, `}`, ``} {
		if got, err := dialect.AppendModel([]byte("x"), []byte(body), "b"); err == nil || string(got) != "x" {
			t.Errorf("%q became %s, want an error and what was there before", body, got)
		}
	}
}
