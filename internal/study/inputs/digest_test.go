package inputs

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"
)

// opening counts how often files of a tree are opened.
type opening struct {
	fs.FS
	n int
}

func (o *opening) Open(name string) (fs.File, error) {
	o.n++
	return o.FS.Open(name)
}

func (o *opening) Stat(name string) (fs.FileInfo, error) { return fs.Stat(o.FS, name) }

func TestADigestIsKeptUntilAFileChanges(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)
	hour := func(n int) time.Time { return now.Add(time.Duration(n-24) * time.Hour) }
	tree := fstest.MapFS{
		"one.txt":      {Data: []byte("rain"), ModTime: hour(1)},
		"all":          {Mode: fs.ModeDir | 0o700, ModTime: hour(1)},
		"all/a.txt":    {Data: []byte("snow"), ModTime: hour(1)},
		"far.csv":      {Data: []byte("key,word\nwinds,wet\n"), ModTime: hour(1)},
		"new.txt":      {Data: []byte("fog"), ModTime: now.Add(-time.Second)},
		"timeless.txt": {Data: []byte("hail")},
	}
	o := &opening{FS: tree}
	for i := range mostWatched {
		tree[fmt.Sprintf("many/%d.txt", i)] = &fstest.MapFile{Data: []byte("drop"), ModTime: hour(1)}
	}
	tree["many"] = &fstest.MapFile{Mode: fs.ModeDir | 0o700, ModTime: hour(1)}
	s := Open(o, map[string]Spec{
		"one":      {File: "one.txt"},
		"all":      {File: "all"},
		"joined":   {File: "one.txt", Join: []Join{{With: "far.csv", Left: "text", Right: "key"}}},
		"new":      {File: "new.txt"},
		"timeless": {File: "timeless.txt"},
		"many":     {File: "many"},
	})
	s.Now = func() time.Time { return now }
	digest := func(name string) (sum string, opened int) {
		t.Helper()
		before := o.n
		sum, err := s.Digest(t.Context(), name)
		if err != nil {
			t.Fatalf("digest of %s: %v", name, err)
		}
		return sum, o.n - before
	}
	changes := map[string][]func(){
		"one": {
			func() { tree["one.txt"] = &fstest.MapFile{Data: []byte("wind"), ModTime: hour(2)} },
			func() { tree["one.txt"] = &fstest.MapFile{Data: []byte("winds"), ModTime: hour(2)} },
		},
		"all": {
			func() { tree["all/a.txt"] = &fstest.MapFile{Data: []byte("mist"), ModTime: hour(2)} },
			func() {
				tree["all"].ModTime = hour(2)
				tree["all/b.txt"] = &fstest.MapFile{Data: []byte("dew"), ModTime: hour(1)}
			},
		},
		"joined": {func() { tree["far.csv"] = &fstest.MapFile{Data: []byte("key,word\nwinds,dry\n"), ModTime: hour(2)} }},
	}
	for _, name := range []string{"one", "all", "joined"} {
		was, opened := digest(name)
		if opened == 0 {
			t.Errorf("%s was not read", name)
		}
		if again, opened := digest(name); again != was || opened != 0 {
			t.Errorf("%s is as it was, and was opened %d times; digest %s, was %s", name, opened, again, was)
		}
		for i, change := range changes[name] {
			change()
			is, _ := digest(name)
			if is == was {
				t.Errorf("%s: change %d was not seen", name, i+1)
			}
			was = is
		}
	}
	for _, name := range []string{"new", "timeless", "many"} { // a change of them might not show, or they are many
		digest(name)
		if _, opened := digest(name); opened == 0 {
			t.Errorf("%s was not read again", name)
		}
	}
	now = now.Add(time.Minute)
	digest("new")
	if _, opened := digest("new"); opened != 0 {
		t.Error("a file that is old by now was read again")
	}
}
