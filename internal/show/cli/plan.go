package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/term"
	"assay/internal/study"
	"assay/internal/study/plan"
)

type planFlags struct {
	study  studyFlags
	scope  scopeFlags
	lanes  []string
	stages []string
	limit  int
	show   int
	items  []string
	write  string
	json   bool
	detect string
	points float64 // of detect
	pilot  pilotFlags
}

func planCommand(w *World) *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:     "plan STUDY",
		GroupID: groupStart,
		Short:   "Show what would be sent and what it would cost; nothing is sent",
		Long: "Plans a study: the first wave, comparisons of items too, is rendered and encoded exactly as it would go out and cut into batches; later waves\n" +
			"are counted (at most) and estimated. Prices are low, expected and high; unknown prices are said to be unknown. Where the study was run\n" +
			"before, it says what `assay run` would do now: what is taken over, what is new, and what that costs.\n\n" +
			"Every stage that judges or compares says what difference its size can show with 80% power. --detect 5pt says what size a difference of 5\n" +
			"points needs: of rates, of hundredths of a scale of scores, or of wins above 50%. Where the study was run before, both go by how its answers\n" +
			"varied; else by what is assumed.\n\n" +
			"--show prints requests of every stage, judges too; --stage, --lane and --item pick some. What a request of a later wave will say depends on\n" +
			"answers: a text that begins with (STAND-IN takes the place of each, and the line above the request says so.",
		Args: args("STUDY"),
		RunE: func(c *cobra.Command, args []string) error { return runPlan(c, w, studyFile(w, args[0]), f) },
	}
	f.study.register(c)
	f.scope.registerScope(c)
	c.Flags().StringSliceVar(&f.lanes, "lane", nil, "only these lanes; globs allowed")
	c.Flags().StringSliceVar(&f.stages, "stage", nil, "only these stages")
	c.Flags().IntVar(&f.limit, "limit", 0, "only the first N items of each input that is asked")
	c.Flags().IntVar(&f.show, "show", 0, "print the first N requests of each stage and lane, as they would go out; in later waves with stand-ins for answers that are not there yet")
	c.Flags().StringSliceVar(&f.items, "item", nil, "with --show: only requests about these items")
	c.Flags().StringVar(&f.write, "write", "", "write all batch files of the first wave into this folder, as they would go out")
	c.Flags().BoolVar(&f.json, "json", false, "print the plan as JSON")
	c.Flags().StringVar(&f.detect, "detect", "", "say what size of study a difference needs, such as 5pt: items, comparisons and cost")
	f.pilot.register(c)
	return c
}

func runPlan(c *cobra.Command, w *World, name string, f planFlags) error {
	if f.show < 0 {
		return usage("", "--show needs a number from 0 up")
	}
	if len(f.items) > 0 && f.show == 0 {
		return usage("add --show 1", "--item goes with --show")
	}
	err := f.scope.apply(w, name, &f.study)
	if err != nil {
		return err
	}
	if f.points, err = detectable(f.detect); err != nil {
		return err
	}
	o := plan.Options{Lanes: f.lanes, Stages: f.stages, Limit: f.limit}
	whole := o
	if f.show > 0 && f.write == "" && f.pilot.n == 0 {
		whole.Lanes, whole.Stages = nil, nil // what a judge reads is made by the others
	}
	d, p, err := planned(c, w, name, f.study, whole)
	if err != nil {
		return err
	}
	if f.pilot.n > 0 {
		if p, err = pilot(c, w, d, p, o, name, f); err != nil {
			return err
		}
	}
	a, err := ahead(c, w, d, p, name, f)
	if err != nil {
		return err
	}
	switch {
	case f.show > 0:
		err = showRequests(c, w, d, p, f)
	case f.json:
		err = term.WriteJSON(w.Stdout, planJSON(p, a))
	default:
		err = printPlan(w, d, p, a, f)
	}
	if err != nil || f.write == "" {
		return err
	}
	return writePlan(c, w, d, p, o, f.write)
}

func printPlan(w *World, d *plan.Input, p *plan.Plan, a *workspace.Ahead, f planFlags) error {
	t := term.Table{
		Head:  []string{"WAVE", "STAGE", "LANE", "MODEL", "MODE", "TURN", "REQUESTS", "BATCHES", "INPUT", "OUTPUT", "LOW", "EXPECTED", "HIGH"},
		Right: map[int]bool{5: true, 6: true, 7: true, 8: true, 9: true, 10: true, 11: true, 12: true},
	}
	for _, q := range p.Parts {
		batches := "–"
		if q.Mode == assay.ModeBatch && q.Segments != nil {
			batches = fmt.Sprint(len(q.Segments))
		}
		t.Add(q.Wave, q.Stage, q.Lane.Name, q.Lane.ID(), q.Mode, q.Turn, atMost(q.Exact)+assay.Thousands(q.Requests), batches,
			tokens(q.Input.Expected), tokens(q.Output.Expected), q.Cost.Low, q.Cost.Expected, q.Cost.High)
	}
	if err := t.Write(w.Stdout); err != nil {
		return err
	}
	sent := "Nothing was sent.\n"
	if f.pilot.n > 0 {
		sent = "Nothing but the pilot was sent.\n"
	}
	expected := p.Sum(func(plan.Part) bool { return true }).Cost.Expected
	_, err := io.WriteString(w.Stdout, "\n"+summary(d, p)+aheadWords(a)+aheadBudget(a, workspace.BudgetOf(d.Study, nil), expected)+sent)
	return err
}

func atMost(exact bool) string {
	if exact {
		return ""
	}
	return "≤ "
}

func tokens(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 10_000_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// batchesOf says how a wave is cut, as far as its prompts are known.
func batchesOf(t plan.Total) string {
	known := fmt.Sprintf(" in %s, %s", assay.Count(t.Segments, "batch file"), assay.Size(t.Bytes))
	switch {
	case t.Later == 0 && t.Segments == 0:
		return ", live, " + assay.Size(t.Bytes)
	case t.Later == 0:
		return known
	case t.Segments == 0:
		return ", cut into batch files when they are made"
	}
	return fmt.Sprintf("%s, and %s cut when they are made", known, assay.Count(t.Later, "request"))
}

// summary says the plan in sentences.
func summary(d *plan.Input, p *plan.Plan) string {
	all := p.Sum(func(plan.Part) bool { return true })
	first := p.Sum(func(q plan.Part) bool { return q.Wave == 1 })
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s in %s; the first wave is %s%s.\n",
		map[bool]string{true: "", false: "At most "}[all.Exact], assay.Count(all.Requests, "request"), assay.Count(p.Waves, "wave"),
		assay.Count(first.Requests, "request"), batchesOf(first))
	fmt.Fprintf(&b, "Cost: %s expected, %s to %s.", all.Cost.Expected, all.Cost.Low, all.Cost.High)
	if all.Live.Expected != all.Cost.Expected {
		fmt.Fprintf(&b, " Live it would be %s.", all.Live.Expected)
	}
	b.WriteString("\n")
	for _, line := range byProvider(p) {
		b.WriteString("  " + line + "\n")
	}
	usual, longest := waiting(d, p)
	fmt.Fprintf(&b, "Time: %s. Disk: %s to %s.\n", takes(hours(usual), hours(longest)), assay.Size(p.DiskLow), assay.Size(p.DiskHigh))
	b.WriteString(stops(d, p))
	for _, q := range p.Power {
		b.WriteString(powerLines(q))
	}
	for _, n := range p.Notes {
		b.WriteString("Note: " + n + ".\n")
	}
	counted := "Tokens of requests that are known now are counted"
	if p.Sampled {
		counted = "Tokens of requests that are known now are estimated from a sample, since there are many"
	}
	b.WriteString(counted + "; those of later requests and of answers are estimated")
	if oldest, newest := d.PriceDates(); oldest == newest && oldest != "" {
		fmt.Fprintf(&b, "; prices of %s", oldest)
	} else if oldest != "" {
		fmt.Fprintf(&b, "; prices of %s to %s", oldest, newest)
	}
	b.WriteString(".\n")
	return b.String()
}

// takes says how long a plan takes, once where the two are the same.
func takes(usual, longest string) string {
	switch {
	case usual == longest && usual == fewMinutes:
		return usual
	case usual == longest:
		return "up to " + usual
	case usual == fewMinutes:
		return "usually " + usual + ", at most " + longest
	}
	return "usually up to " + usual + ", at most " + longest
}

// fewMinutes is a time that is too short to say it in a number.
const fewMinutes = "a few minutes"

// stops says when lanes stop because of errors, where the study has such a word.
func stops(d *plan.Input, p *plan.Plan) string {
	var lanes []string
	at := map[string]study.StopIf{}
	for _, q := range p.Parts {
		l, ok := d.Study.Lane(q.Lane.Name)
		if !ok || at[l.Name] != 0 {
			continue
		}
		if at[l.Name] = cmp.Or(l.StopIf, d.Study.StopIf); at[l.Name] > 0 {
			lanes = append(lanes, l.Name)
		}
	}
	var b strings.Builder
	for len(lanes) > 0 {
		share := at[lanes[0]]
		same := slices.DeleteFunc(slices.Clone(lanes), func(name string) bool { return at[name] != share })
		lanes = slices.DeleteFunc(lanes, func(name string) bool { return at[name] == share })
		if n := len(same) - 5; n > 0 {
			same = append(same[:5], fmt.Sprintf("%d more", n))
		}
		fmt.Fprintf(&b, "Stop: a lane is stopped when more than %.3g%% of its requests end without an answer: %s.\n", 100*float64(share), strings.Join(same, ", "))
	}
	return b.String()
}

func byProvider(p *plan.Plan) []string {
	var names []string
	for _, q := range p.Parts {
		if !slices.Contains(names, q.Lane.Provider) {
			names = append(names, q.Lane.Provider)
		}
	}
	var lines []string
	for _, name := range names {
		t := p.Sum(func(q plan.Part) bool { return q.Lane.Provider == name })
		lines = append(lines, fmt.Sprintf("%s: %s%s, %s (%s to %s)", name, atMost(t.Exact), assay.Count(t.Requests, "request"), t.Cost.Expected, t.Cost.Low, t.Cost.High))
	}
	return lines
}

// waiting adds up, over the waves, how long the slowest provider usually and at the longest takes. What goes live takes at
// least as long as the study's own rates and pauses make it.
func waiting(d *plan.Input, p *plan.Plan) (usual, longest time.Duration) {
	for wave := 1; wave <= p.Waves; wave++ {
		var u, l time.Duration
		live := map[string]int64{}
		for _, q := range p.Parts {
			switch {
			case wave < q.Wave || wave >= q.Wave+max(1, q.Rounds):
			case q.Mode == assay.ModeBatch:
				limits := d.Limits(q.Lane)
				u, l = max(u, limits.Usual), max(l, limits.Longest)
			default:
				n := q.Requests / int64(max(1, q.Rounds))
				live[q.Lane.Provider] += n
				if lane, ok := d.Study.Lane(q.Lane.Name); ok {
					u = max(u, lane.Live.Takes(n))
				}
			}
		}
		for name, n := range live {
			caps, _ := d.Study.Providers.Find(name)
			u = max(u, caps.Live.Takes(n))
		}
		usual, longest = usual+u, longest+max(u, l)
	}
	return usual, longest
}

func hours(t time.Duration) string {
	switch {
	case t < 2*time.Minute:
		return fewMinutes
	case t < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", t.Minutes())
	}
	return fmt.Sprintf("%.0f hours", t.Hours())
}

func writePlan(c *cobra.Command, w *World, d *plan.Input, p *plan.Plan, o plan.Options, dir string) error {
	names, err := d.Write(c.Context(), p, o, func(name string) (io.WriteCloser, error) {
		return w.Disk.Create(filepath.Join(dir, name), os.O_EXCL)
	})
	if err != nil {
		return &exitError{code: exitFailed, err: err, hint: "choose an empty folder"}
	}
	fmt.Fprintf(w.Stderr, "wrote %s into %s\n", assay.Count(len(names), "file"), cmp.Or(dir, "."))
	return nil
}
