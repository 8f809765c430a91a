package rivertest

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/internal/keep/store"
	"assay/internal/show/cli"
)

// TestTheRoleOfThePageReadsAndDoesNotWrite types the statements of docs/machines.md, and looks at a run as the role that they make.
func TestTheRoleOfThePageReadsAndDoesNotWrite(t *testing.T) {
	t.Parallel()
	s := newShop(t, single)
	h := s.worker(s.environment(root, "openai"), nil)
	run := s.closed(s.begin("openai").No)
	page, err := os.ReadFile("../../../../../docs/machines.md")
	s.ok(err)
	statements := regexp.MustCompile("(?s)```sql\\n(.*?)```").FindSubmatch(page)
	if statements == nil {
		t.Fatal("the page has no statements")
	}
	db, err := sql.Open("pgx", s.db)
	s.ok(err)
	defer db.Close()
	_, err = db.ExecContext(s.ctx, string(statements[1]))
	s.ok(err)

	u, err := url.Parse(s.db)
	s.ok(err)
	q := u.Query()
	q.Set("user", "assay_reader")
	u.RawQuery = q.Encode()
	env := s.environment(root, "openai")
	env["ASSAY_DB"] = u.String()
	for command, want := range map[string]string{
		"status": "is done: 3 of 3", "runs": run.ID, "results": "", "sql SELECT id FROM runs": run.ID,
	} {
		name, rest, _ := strings.Cut(command, " ")
		args := []string{name}
		if rest != "" {
			args = append(args, rest)
		}
		w := s.world(env, args...)
		if code := cli.Main(s.ctx, w); code != 0 || !strings.Contains(fmt.Sprint(w.Stdout), want) {
			t.Errorf("%s: exit code %d\n%s%s", command, code, w.Stdout, w.Stderr)
		}
	}
	s.ok(os.WriteFile(filepath.Join(s.dir, "other.yaml"), []byte(strings.Replace(single, "single", "other", 1)), 0o600))
	for _, args := range [][]string{{"run", "other.yaml", "--yes"}, {"worker"}} {
		w := s.world(env, args...)
		if code := cli.Main(s.ctx, w); code == 0 || !strings.Contains(fmt.Sprint(w.Stderr), "permission denied") {
			t.Errorf("%v: exit code %d\n%s", args, code, w.Stderr)
		}
	}
	s.looksAt(env, run)
	h.stop()
}

// looksAt reads pages of the dashboard.
func (s *shop) looksAt(env map[string]string, run store.Run) {
	s.t.Helper()
	ctx, quit := context.WithCancel(s.ctx)
	said, code := newLines(), make(chan int, 1)
	w := s.world(env, "view", "--listen", "127.0.0.1:0")
	w.Stdout = said
	go func() { code <- cli.Main(ctx, w) }()
	defer func() { quit(); <-code }()
	said.await(s, "\n")
	entry, err := url.Parse(regexp.MustCompile(`http://\S+`).FindString(said.String()))
	s.ok(err)
	jar, err := cookiejar.New(nil)
	s.ok(err)
	client := &http.Client{Jar: jar}
	r, err := client.Get(entry.String())
	s.ok(err)
	r.Body.Close()
	for _, path := range []string{"/runs", "/runs/" + run.ID + "/progress"} {
		r, err := client.Get("http://" + entry.Host + path)
		s.ok(err)
		text, err := io.ReadAll(r.Body)
		s.ok(err)
		r.Body.Close()
		if r.StatusCode != http.StatusOK || !strings.Contains(string(text), "single") {
			s.t.Errorf("%s: %s\n%s", path, r.Status, text)
		}
	}
}
