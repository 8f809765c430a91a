package cli_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/internal/show/cli"
)

func TestAGatewayServesUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	out, code := &lines{line: make(chan string, 1)}, make(chan int, 1)
	printed := out.line
	go func() {
		code <- cli.Main(ctx, worldIn(dir, out, io.Discard, "gateway", "--listen", "127.0.0.1:0", "--token-file", "tokens"))
	}()
	var base string
	select {
	case line := <-printed:
		base = strings.TrimPrefix(line, "OPENAI_BASE_URL=")
	case got := <-code:
		t.Fatalf("the gateway ended with %d", got)
	case <-time.After(2 * time.Minute):
		t.Fatal("the gateway prints no address")
	}
	kept, err := os.ReadFile(filepath.Join(dir, "tokens"))
	words := strings.Fields(string(kept))
	if err != nil || len(words) != 2 {
		t.Fatalf("the file of tokens: %q, %v", kept, err)
	}
	req, err := http.NewRequestWithContext(ctx, "GET", base+"/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+words[1])
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != 200 || !strings.Contains(string(text), `"object":"list"`) {
		t.Errorf("models: %s %s %v", resp.Status, text, err)
	}
	stop()
	if got := <-code; got != 0 && got != 130 {
		t.Errorf("the gateway ended with %d", got)
	}
}

// TestAGatewayEndsWhenTheLedgerIsMigrated lets a newer program change the ledger under a gateway.
func TestAGatewayEndsWhenTheLedgerIsMigrated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, said, code := &lines{line: make(chan string, 1)}, &lines{}, make(chan int, 1)
	printed := out.line
	go func() { code <- cli.Main(t.Context(), worldIn(dir, out, said, "gateway", "--listen", "127.0.0.1:0")) }()
	select {
	case <-printed:
	case <-time.After(2 * time.Minute):
		t.Fatal("the gateway prints no address")
	}
	ledger, err := sql.Open("sqlite", filepath.Join(dir, "assay-data", "ledger.db")+"?_pragma=busy_timeout(30000)")
	if err == nil {
		_, err = ledger.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	}
	if err := errors.Join(err, ledger.Close()); err != nil {
		t.Fatal(err)
	}
	if got := <-code; got != 1 || !strings.Contains(said.text, "the ledger was written by a newer assay (version 9999") {
		t.Errorf("the gateway ended with %d: %s", got, said.text)
	}
}
