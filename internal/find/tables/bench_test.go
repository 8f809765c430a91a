package tables

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"assay/test/ratiotest"
)

func benchTable(rows int) []byte {
	var b bytes.Buffer
	b.WriteString("a,b,winner\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range rows {
		i := r.IntN(100)
		j := (i + 1 + r.IntN(99)) % 100
		fmt.Fprintf(&b, "model-%d,model-%d,%s\n", i, j, [...]string{"a", "b", "tie"}[r.IntN(3)])
	}
	return b.Bytes()
}

// BenchmarkTally holds counting the comparisons of a table against encoding/csv cutting it into fields: at most 1.5 floors.
func BenchmarkTally(b *testing.B) {
	text := benchTable(1e5)
	b.SetBytes(int64(len(text)))
	ratiotest.Against(b, func() { cutByStandard(b, text) }, func() {
		t, err := Open(bytes.NewReader(text), "bench.csv")
		if err != nil {
			b.Fatal(err)
		}
		c, err := t.Comparisons(Columns{A: "a", B: "b", Winner: "winner"}, MaxTallied)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Tally(); err != nil {
			b.Fatal(err)
		}
	})
}

func cutByStandard(b *testing.B, text []byte) {
	r := csv.NewReader(bytes.NewReader(text))
	r.ReuseRecord = true
	for {
		if _, err := r.Read(); err == io.EOF {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}
