package tables

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/stats"
)

var plainColumns = Columns{A: "a", B: "b", Winner: "winner"}

func open(t *testing.T, text string) *Table {
	t.Helper()
	table, err := Open(strings.NewReader(text), "votes.csv")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func compare(t *testing.T, text string, c Columns, limit int) *Comparisons {
	t.Helper()
	r, err := open(t, text).Comparisons(c, limit)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// problemsOf returns the problems of an error, one on a line.
func problemsOf(err error) []string {
	var problems assay.Problems
	if !errors.As(err, &problems) {
		return []string{fmt.Sprint(err)}
	}
	return strings.Split(problems.Error(), "\n")
}

func TestAWinnerIsAColumnATieOrAnItem(t *testing.T) {
	t.Parallel()
	c := compare(t, "id,a,b,winner\n1,x,y,a\n2,y,x,b\n3,x,y,tie\n4,x,z,z\n5,z,y,z\n6,a,b,a\n7,a,b,b\n", plainColumns, MaxItems)
	rows, err := c.Keep()
	if err != nil {
		t.Fatal(err)
	}
	want := &Rows{Pairs: stats.Pairs{
		First: []uint16{0, 1, 0, 0, 2, 3, 3}, Second: []uint16{1, 0, 1, 2, 1, 4, 4},
		Result: []stats.Result{stats.FirstWon, stats.SecondWon, stats.Tied, stats.SecondWon, stats.FirstWon, stats.FirstWon,
			stats.SecondWon},
	}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"x", "y", "z", "a", "b"}, c.Items()); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

func TestATallyGrowsWithItsItems(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("winner,judge,b,a,weight\n")
	const items = 150
	want := stats.NewTally(items)
	for k := range 3 * blockRows {
		known := min(items, 40+k/100) // new items keep coming, block after block
		i := k % known
		j := (i + 1 + k%7) % known
		fmt.Fprintf(&text, "a,j%d,item %d,item %d,0.5\n", k%3, j, i)
		if err := want.Count(i, j, stats.FirstWon, 0.5); err != nil {
			t.Fatal(err)
		}
	}
	c := compare(t, text.String(), Columns{A: "a", B: "b", Winner: "winner", Weight: "weight", Judge: "judge"}, MaxTallied)
	got, err := c.Tally()
	if err != nil {
		t.Fatal(err)
	}
	if got.Items() != items || c.Rows() != 3*blockRows || c.Judges() != 3 {
		t.Fatalf("%d items, %d rows, %d judges", got.Items(), c.Rows(), c.Judges())
	}
	index := map[string]int{}
	for i, name := range c.Items() {
		index[name] = i
	}
	for i := range items {
		for j := range items {
			won, _, _ := want.Of(i, j)
			gotWon, lost, tied := got.Of(index[fmt.Sprint("item ", i)], index[fmt.Sprint("item ", j)])
			if won != gotWon || lost+tied != 0 {
				t.Fatalf("%d against %d: won %g, lost %g, tied %g; want %g won", i, j, gotWon, lost, tied, won)
			}
		}
	}
}

func TestKeptRowsStandAsOftenAsTheyWeigh(t *testing.T) {
	t.Parallel()
	columns := Columns{A: "a", B: "b", Winner: "winner", Weight: "n", Cluster: "prompt"}
	got, err := compare(t, "a,b,winner,n,prompt\nx,y,a,2,p\ny,x,tie,0,q\nx,y,b,1,r\n", columns, MaxItems).Keep()
	if err != nil {
		t.Fatal(err)
	}
	want := &Rows{
		Pairs: stats.Pairs{
			First: []uint16{0, 0, 0}, Second: []uint16{1, 1, 1}, Result: []stats.Result{stats.FirstWon, stats.FirstWon, stats.SecondWon},
		},
		Cluster: []uint32{0, 0, 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWrongTablesAreReportedWithTheirLines(t *testing.T) {
	t.Parallel()
	all := Columns{A: "a", B: "b", Winner: "winner", Weight: "weight", Cluster: "cluster"}
	keep := func(c *Comparisons) error { _, err := c.Keep(); return err }
	tally := func(c *Comparisons) error { _, err := c.Tally(); return err }
	for name, c := range map[string]struct {
		text    string
		columns Columns
		limit   int
		read    func(*Comparisons) error
		want    []string
	}{
		"empty":         {text: "", want: []string{"votes.csv: the file is empty (its first line names the columns)"}},
		"heading alone": {text: "a,b,winner\n", want: []string{"votes.csv:1: there is no row under the heading"}},
		"column twice":  {text: "a,a,winner\n", want: []string{`votes.csv:1: the heading names the column "a" twice`}},
		"open quote":    {text: "a,b,winner\nx,y,\"a\n", want: []string{"votes.csv:2: the quote that opens in this row is never closed"}},
		"column missing": {text: "a,c,winer\n", want: []string{`votes.csv:1: there is no column "b" (there are "a", "c", "winer")`,
			`votes.csv:1: there is no column "winner" (did you mean "winer"? there are "a", "c", "winer")`}},
		"ragged": {text: "a,b,winner\nx,y\nx,y,a,b\nx,y,a\n", want: []string{"votes.csv:2: the row has 2 fields, the heading 3 " +
			"(a separator, a quote or a line end inside a field needs quotes around the field)", "votes.csv:3: the row has 4 fields, the " +
			"heading 3 (a separator, a quote or a line end inside a field needs quotes around the field)"}},
		"winner": {text: "a,b,winner\n\"x\n\",y,a\nx,y,z\nx,y,\n",
			want: []string{`votes.csv:4: the winner "z" is neither a, b, tie nor one of the items "x" and "y"`}},
		"which winner": {text: "a,b,winner\nb,a,a\nx,tie,tie\n", want: []string{
			`votes.csv:2: the winner "a" may be a column or an item (rename the item: a, b and tie have their own meaning here)`,
			`votes.csv:3: the winner "tie" may be a column or an item (rename the item: a, b and tie have their own meaning here)`}},
		"itself": {text: "a,b,winner\nx,x,a\n,x,a\n",
			want: []string{`votes.csv:2: "x" stands against itself`, "votes.csv:3: an item has no name"}},
		"weight": {text: "a,b,winner,weight,cluster\nx,y,a,-1,c\nx,y,a,NaN,c\nx,y,a,Inf,c\nx,y,a,,c\nx,y,a,2,\n", columns: all,
			want: []string{
				`votes.csv:2: the weight "-1" is not a number from 0 up`, `votes.csv:3: the weight "NaN" is not a number from 0 up`,
				`votes.csv:4: the weight "Inf" is not a number from 0 up`, `votes.csv:5: the weight "" is not a number from 0 up`,
				"votes.csv:6: the cluster is empty (every row needs one, or all such rows would be one cluster)"}},
		"half weight": {text: "a,b,winner,weight,cluster\nx,y,a,0.5,c\n", columns: all, read: keep,
			want: []string{"votes.csv:2: the weight is 0.5 (clusters and resampling need whole weights, at most 100000000 in all)"}},
		"heavy weight": {text: "a,b,winner,weight,cluster\nx,y,a,1,c\nx,y,a,100000000,c\n", columns: all, read: keep,
			want: []string{"votes.csv:3: the weight is 1e+08 (clusters and resampling need whole weights, at most 100000000 in all)"}},
		"many items": {text: "a,b,winner\nx,y,a\nx,z,a\nx,u,a\n", limit: 2,
			want: []string{"votes.csv:3: there are more than 2 items (ratings by Elo take up to 65535; is this the right column?)"}},
		"long words": {text: "a,b,winner\nx,y," + strings.Repeat("w", 61) + "\n", want: []string{`votes.csv:2: the winner "` +
			strings.Repeat("w", 60) + `…" is neither a, b, tie nor one of the items "x" and "y"`}},
		"hostile": {text: "a,b,winner\nx,y,\x1b[2J\n",
			want: []string{`votes.csv:2: the winner "\x1b[2J" is neither a, b, tie nor one of the items "x" and "y"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.columns == (Columns{}) {
				c.columns = plainColumns
			}
			if c.limit == 0 {
				c.limit = MaxTallied
			}
			if c.read == nil {
				c.read = tally
			}
			table, err := Open(strings.NewReader(c.text), "votes.csv")
			var r *Comparisons
			if err == nil {
				r, err = table.Comparisons(c.columns, c.limit)
			}
			if err == nil {
				err = c.read(r)
			}
			if diff := cmp.Diff(c.want, problemsOf(err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadingStopsAfterEnoughProblems(t *testing.T) {
	t.Parallel()
	_, err := compare(t, "a,b,winner\n"+strings.Repeat("x,x,a\n", 100), plainColumns, MaxItems).Tally()
	got := problemsOf(err)
	if len(got) != maxProblems+1 || got[maxProblems] != "votes.csv:11: that is enough: what follows was not read" {
		t.Errorf("got %d problems, the last %q", len(got), got[len(got)-1])
	}
}

func TestMoreThanAllItemsAreRefused(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("a,b,winner\n")
	for i := range MaxItems {
		fmt.Fprintf(&text, "%d,%d,a\n", i, i+1)
	}
	_, err := compare(t, text.String(), plainColumns, 1<<20).Keep()
	if diff := cmp.Diff([]string{"votes.csv:65536: there are more than 65535 items (is this the right column?)"},
		problemsOf(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARowCostsNoAllocation(t *testing.T) {
	text := benchTable(20_000)
	cost := func(rows []byte) float64 {
		return testing.AllocsPerRun(3, func() {
			table, err := Open(bytes.NewReader(rows), "bench.csv")
			if err != nil {
				t.Fatal(err)
			}
			c, err := table.Comparisons(plainColumns, MaxTallied)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Tally(); err != nil {
				t.Fatal(err)
			}
		})
	}
	half := text[:len(text)/2]
	half = half[:bytes.LastIndexByte(half, '\n')+1]
	if few, many := cost(half), cost(text); many > few+10 { // the runtime has some of its own
		t.Errorf("%g allocations for 20,000 rows, %g for half of them", many, few)
	}
}

func TestNamesAreNumberedInOrder(t *testing.T) {
	t.Parallel()
	n := NewNames()
	var want []string
	for i := range 5_000 {
		name := fmt.Sprint("name ", i)
		want = append(want, name)
		if id := n.ID([]byte(name)); id != uint32(i) {
			t.Fatalf("%s has number %d", name, id)
		}
		if id := n.ID([]byte(fmt.Sprint("name ", i/2))); id != uint32(i/2) {
			t.Fatalf("name %d has number %d later", i/2, id)
		}
	}
	if diff := cmp.Diff(want, n.List()); diff != "" || n.Len() != len(want) {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNamesWithOneHashStayApart(t *testing.T) {
	t.Parallel()
	n := NewNames()
	h := maphash.String(n.seed, "x")
	n.add(h, h&uint64(len(n.slots)-1), "y") // as if y had the hash of x
	if id := n.ID([]byte("x")); id != 1 {
		t.Errorf("x has the number %d of y", id)
	}
}

func TestTabsSeparateInATSV(t *testing.T) {
	t.Parallel()
	table, err := Open(strings.NewReader("a,1\tb\n"), "X.TSV")
	if err != nil {
		t.Fatal(err)
	}
	if !table.Has("a,1") || !table.Has("b") || table.Has("") {
		t.Errorf("columns %q", table.columns)
	}
}
