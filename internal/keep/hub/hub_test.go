package hub_test

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/hub"
	"assay/internal/keep/hub/hubtest"
)

const birds = "id,text\n1,robin\n2,wren\n3,a bird with a longer name than those\n"

// newServer starts a server of ann/birds.
func newServer(t *testing.T) *hubtest.Server {
	t.Helper()
	s := hubtest.New(map[string]string{"README.md": "# birds", "data/birds.csv": birds})
	t.Cleanup(s.Close)
	return s
}

// process returns a hub as a new process has it, with a folder that stays.
func process(s *hubtest.Server, dir, token string) *hub.Hub {
	env := map[string]string{"HF_ENDPOINT": s.URL, "HF_TOKEN": token}
	return &hub.Hub{Context: context.Background(), Dir: func() string { return dir }, HTTP: http.DefaultTransport,
		Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
}

func read(h *hub.Hub, name string) string {
	f, err := h.Open(name)
	if err != nil {
		return "error: " + err.Error()
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(text)
}

func TestAFileIsFetchedOnceAndThereWithoutANetwork(t *testing.T) {
	t.Parallel()
	for name, large := range map[string]bool{"by git": false, "on another server": true} {
		s, dir := newServer(t), t.TempDir()
		s.Large, s.Token = large, "secret-token"
		first := process(s, dir, s.Token)
		for _, spelt := range []string{"hf://ann/birds@main", "hf://ann/birds@main/data/birds.csv", "hf:/ann/birds@main/data/birds.csv",
			"hf://datasets/ann/birds/data/birds.csv", "hf://ann/birds@" + hubtest.Main} {
			if got := read(first, spelt); got != birds {
				t.Errorf("%s: %s is %q", name, spelt, got)
			}
		}
		resolved := 0
		for _, call := range s.Calls {
			if strings.Contains(call, "/resolve/") {
				resolved++
			}
		}
		if resolved != 1 || s.Leaked {
			t.Errorf("%s: fetched %d times, want 1; token shown to another server: %t", name, resolved, s.Leaked)
		}
		s.Close()
		if got := read(process(s, dir, ""), "hf://ann/birds@main"); got != birds {
			t.Errorf("%s: without a network: %q", name, got)
		}
		err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %s has mode %v", name, at, info.Mode())
			}
			text, err := os.ReadFile(at)
			if strings.Contains(string(text), "secret") {
				t.Errorf("%s: %s holds a secret", name, at)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestARevisionThatMovedIsTold(t *testing.T) {
	t.Parallel()
	s, dir := newServer(t), t.TempDir()
	read(process(s, dir, ""), "hf://ann/birds@main")
	s.Commits["ann/birds"][hubtest.Next] = map[string]string{"data/birds.csv": "id,text\n9,crow\n"}
	s.Refs["ann/birds@main"] = hubtest.Next
	later := process(s, dir, "")
	if got := read(later, "hf://ann/birds@main"); got != birds {
		t.Errorf("a moved revision gives %q", got)
	}
	want := hub.Commit{Dataset: "ann/birds", Revision: "main", Commit: hubtest.Main, Newest: hubtest.Next}
	if got, _ := later.Commit("hf://ann/birds@main/data/birds.csv"); got != want {
		t.Error(cmp.Diff(want, got))
	}
	if got := read(later, "hf://ann/birds@"+hubtest.Next); !strings.Contains(got, "crow") {
		t.Errorf("the newer commit gives %q", got)
	}
	if pinned, err := later.Pinned("hf://ann/birds@main"); pinned != "hf://ann/birds@"+hubtest.Main+"/data/birds.csv" {
		t.Error(pinned, err)
	}
}

func TestADownloadThatWasCutIsGoneOnWith(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*hubtest.Server)
		want   string // of the calls for bytes
	}{
		"cut":                   {func(s *hubtest.Server) { s.Cut = []int{10, 7} }, "|bytes=10-|bytes=17-"},
		"cut without ranges":    {func(s *hubtest.Server) { s.Cut, s.Plain = []int{10}, true }, "|bytes=10-"},
		"other bytes":           {func(s *hubtest.Server) { s.Spoil = 1 }, "|"},
		"other bytes, then cut": {func(s *hubtest.Server) { s.Spoil, s.Cut = 1, []int{10} }, "|bytes=10-|"},
		"cut and by another one": {func(s *hubtest.Server) { s.Cut = []int{10, 0, 0, 0, 0, 0} },
			"|bytes=10-|bytes=10-|bytes=10-|bytes=10-|bytes=10-|bytes=10-"},
	} {
		for _, large := range []bool{false, true} {
			s, dir := newServer(t), t.TempDir()
			s.Large = large
			c.change(s)
			got := read(process(s, dir, ""), "hf://ann/birds@main")
			if strings.Contains(got, "the download was cut after") {
				got = read(process(s, dir, ""), "hf://ann/birds@main")
			}
			if got != birds {
				t.Errorf("%s, %t: got %q", name, large, got)
			}
			var asked []string
			for _, call := range s.Calls {
				if rest, ok := strings.CutPrefix(call, "other"); ok && large {
					asked = append(asked, strings.TrimSpace(rest))
				} else if _, rest, ok := strings.Cut(call, "birds.csv"); ok && !large {
					asked = append(asked, strings.TrimSpace(rest))
				}
			}
			if got := strings.Join(asked, "|"); got != c.want {
				t.Errorf("%s, %t: asked for %q, want %q", name, large, got, c.want)
			}
		}
	}
}

func TestWhatAKilledProcessFetchedIsGoneOnWith(t *testing.T) {
	t.Parallel()
	s, dir := newServer(t), t.TempDir()
	s.Cut = []int{10, 0, 0, 0, 0, 0}
	read(process(s, dir, ""), "hf://ann/birds@main")
	parts, err := filepath.Glob(filepath.Join(dir, "files", "*.part"))
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	if err := os.Rename(parts[0], parts[0]+"-1"); err != nil { // as process 1 had it
		t.Fatal(err)
	}
	last := func() string {
		if got := read(process(s, dir, ""), "hf://ann/birds@main"); got != birds {
			t.Errorf("got %q", got)
		}
		return s.Calls[len(s.Calls)-1]
	}
	if err := os.Chtimes(parts[0]+"-1", time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := last(); !strings.HasSuffix(got, "bytes=10-") {
		t.Errorf("asked for %q", got)
	}
}

func TestWhatCannotBeReadIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*hubtest.Server)
		ask    string
		want   string
	}{
		"gated": {func(s *hubtest.Server) { s.Gated = true }, "hf://ann/birds@main",
			"ann/birds is gated (ask for access at https://huggingface.co/datasets/ann/birds"},
		"no token":            {func(s *hubtest.Server) { s.Token = "secret" }, "hf://ann/birds@main", "needs a token in HF_TOKEN"},
		"no dataset":          {nil, "hf://ann/bird@main", `has no dataset ann/bird at "main"`},
		"no revision":         {nil, "hf://ann/birds@v2", `ann/birds has no revision "v2"`},
		"no file":             {nil, "hf://ann/birds@main/data/bird.csv", "did you mean hf://ann/birds@main/data/birds.csv?"},
		"no name":             {nil, "hf://birds", "such as hf://OWNER/NAME@REVISION"},
		"a model":             {nil, "hf://models/ann/birds", "only datasets are read"},
		"out of it":           {nil, "hf://ann/birds@main/../../../../etc/passwd", "has no dataset etc/passwd"},
		"wrong bytes":         {func(s *hubtest.Server) { s.Spoil = 9 }, "hf://ann/birds@main", "has not the hash that the server names"},
		"a home without room": {func(s *hubtest.Server) {}, "hf://ann/birds@main", "keep the dataset: "},
		"no network":          {func(s *hubtest.Server) { s.Close() }, "hf://ann/birds@main", "cannot be reached"},
		"a strange server":    {func(s *hubtest.Server) { s.URL = "localhost" }, "hf://ann/birds@main", "HF_ENDPOINT is no address"},
		"no data": {func(s *hubtest.Server) { delete(s.Commits["ann/birds"][hubtest.Main], "data/birds.csv") }, "hf://ann/birds@main/x.csv",
			"it has none that is read"},
	} {
		s := newServer(t)
		if c.change != nil {
			c.change(s)
		}
		dir := t.TempDir()
		if name == "a home without room" {
			if err := os.WriteFile(filepath.Join(dir, "files"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := read(process(s, dir, "another-secret"), c.ask)
		if name == "no token" {
			got = read(process(s, t.TempDir(), ""), c.ask)
		}
		if !strings.Contains(got, c.want) || !strings.HasPrefix(got, "error: ") || strings.Contains(got, "secret") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestAFolderOfADataset(t *testing.T) {
	t.Parallel()
	s := hubtest.New(map[string]string{"data/a.csv": "x", "data/b.csv": "y", "data/deep/c.csv": "z", "README.md": ""})
	t.Cleanup(s.Close)
	h := process(s, t.TempDir(), "")
	f, err := h.Open("hf://ann/birds@main")
	if err != nil {
		t.Fatal(err)
	}
	info, _ := f.Stat()
	err = info.(interface{ Choose() error }).Choose()
	if want := "hf://ann/birds@main has 3 files of data (write one of them: hf://ann/birds@main/data/a.csv, …/data/b.csv, " +
		"…/data/deep/c.csv)"; err == nil || err.Error() != want {
		t.Error(err)
	}
	if f, err = h.Open("hf://ann/birds@main/data"); err != nil {
		t.Fatal(err)
	}
	entries, err := f.(fs.ReadDirFile).ReadDir(-1)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name()+" "+e.Type().String())
	}
	if diff := cmp.Diff([]string{"a.csv ----------", "b.csv ----------", "deep d---------"}, names); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestAKeptFileThatIsDamagedIsFetchedAgain(t *testing.T) {
	t.Parallel()
	s, dir := newServer(t), t.TempDir()
	read(process(s, dir, ""), "hf://ann/birds@main")
	files, err := filepath.Glob(filepath.Join(dir, "files", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := read(process(s, dir, ""), "hf://ann/birds@main"); got != birds {
		t.Errorf("got %q", got)
	}
}
