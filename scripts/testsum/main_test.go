package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatFailedIsShownWholeAndTheRestIsCounted(t *testing.T) {
	t.Parallel()
	in := strings.Join([]string{
		`{"Action":"run","Package":"a","Test":"TestGood"}`,
		`{"Action":"output","Package":"a","Test":"TestGood","Output":"not shown\n"}`,
		`{"Action":"pass","Package":"a","Test":"TestGood","Elapsed":1.5}`,
		`{"Action":"output","Package":"a","Test":"TestBad","Output":"    bad_test.go:1: why\n"}`,
		`{"Action":"fail","Package":"a","Test":"TestBad","Elapsed":0.5}`,
		`{"Action":"skip","Package":"a","Test":"TestLater"}`,
		`{"Action":"output","Package":"a","Test":"TestCut","Output":"panic: oh\n"}`,
		`{"Action":"output","Package":"a","Output":"FAIL\n"}`,
		`{"Action":"output","Package":"a","Output":"FAIL\ta\t2.0s\n"}`,
		`{"Action":"build-output","ImportPath":"b","Output":"b.go:1: no such name\n"}`,
		`go: a word of the go command`,
	}, "\n") + "\n"
	var out strings.Builder
	if err := sum(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	want := `    bad_test.go:1: why
FAIL	a	2.0s
b.go:1: no such name
go: a word of the go command
panic: oh
a TestCut did not end
   1.5 s  a TestGood
   0.5 s  a TestBad
   0.0 s  a TestLater
3 tests ran: 1 passed, 2 failed; 1 skipped
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
