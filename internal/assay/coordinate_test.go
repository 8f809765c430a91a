package assay

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEveryCoordinateIsMapped: a field that is added to Coordinates has a name in the list, or is a try.
func TestEveryCoordinateIsMapped(t *testing.T) {
	t.Parallel()
	var fields []string
	for f := range reflect.TypeFor[Coordinates]().Fields() {
		if f.Name != "Again" && f.Name != "By" {
			fields = append(fields, strings.ToLower(f.Name))
		}
	}
	if d := cmp.Diff(fields, AllCoordinates().Names()); d != "" {
		t.Error(d)
	}
}

func TestACoordinateComesBackFromItsText(t *testing.T) {
	t.Parallel()
	all := AllCoordinates()
	var c, back Coordinates
	for i := range all {
		if err := all[i].Set(&c, strconv.Itoa(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range all {
		if err := all[i].Set(&back, fmt.Sprint(all.Values(nil, &c)[i])); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(c, back); d != "" || c.Vote != 13 || c.Stage != "1" {
		t.Errorf("%+v\n%s", c, d)
	}
	if err := all[6].Set(&c, "second"); err == nil {
		t.Error("a turn that is no number was taken")
	}
	values, into := all.Values(nil, &c), all.Into(nil, &back)
	for i, p := range into {
		if got := reflect.ValueOf(p).Elem(); got.Kind() == reflect.String && got.String() != values[i] ||
			got.Kind() == reflect.Int && got.Int() != values[i] {
			t.Errorf("%s: %v is not %v", all[i].Name, got, values[i])
		}
	}
	if got := all.But("turn", "vote").Columns("a"); !strings.HasPrefix(got, "a.stage, a.source, ") || strings.Contains(got, "turn") {
		t.Error(got)
	}
}
