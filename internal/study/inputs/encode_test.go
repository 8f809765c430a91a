package inputs

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

func TestAnItemIsEncodedInOneWay(t *testing.T) {
	t.Parallel()
	it := assay.Item{
		ID: "a \"b\"\n", Cluster: "c", Expect: "e", Place: assay.Place{File: "x.csv", Line: 2, Col: 3},
		Fields: map[string]any{"z": int64(1), "f": 1.0, "a": []any{nil, true, -0.5, 1e300}, "n": json.Number("12345678901234567890"),
			"s": "\u2028é\x01<>&\\", "m": map[string]any{}},
	}
	got, err := Encode([]byte("> "), it)
	if err != nil {
		t.Fatal(err)
	}
	same(t, `> {"id":"a \"b\"\n","cluster":"c","expect":"e","fields":{"a":[null,true,-0.5,1e+300],"f":1.0,"m":{},"n":12345678901234567890,"s":"`+"\u2028é"+`\u0001<>&\\","z":1},"place":["x.csv",2,3]}`, string(got))
	got, err = Encode(nil, assay.Item{ID: "1", Cluster: "1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, `{"id":"1"}`, string(got))
}

func TestAnyItemComesBackAsItWas(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		want := anyItem(random)
		line, err := Encode(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsRune(string(line), '\n') || !json.Valid(line) {
			t.Fatalf("not one line of JSON: %q", line)
		}
		got, err := decode(line)
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n(-want +got)\n%s", line, diff)
		}
		again, err := Encode(nil, got)
		if err != nil {
			t.Fatal(err)
		}
		same(t, string(line), string(again))
	}
}

func anyItem(r *rand.Rand) assay.Item {
	it := assay.Item{ID: anyText(r), Cluster: anyText(r), Expect: anyText(r)}
	if r.IntN(2) == 0 {
		it.Cluster = it.ID
	}
	if r.IntN(5) > 0 {
		it.Fields = anyValue(r, 0).(map[string]any)
	}
	if r.IntN(3) > 0 {
		it.Place = assay.Place{File: anyText(r), Line: r.IntN(5), Col: r.IntN(5)}
	}
	return it
}

func anyText(r *rand.Rand) string {
	runes := []rune("ab \"\\/\n\r\t\x01\x1fé🙂\u2028\ufffd{}[]:,#'")
	out := make([]rune, r.IntN(8))
	for i := range out {
		out[i] = runes[r.IntN(len(runes))]
	}
	return string(out)
}

func anyValue(r *rand.Rand, depth int) any {
	kind := r.IntN(9)
	if depth == 0 {
		kind = 8
	} else if depth > 4 {
		kind = r.IntN(7)
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return []int64{0, -1, math.MaxInt64, math.MinInt64, r.Int64()}[r.IntN(5)]
	case 3:
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			f = 0.1
		}
		return []float64{f, 1, -3, math.MaxFloat64, math.SmallestNonzeroFloat64, 1e21}[r.IntN(6)]
	case 4:
		return []json.Number{"9223372036854775808", "-1e999", "123456789012345678901234567890"}[r.IntN(3)]
	case 5, 6:
		return anyText(r)
	case 7:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = anyValue(r, depth+1)
		}
		return list
	}
	out := map[string]any{}
	for range r.IntN(5) {
		out[anyText(r)] = anyValue(r, depth+1)
	}
	return out
}

func TestNegativeZeroKeepsItsSign(t *testing.T) {
	t.Parallel()
	line, err := Encode(nil, assay.Item{ID: "1", Fields: map[string]any{"z": math.Copysign(0, -1)}})
	if err != nil {
		t.Fatal(err)
	}
	it, err := decode(line)
	if err != nil || !math.Signbit(it.Fields["z"].(float64)) {
		t.Errorf("%s gives %v, %v", line, it, err)
	}
}

func TestWhatCannotComeBackIsNotEncoded(t *testing.T) {
	t.Parallel()
	deep := any("x")
	for range maxEncoded {
		deep = []any{deep}
	}
	for name, v := range map[string]any{
		"a Go int": 1, "no number": math.NaN(), "infinity": math.Inf(-1), "not UTF-8": "\xff", "NUL": "a\x00",
		"a word for a number": json.Number("true"), "no JSON number": json.Number("0x1"), "a list of its own type": []string{"a"},
		"too deep": deep, "inside": []any{map[string]any{"x": struct{}{}}},
	} {
		if line, err := Encode([]byte("kept"), assay.Item{Fields: map[string]any{"v": v}}); err == nil || string(line) != "kept" {
			t.Errorf("%s: %.80q, %v", name, line, err)
		}
	}
	if _, err := Encode(nil, assay.Item{ID: "\xff"}); err == nil {
		t.Error("an id that is not UTF-8 is encoded")
	}
}

func TestTheDeepestRowCanBeEncodedAndDecoded(t *testing.T) {
	t.Parallel()
	row := strings.Repeat(`{"a":`, jsontext.RowDepth-1) + "[]" + strings.Repeat("}", jsontext.RowDepth-1)
	want := items(t, one(map[string]string{"a.jsonl": row}, Spec{File: "a.jsonl"}), "in")[0]
	line, err := Encode(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(line)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(nil, got)
	if err != nil {
		t.Fatal(err)
	}
	same(t, string(line), string(again))
}

func TestLinesThatAreNoItemsAreNotDecoded(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		``, `{}`, `[]`, `{"id":1}`, `{"id":"a","more":1}`, `{"id":"a","fields":[]}`, `{"id":"a","cluster":null}`, `{"id":"a","expect":3}`,
		`{"id":"a","place":["x",1]}`, `{"id":"a","place":["x",1.0,2]}`, `{"id":"a"}x`, "{\"id\":\"\xff\"}", `{"id":"a","id":"b"}`,
	} {
		if it, err := decode([]byte(line)); err == nil {
			t.Errorf("%s is decoded as %v", line, it)
		}
	}
}

func TestPlainTextEndsAtTheFirstByteThatIsNot(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	special := []byte("\"\\\x00\x01\x1f !#[]\x7f\x80\xa2\xdc\xff")
	for range 20_000 {
		b := make([]byte, random.IntN(40))
		for i := range b {
			b[i] = 'a'
			if random.IntN(8) == 0 {
				b[i] = special[random.IntN(len(special))]
			}
		}
		want := 0
		for want < len(b) && b[want] >= ' ' && b[want] != '"' && b[want] != '\\' {
			want++
		}
		if got := jsontext.Plain(b); got != want {
			t.Fatalf("%q: %d, want %d", b, got, want)
		}
	}
}
