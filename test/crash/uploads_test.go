package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

const pictures = 5

// showing opens a study that shows pictures which are large enough to be uploaded.
func showing(dir string) (*session, error) {
	s, err := open(dir, "shown", "")
	if err != nil {
		return nil, err
	}
	for i := range pictures {
		m := image.NewRGBA(image.Rect(0, 0, 220, 160+i))
		r := rand.New(rand.NewPCG(uint64(i), 3))
		for k := range m.Pix {
			m.Pix[k] = byte(r.Uint32())
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("p%d.png", i)), b.Bytes(), 0o600); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// TestAFileIsUploadedOnceHoweverOftenItsRunIsKilled kills the program at moments of its uploads, starts it again, and counts the files at
// the providers.
func TestAFileIsUploadedOnceHoweverOftenItsRunIsKilled(t *testing.T) {
	t.Parallel()
	dirs := t.TempDir()
	first, err := showing(filepath.Join(dirs, "first"))
	if err != nil {
		t.Fatal(err)
	}
	defer first.close()
	e, err := first.assay(t.Context(), nil, "run", "study.yaml", "--yes")
	if err != nil || e.code != 0 {
		t.Fatal(err, e)
	}
	if err := first.uploadedOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	var at []Point
	for _, p := range e.passed {
		if strings.Contains(p.Call, "/files") || strings.Contains(p.Call, "upload") && strings.HasPrefix(p.Call, "ledger") {
			at = append(at, p)
		}
	}
	kills := 12
	if *points == 0 || *points > kills { // a whole proof
		kills = 40
	}
	if len(at) < 2*kills {
		t.Fatalf("%d moments of uploads, in %v", len(at), e.passed)
	}
	each(kills, func(i int) {
		p := at[i*len(at)/kills]
		if err := killedWhileUploading(t.Context(), filepath.Join(dirs, fmt.Sprint(i)), p); err != nil {
			t.Errorf("killed at %s: %v", p, err)
		}
	})
}

func killedWhileUploading(ctx context.Context, dir string, at Point) error {
	s, err := showing(dir)
	if err != nil {
		return err
	}
	defer s.close()
	args := []string{"run", "study.yaml", "--yes"}
	e, err := s.assay(ctx, &at, args...)
	if err != nil {
		return err
	}
	if e.reached {
		if args, err = s.again(ctx, args); err != nil {
			return err
		}
		if e, err = s.assay(ctx, nil, args...); err != nil {
			return err
		}
	}
	if e.code != 0 {
		return errors.New(e.String())
	}
	return s.uploadedOnce(ctx)
}

// uploadedOnce wants every picture once at each of the three providers, and every answer.
func (s *session) uploadedOnce(ctx context.Context) error {
	for _, list := range []string{"/openai/v1/files?limit=1000", "/anthropic/v1/files?limit=1000", "/gemini/v1beta/files?pageSize=100"} {
		call, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http.URL+list, nil)
		if err != nil {
			return err
		}
		call.Header.Set("Authorization", "Bearer proof-key")
		call.Header.Set("X-Api-Key", "proof-key")
		call.Header.Set("Anthropic-Version", "2023-06-01")
		resp, err := http.DefaultClient.Do(call)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		var all struct {
			Data []struct {
				Filename string `json:"filename"`
			} `json:"data"`
			Files []struct {
				Name string `json:"name"`
				MIME string `json:"mimeType"`
			} `json:"files"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
			return fmt.Errorf("%s: %w", list, err)
		}
		var names []string
		for _, f := range all.Data {
			if strings.HasSuffix(f.Filename, ".png") {
				names = append(names, f.Filename)
			}
		}
		for _, f := range all.Files {
			if f.MIME == "image/png" {
				names = append(names, f.Name)
			}
		}
		slices.Sort(names)
		if n := len(slices.Compact(slices.Clone(names))); len(names) != pictures || n != pictures {
			return fmt.Errorf("%s: %d files, %d different ones: %v", list, len(names), n, names)
		}
	}
	return s.look(ctx, func(l *ledger.Ledger) error {
		runs, err := l.Reader.Runs(ctx, "", store.RunClosed)
		if err != nil || len(runs) != 1 {
			return fmt.Errorf("%d runs (%w)", len(runs), err)
		}
		lanes, err := l.Reader.Lanes(ctx, runs[0].No)
		for _, lane := range lanes {
			if lane.Endings[assay.Answered] != pictures {
				return fmt.Errorf("lane %s: %d answers", lane.Name, lane.Endings[assay.Answered])
			}
		}
		return err
	})
}
