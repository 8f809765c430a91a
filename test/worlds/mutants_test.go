package worlds

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	mutate = flag.Bool("mutants", false, "break the program on purpose, and play worlds until a law notices")
	only   = flag.String("only", "", "the mutants of TestMutants whose names contain this")
	unseen = flag.Bool("unseen", false, "the mutants of TestMutants that no law has noticed so far")
	find   = flag.Bool("find", false, "play one world, and print whether it keeps all laws")
)

// mutant is a deliberate break of the program: text of a file, and what takes its place.
type mutant struct {
	name     string
	law      string // that should notice
	found    string // in how many worlds, and by which law, when it was last tried; empty: not yet
	file     string
	old, new string
}

// readMutants reads testdata/mutants: a head of `mutant`, `law`, `file` and perhaps `found` lines, then the lines that
// go (-) and those that come (+), whole.
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
		case word == "found":
			m.found = rest
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

// TestMutants breaks the program in many ways, one at a time, and plays worlds until a law notices each. A world is played with the sound
// program first: where it does not call what a mutant breaks, the mutant changes nothing, and where it breaks a law by itself it proves
// nothing. It takes long, so it is only run where a flag asks for it.
func TestMutants(t *testing.T) {
	if !*mutate {
		t.Skip("-mutants builds and plays every broken program")
	}
	all := allMutants(t)
	binary := compile(t, all)
	left := map[int]bool{}
	for i, m := range all {
		left[i] = strings.Contains(m.name, *only) && (m.found == "" || !*unseen)
	}
	maps.DeleteFunc(left, func(_ int, in bool) bool { return !in })
	for n := 1; n <= *count && len(left) > 0; n++ {
		seed := *first + uint64(n) - 1
		sound := playOne(t, binary, seed, "")
		if sound.law != "" {
			t.Logf("world %d fails without a mutant, too (%s)", seed, sound.law)
			continue
		}
		for _, i := range slices.Sorted(maps.Keys(left)) {
			if !sound.reached[i] {
				continue
			}
			if got := playOne(t, binary, seed, strconv.Itoa(i)); got.law != "" {
				t.Logf("%-55s %4d worlds  %s", all[i].name, n, got.law)
				delete(left, i)
			}
		}
	}
	for i := range left {
		t.Errorf("%s: no law notices it in %d worlds", all[i].name, *count)
	}
}

// noticed is how a world ended.
type noticed struct {
	law     string // that it did not keep; empty: it kept all
	reached map[int]bool
}

// longest is how long a world may take before the program counts as one that hangs.
const longest = 3 * time.Minute

// playOne plays one world in a process of its own, with a mutant or, without the number of one, with the sound program. A program that
// dies or hangs has failed.
func playOne(t *testing.T, binary string, seed uint64, mutant string) noticed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run", "^TestWorlds$", "-test.timeout", "0", "-find", "-seed",
		strconv.FormatUint(seed, 10))
	cmd.Env = append(os.Environ(), "WORLDS_MUTANT="+mutant, "WORLDS_REACH=")
	if mutant == "" {
		cmd.Env = append(cmd.Env, "WORLDS_REACH=1")
	}
	out, _ := cmd.CombinedOutput()
	n := noticed{law: "it died or hung", reached: map[int]bool{}}
	for line := range strings.Lines(string(out)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "kept":
			n.law = ""
		case "broken":
			n.law = rest
		case "reached":
			if i, err := strconv.Atoi(rest); err == nil {
				n.reached[i] = true
			}
		}
	}
	return n
}

// findFirst plays one world, and prints whether it kept all laws and which mutants it could have met.
func findFirst(t *testing.T) {
	if o := Play(t, Make(*first)); o.err != nil {
		name := string(lawOf(o.err))
		if name == "" {
			name = "an error that no law has"
		}
		t.Logf("%s", o.err)
		fmt.Println("broken", name)
		return
	}
	for _, v := range os.Environ() {
		if rest, ok := strings.CutPrefix(v, "WORLDS_REACHED_"); ok {
			fmt.Println("reached", strings.TrimSuffix(rest, "=1"))
		}
	}
	fmt.Println("kept")
}
