package artifacts

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAFileIsKeptUnlessItsPackedFormReadsTheSame(t *testing.T) {
	t.Parallel()
	p, err := newPacker()
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	long := bytes.Repeat([]byte("words and more words\n"), 3*frameSize/20)
	other := bytes.Clone(long)
	other[len(other)/2]++
	open := func(name string, text []byte) *os.File {
		name = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	out := open("packed", nil)
	if err := p.write(out, bytes.NewReader(long)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		text []byte
		want error
	}{
		{"the same", long, nil}, {"empty", nil, errUnlike}, {"another byte", other, errUnlike},
		{"shorter", long[:len(long)-1], errUnlike}, {"longer", append(bytes.Clone(long), 'x'), errUnlike},
		{"a frame less", long[:frameSize], errUnlike}, {"the same again", long, nil},
	} {
		if err := p.verify(&folderFile{out, &Folder{}, "out"}, open("plain", c.text)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
