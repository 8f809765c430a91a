package inputs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
)

// written returns a parquet file of rows, in row groups of at most perGroup.
func written[T any](tb testing.TB, perGroup int64, rows ...T) []byte {
	tb.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[T](&buf, parquet.MaxRowsPerRowGroup(perGroup))
	if _, err := w.Write(rows); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

func parquetSource(data []byte, spec Spec) *Source {
	spec.File, spec.At = "a.parquet", studyPlace
	return Open(fstest.MapFS{"a.parquet": {Data: data}}, map[string]Spec{"in": spec})
}

type inner struct {
	Label string   `parquet:"label"`
	Tags  []string `parquet:"tags,list"`
}

type wide struct {
	ID     string           `parquet:"id"`
	Small  int32            `parquet:"small"`
	Byte   uint8            `parquet:"byte"`
	Big    uint64           `parquet:"big"`
	Real   float64          `parquet:"real"`
	Single float32          `parquet:"single"`
	Yes    bool             `parquet:"yes"`
	Maybe  *string          `parquet:"maybe,optional"`
	Texts  []string         `parquet:"texts,list"`
	Plain  []int64          `parquet:"plain"`
	Inner  *inner           `parquet:"inner,optional"`
	Many   []inner          `parquet:"many,list"`
	Counts map[string]int64 `parquet:"counts"`
	When   time.Time        `parquet:"when,timestamp(microsecond)"`
	Day    int32            `parquet:"day,date"`
	Hour   int32            `parquet:"hour,time(millisecond)"`
	Price  int64            `parquet:"price,decimal(2:18)"`
	UUID   [16]byte         `parquet:"uuid,uuid"`
	Raw    []byte           `parquet:"raw"`
	Old    deprecated.Int96 `parquet:"old"`
}

func TestParquetKeepsTypesAndNesting(t *testing.T) {
	t.Parallel()
	there := "there"
	data := written(t, 1,
		wide{
			ID: "x y", Small: -5, Byte: 200, Big: math.MaxUint64, Real: 0.25, Single: 0.1, Yes: true, Maybe: &there,
			Texts: []string{"a", "", "b"}, Plain: []int64{1, 2}, Inner: &inner{"l", []string{"p", "q"}},
			Many: []inner{{"m", nil}, {"n", []string{"r", "s"}}}, Counts: map[string]int64{"one": 1, "two": 2},
			When: time.Date(2026, 10, 3, 4, 5, 6, 7000, time.UTC), Day: 20000, Hour: 3_723_004, Price: -1234,
			UUID: [16]byte{1, 2, 15: 0xFF}, Raw: []byte("raw"), Old: deprecated.Int96{0: 5, 2: 2440589},
		},
		wide{ID: "z", Real: math.NaN(), Big: 7, Old: deprecated.Int96{2: 2440588}},
	)
	got := items(t, parquetSource(data, Spec{}), "in")
	same(t, []string{"x y", "z"}, []string{got[0].ID, got[1].ID})
	same(t, at("a.parquet", 2, 0), got[1].Place)
	same(t, fields{
		"id": "x y", "small": int64(-5), "byte": int64(200), "big": json.Number("18446744073709551615"), "real": 0.25, "single": 0.1,
		"yes": true, "maybe": "there", "texts": []any{"a", "", "b"}, "plain": []any{int64(1), int64(2)}, "inner": fields{"label": "l",
			"tags": []any{"p", "q"}}, "many": []any{fields{"label": "m", "tags": []any{}}, fields{"label": "n", "tags": []any{"r", "s"}}},
		"counts": fields{"one": int64(1), "two": int64(2)},
		"when":   "2026-10-03T04:05:06.000007Z", "day": "2024-10-04", "hour": "01:02:03.004", "price": -12.34,
		"uuid": "01020000-0000-0000-0000-0000000000ff", "raw": "raw", "old": "1970-01-02T00:00:00.000000005Z",
	}, got[0].Fields)
	same(t, []any{nil, nil, []any{}, []any{}, nil, []any{}, fields{}, int64(7)}, []any{
		got[1].Fields["real"], got[1].Fields["maybe"], got[1].Fields["texts"], got[1].Fields["plain"], got[1].Fields["inner"],
		got[1].Fields["many"], got[1].Fields["counts"], got[1].Fields["big"]})
}

type plainRow struct {
	Text string `parquet:"text"`
	N    int64  `parquet:"n"`
}

func TestParquetRowsAreReadGroupByGroup(t *testing.T) {
	t.Parallel()
	var rows []plainRow
	for i := range 1000 {
		rows = append(rows, plainRow{fmt.Sprint("row ", i), int64(i)})
	}
	s := parquetSource(written(t, 130, rows...), Spec{Rows: []Range{{129, 133}, {1000, 0}}})
	same(t, []string{"129", "130", "131", "132", "133", "1000"}, ids(t, s, "in"))
	same(t, any("row 999"), items(t, s, "in")[5].Fields["text"])
}

func TestParquetTellsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	whole := written(t, 10, plainRow{"x", 1})
	damaged := bytes.Clone(whole)
	for i := 4; i < 40; i++ {
		damaged[i] ^= 0xA5
	}
	type floats struct {
		F float64 `parquet:"f"`
	}
	tests := map[string]struct {
		data []byte
		want string
	}{
		"not parquet":    {[]byte("id,text\nthis is a CSV"), "a.parquet: parquet: the file does not end as parquet does"},
		"a false footer": {[]byte("PAR1....\xFF\xFF\xFF\x7FPAR1"), "a.parquet: parquet: the footer cannot have 2147483647 bytes"},
		"a long footer":  {[]byte("PAR1....\xE8\x03\x00\x00PAR1"), "a.parquet: parquet: the footer cannot have 1000 bytes"},
		"too short":      {[]byte("PAR1"), "a.parquet: parquet: the file has 4 bytes and cannot be parquet"},
		"cut":            {whole[:len(whole)-20], ""},
		"damaged":        {damaged, ""},
		"not text": {written(t, 10, plainRow{"\xff", 1}),
			`a.parquet:1: column "text": invalid UTF-8 (byte 0xFF) at byte 1 of the value: only text is read`},
		"infinity":       {written(t, 10, floats{1}, floats{math.Inf(1)}), `a.parquet:2: column "f": infinity is not a value`},
		"missing column": {whole, "study.yaml:3:5: input in has no field \"nothing\", which `id` names (it has \"text\", \"n\")"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := Spec{}
			if name == "missing column" {
				spec.ID = "nothing"
			}
			got := reported(t, parquetSource(test.data, spec))
			if len(got) != 1 || test.want != "" && got[0] != test.want {
				t.Errorf("reported %q", got)
			}
		})
	}
}

func TestAPanicOfTheCallerIsNotTakenForADamagedFile(t *testing.T) {
	t.Parallel()
	s := parquetSource(written(t, 10, plainRow{"x", 1}), Spec{})
	defer func() { same(t, any("mine"), recover()) }()
	for range s.Items(t.Context(), "in") {
		panic("mine")
	}
}
