// Package media holds whole commands on pictures, documents and sounds to the bills of the simulator, which counts them by rules of its
// own.
package media

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/simulator"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/eyes"
)

// bench is a folder with a study, and a simulator that counts what it bills.
type bench struct {
	t   *testing.T
	dir string
	sim *simulator.Server
	env map[string]string

	ahead time.Duration // of the true time: what passes on all clocks between commands

	mu      sync.Mutex
	live    map[string]bodies.Usage // billed for live answers, by provider
	charges []simulator.Charge      // the same, one by one
	betas   []string                // of calls that ask for one
	uploads map[string]int          // calls that uploaded files which are no lines of requests, by provider
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), live: map[string]bodies.Usage{}, uploads: map[string]int{}}
	sim, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir(), Charged: func(c simulator.Charge) {
		b.mu.Lock()
		defer b.mu.Unlock()
		sum := b.live[c.Provider]
		sum.Add(c.Usage)
		b.live[c.Provider] = sum
		b.charges = append(b.charges, c)
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(b.counting(sim))
	t.Cleanup(func() { server.Close(); sim.Close() })
	b.sim, b.env = sim, map[string]string{"USER": "tester", "ASSAY_HOME": "home"}
	for name, value := range map[string]string{"OPENAI": "openai/v1", "ANTHROPIC": "anthropic", "GOOGLE_GEMINI": "gemini",
		"MISTRAL": "mistral", "TOGETHER": "together/v1", "BEDROCK": "bedrock"} {
		b.env[name+"_BASE_URL"] = server.URL + "/" + value
		b.env[strings.TrimSuffix(name, "_GEMINI")+"_API_KEY"] = "key"
	}
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "sim", "AWS_SECRET_ACCESS_KEY": "sim", "AWS_REGION": "us-east-1",
		"AWS_ENDPOINT_URL_S3": server.URL + "/s3", "BEDROCK_BUCKET": "sim-bucket",
		"BEDROCK_ROLE_ARN": "arn:aws:iam::123456789012:role/sim"} {
		b.env[name] = value
	}
	return b
}

// counting counts the uploads of files that requests show.
func (b *bench) counting(sim http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		if beta := r.Header.Get("Anthropic-Beta"); beta != "" {
			b.betas = append(b.betas, r.Method+" "+r.URL.Path+" "+beta)
		}
		b.mu.Unlock()
		vendor, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if r.Method == http.MethodPost && strings.HasSuffix(path, "/files") && !r.URL.Query().Has("upload_id") {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			if bytes.Contains(body, []byte("assay-")) && !bytes.Contains(body, []byte("jsonl")) {
				b.mu.Lock()
				b.uploads[vendor]++
				b.mu.Unlock()
			}
		}
		sim.ServeHTTP(w, r)
	})
}

// pass lets time pass for the simulator and for commands.
func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/sim/clock", strings.NewReader(`{"advance":"`+d.String()+`"}`))
	w := httptest.NewRecorder()
	b.sim.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		b.t.Fatal(w.Body)
	}
	b.ahead += d
}

func (b *bench) write(name string, content []byte) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// assay runs a command and returns what it prints, with its trouble where it has some; it wants one of these exit codes.
func (b *bench) assay(codes []int, args ...string) string {
	b.t.Helper()
	var out, trouble bytes.Buffer
	got := cli.Main(b.t.Context(), shell.World{
		Args: args, Env: func(name string) (string, bool) { v, ok := b.env[name]; return v, ok }, Stdin: strings.NewReader(""),
		Stdout: &out, Stderr: &trouble, Now: func() time.Time { return time.Now().Add(b.ahead) },
		Disk: shell.Disk{Dir: b.dir}, HTTP: http.DefaultTransport,
		Seams: workspace.Seams{Timing: func(t engine.Timing) engine.Timing { return t.Scaled(1000) }},
	})
	if !slices.Contains(codes, got) {
		b.t.Fatalf("assay %s: exit code %d\n%s%s", strings.Join(args, " "), got, out.String(), trouble.String())
	}
	if got != 0 {
		return out.String() + trouble.String()
	}
	return out.String()
}

// table reads a table that an export wrote: a map for each row.
func (b *bench) table(name string) []map[string]string {
	b.t.Helper()
	file, err := os.Open(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil || len(lines) < 2 {
		b.t.Fatalf("%s: %d lines, %v", name, len(lines), err)
	}
	var out []map[string]string
	for _, l := range lines[1:] {
		row := map[string]string{}
		for i, column := range lines[0] {
			row[column] = l[i]
		}
		out = append(out, row)
	}
	return out
}

// billed returns what was billed since the simulator began, live and in batches, by provider.
func (b *bench) billed() map[string]bodies.Usage {
	b.t.Helper()
	out := map[string]bodies.Usage{}
	b.mu.Lock()
	for name, u := range b.live {
		out[name] = u
	}
	b.mu.Unlock()
	if err := b.sim.EachCharge(func(c simulator.Charge) error {
		sum := out[c.Provider]
		sum.Add(c.Usage)
		out[c.Provider] = sum
		return nil
	}); err != nil {
		b.t.Fatal(err)
	}
	return out
}

// paint returns a picture of one colour, with a dot so that no two are equal.
func paint(t *testing.T, n, w, h int, colour string) []byte {
	t.Helper()
	mixed := map[string]color.RGBA{"red": {220, 30, 30, 255}, "green": {30, 160, 60, 255}, "blue": {30, 60, 220, 255},
		"yellow": {240, 220, 40, 255}}
	m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{mixed[colour], color.Black})
	m.SetColorIndex(n%w, n/w, 1)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// paper returns a document of so many pages.
func paper(pages int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count %d/Kids[", pages)
	for i := range pages {
		fmt.Fprintf(&b, "%d 0 R ", i+3)
	}
	b.WriteString("]>>endobj\n")
	for i := range pages {
		fmt.Fprintf(&b, "%d 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>endobj\n", i+3)
	}
	b.WriteString("trailer<</Root 1 0 R>>\n%%EOF\n")
	return b.Bytes()
}

// hum returns a sound of so many seconds, at 2,000 bytes each.
func hum(seconds float64) []byte {
	data := int(seconds * 2000)
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\xe8\x03\x00\x00\xd0\x07\x00\x00\x02\x00\x10\x00data")
	return append(binary.LittleEndian.AppendUint32(b, uint32(data)), make([]byte, data)...)
}

// sumOf returns what the simulator's models call a file by.
func sumOf(content []byte) string { t := eyes.Look(content); return t.Sum }
