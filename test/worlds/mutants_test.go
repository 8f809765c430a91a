package worlds

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	mutate = flag.Bool("mutants", false, "break the program on purpose, and play worlds until a law notices")
	only   = flag.String("only", "", "the mutants of TestMutants whose names contain this")
	find   = flag.Bool("find", false, "stop at the first world that does not keep a law, and print its seed and the law")
)

// mutant is a deliberate break of the program: text of a file, and what takes its place.
type mutant struct {
	name     string
	law      string // that should notice
	open     string // why none does yet; empty: one does
	file     string
	old, new string
}

// readMutants reads testdata/mutants: a head of `mutant`, `law`, `file` and perhaps `open` lines, then the lines that go (-) and those that
// come (+), whole.
func readMutants(file string) ([]mutant, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []mutant
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		word, rest, _ := strings.Cut(line, " ")
		if word == "mutant" {
			all = append(all, mutant{name: rest})
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("%s:%d: no mutant begins before it", file, n)
		}
		m := &all[len(all)-1]
		switch {
		case line[0] == '-':
			m.old += line[1:] + "\n"
		case line[0] == '+':
			m.new += line[1:] + "\n"
		case word == "law":
			m.law = rest
		case word == "file":
			m.file = rest
		case word == "open":
			m.open = rest
		default:
			return nil, fmt.Errorf("%s:%d: %q", file, n, line)
		}
	}
	return all, lines.Err()
}

// mutated returns the file of a mutant, broken.
func (m mutant) mutated(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(text, []byte(m.old)); n != 1 || m.old == "" {
		return nil, fmt.Errorf("what is to go is there %d times", n)
	}
	return bytes.Replace(text, []byte(m.old), []byte(m.new), 1), nil
}

func allMutants(t *testing.T) []mutant {
	t.Helper()
	all, err := readMutants(filepath.Join("testdata", "mutants"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const root = "../.."

// TestMutantsAreBreaksOfTheProgramAsItIs keeps the list from going stale.
func TestMutantsAreBreaksOfTheProgramAsItIs(t *testing.T) {
	t.Parallel()
	all := allMutants(t)
	if len(all) < 25 {
		t.Errorf("%d mutants, want at least 25", len(all))
	}
	names := map[string]bool{}
	for _, m := range all {
		if _, err := m.mutated(root); err != nil {
			t.Errorf("mutant %s: %s: %s", m.name, m.file, err)
		}
		if names[m.name] || m.law == "" {
			t.Errorf("mutant %s: a name of its own and a law are wanted", m.name)
		}
		names[m.name] = true
	}
}

// noticed is how worlds ended under a mutant.
type noticed struct {
	worlds int    // played
	seed   uint64 // of the one that failed
	law    string // that it did not keep; empty: all did
	took   time.Duration
}

// TestMutants breaks the program in one way after the other, and plays worlds until a law notices. It builds each broken program, so it is
// only run where a flag asks for it.
func TestMutants(t *testing.T) {
	if !*mutate {
		t.Skip("-mutants builds and plays every broken program")
	}
	sound := compile(t, mutant{})
	for _, m := range allMutants(t) {
		if !strings.Contains(m.name, *only) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			n := m.notice(t, sound)
			verdict := fmt.Sprintf("%-44s %s", m.name, n)
			switch {
			case n.law == "" && m.open == "":
				t.Errorf("%s: no law notices it", verdict)
			case n.law != "" && m.open != "":
				t.Errorf("%s: it is noticed, and listed as open", verdict)
			case n.law == "":
				t.Logf("%s: open: %s", verdict, m.open)
			default:
				t.Log(verdict)
			}
		})
	}
}

func (n noticed) String() string {
	if n.law == "" {
		return fmt.Sprintf("survived %d worlds, %s", n.worlds, n.took.Round(time.Second))
	}
	return fmt.Sprintf("%4d worlds  %-30s seed %d, %s", n.worlds, n.law, n.seed, n.took.Round(time.Second))
}

// compile builds the worlds with a broken program; the zero mutant breaks nothing.
func compile(t *testing.T, m mutant) (binary string) {
	t.Helper()
	dir := t.TempDir()
	binary = filepath.Join(dir, "worlds.test")
	args := []string{"test", "-c", "-o", binary}
	if m.file != "" {
		text, err := m.mutated(root)
		if err != nil {
			t.Fatal(err)
		}
		there, err := filepath.Abs(filepath.Join(root, m.file))
		if err != nil {
			t.Fatal(err)
		}
		broken, overlay := filepath.Join(dir, "broken.go"), filepath.Join(dir, "overlay.json")
		list, err := json.Marshal(map[string]any{"Replace": map[string]string{there: broken}})
		if err = errors.Join(err, os.WriteFile(broken, text, 0o600), os.WriteFile(overlay, list, 0o600)); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-overlay", overlay)
	}
	if out, err := exec.CommandContext(t.Context(), "go", append(args, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %s\n%s", err, out)
	}
	return binary
}

// notice plays worlds with a broken program. A world in which the sound program fails, too, is not counted as noticing: it goes on
// behind it.
func (m mutant) notice(t *testing.T, sound string) noticed {
	broken := compile(t, m)
	began := time.Now()
	sum := noticed{}
	for from := *first; sum.worlds < *count; {
		n := playUntil(t, broken, from, *count-sum.worlds)
		sum.worlds += n.worlds
		sum.took = time.Since(began)
		if n.law == "" {
			return sum
		}
		if own := playUntil(t, sound, n.seed, 1); own.law == "" {
			sum.seed, sum.law = n.seed, n.law
			return sum
		}
		t.Logf("world %d fails without a mutant, too (%s)", n.seed, n.law)
		from = n.seed + 1
	}
	return sum
}

// longest is how long a world may take before the program counts as one that hangs.
const longest = 5 * time.Minute

// playUntil plays so many worlds until one fails. A program that dies or hangs has failed in the world that it played.
func playUntil(t *testing.T, binary string, from uint64, most int) noticed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest+time.Duration(most)*20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run", "^TestWorlds$", "-test.timeout", "0", "-find", "-worlds", strconv.Itoa(most),
		"-seed", strconv.FormatUint(from, 10))
	out, died := cmd.CombinedOutput()
	var err error
	n := noticed{law: "it died or hung"}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if number, ok := strings.CutPrefix(line, "playing "); ok {
			n.worlds++
			if n.seed, err = strconv.ParseUint(number, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		if line == "kept" {
			return noticed{worlds: n.worlds}
		}
		if words, ok := strings.CutPrefix(line, "broken "); ok {
			number, law, _ := strings.Cut(words, " ")
			n.law = law
			if n.seed, err = strconv.ParseUint(number, 10, 64); err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	if ctx.Err() == nil && died == nil {
		t.Fatalf("worlds end without a word:\n%s", out)
	}
	return n
}

// findFirst plays worlds one by one until one does not keep a law, and prints which one and which law.
func findFirst(t *testing.T) {
	for i := range uint64(*count) {
		w := Make(*first + i)
		fmt.Println("playing", w.Seed)
		if o := Play(t, w); o.err != nil {
			name := string(lawOf(o.err))
			if name == "" {
				name = "an error that no law has"
			}
			t.Logf("%s", o.err)
			fmt.Println("broken", w.Seed, name)
			return
		}
	}
	fmt.Println("kept")
}
