package catalog

import (
	"bytes"
	"os"
	"reflect"
	"testing"
)

// TestThePackedRowsAreThoseOfTheFiles holds what the program reads against what people write.
func TestThePackedRowsAreThoseOfTheFiles(t *testing.T) {
	t.Parallel()
	text, err := Pack(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, packed) {
		t.Fatal("rows.json is of other files: go run ./scripts/catalog packs them anew")
	}
	r, err := read(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.catalog()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(Default(), want) {
		t.Error("rows.json does not hold all that the files say")
	}
}
