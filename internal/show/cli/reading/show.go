package reading

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

type showFlags struct {
	home   shell.HomeFlags
	narrow rows.Narrow
	raw    bool
	json   bool
}

// Show makes the command `assay show`.
func Show(w *shell.World) *cobra.Command {
	var f showFlags
	c := &cobra.Command{
		Use:     "show KEY|JOB|RUN:ITEM:LANE",
		GroupID: shell.GroupLook,
		Short:   "Show one request with its whole life: what was sent, what came back, what was said of it",
		Long: "Shows one request: the conversation and the bytes that were sent, the reply with its thoughts, tokens and cost, every " +
			"attempt, the verdicts with\n" +
			"the judges' own words, and the history of the segments it travelled in.\n\n" +
			"KEY is what `assay results` and `assay errors` print, or as much of it as is unique (4 characters at least); without --run " +
			"it is looked for\n" +
			"in all runs, the newest first. JOB is a provider's job id. RUN:ITEM:LANE names a request by its item and lane, RUN:ITEM all " +
			"requests on an\n" +
			"item; an empty RUN is the latest. Where several requests are meant, they are listed with their keys.\n" +
			"Control characters of foreign texts are shown as escapes, never sent to the terminal.",
		Args: shell.Args("KEY|JOB|RUN:ITEM:LANE"),
		RunE: func(c *cobra.Command, args []string) error { return f.show(c.Context(), w, args[0]) },
	}
	f.home.Register(c)
	c.Flags().StringVar(&f.narrow.Run, "run", "", "the run in which KEY is looked for (default: all, the newest first)")
	c.Flags().StringVar(&f.narrow.Stage, "stage", "", "of several requests, those of this stage")
	c.Flags().StringVar(&f.narrow.Judge, "judge", "", "of several requests, those to this judge")
	c.Flags().StringVar(&f.narrow.Branch, "branch", "", "of several requests, those of this branch")
	c.Flags().IntVar(&f.narrow.Turn, "turn", 0, "of several requests, those of this turn")
	c.Flags().IntVar(&f.narrow.Draw, "draw", 0, "of several requests, this draw")
	c.Flags().BoolVar(&f.raw, "raw", false, "print the bytes that the reply was read from, too")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (f showFlags) show(ctx context.Context, w *shell.World, ref string) error {
	h, found, err := f.find(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	h.Watermark(w)
	if found.Job == nil && len(found.Requests) == 1 {
		return f.one(ctx, w, h, found)
	}
	return f.several(w, found)
}

// find looks for what a reference means in the real ledger, then in that of the rehearsals.
func (f showFlags) find(ctx context.Context, w *shell.World, ref string) (*shell.Home, rows.Found, error) {
	var left *rows.NoneLeft
	for _, rehearsal := range []bool{false, true} {
		if !f.home.HasHome(w, rehearsal) {
			continue
		}
		h, err := f.home.OpenHome(ctx, w, rehearsal)
		if err != nil {
			return nil, rows.Found{}, err
		}
		found, err := rows.Find(ctx, h.Results(), ref, f.narrow)
		if err == nil {
			return h, found, nil
		}
		h.Close()
		if !errors.Is(err, store.ErrNotFound) {
			return nil, found, err
		}
		errors.As(err, &left)
	}
	if left != nil {
		return nil, rows.Found{}, shell.Usage("without these flags all of them are listed", "%v", left)
	}
	return nil, rows.Found{}, shell.Usage("assay results RUN lists requests, assay jobs lists jobs",
		"nothing that was sent is called %q", ref)
}

func (f showFlags) one(ctx context.Context, w *shell.World, h *shell.Home, found rows.Found) error {
	key := found.Requests[0].Key
	s, err := rows.Show(ctx, h.Results(), found.Run, key)
	if err != nil {
		return err
	}
	if f.raw {
		raw, err := rows.RawBytes(ctx, h.Results(), found.Run, key)
		if err != nil {
			return err
		}
		s.Raw = string(raw)
	}
	if f.json {
		return term.WriteJSON(w.Stdout, s)
	}
	return f.print(w.Stdout, s)
}

// several lists the requests that a reference means.
func (f showFlags) several(w *shell.World, found rows.Found) error {
	if f.json {
		return shell.Usage("add --stage, --turn, --branch, --draw or --judge, or name a key", "%d requests are meant: --json shows one",
			len(found.Requests))
	}
	if j := found.Job; j != nil {
		if err := printJob(w.Stdout, j); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(w.Stderr, "%s are meant; assay show KEY shows one\n", assay.Count(len(found.Requests), "request"))
	}
	t := term.Table{Head: []string{"KEY", "STAGE", "ITEM", "LANE", "TURN", "BRANCH", "DRAW", "JUDGE", "ENDING", "TEXT"},
		Right: map[int]bool{4: true, 6: true}}
	for i, a := range found.Requests {
		if i == shell.MaxTableRows {
			break
		}
		t.Add(a.Key.Short(), a.At.Stage, a.At.Item, subjectOf(a.At), a.At.Turn, a.At.Branch, a.At.Draw, a.At.Judge, a.Outcome.Ending,
			cellText(a))
	}
	if found.More || len(found.Requests) > shell.MaxTableRows {
		fmt.Fprintf(w.Stderr, "the first %d\n", t.Len())
	}
	return t.Write(w.Stdout)
}

// subjectOf returns whose answer a request is, or is about: the lane, or both sides of a pair.
func subjectOf(at assay.Coordinates) string {
	switch {
	case at.Against == "":
		return at.Lane
	case at.Lane == "":
		return at.Item + " or " + at.Against
	}
	return at.Lane + " or " + at.Against
}

func printJob(out io.Writer, j *store.RunJob) error {
	g := j.Part
	lines := [][2]string{
		{"job", j.ID + " at " + j.Provider + ", made " + moment(&j.Created)},
		{"run", j.Run.ID + " of " + j.Run.Study},
		{"stage", fmt.Sprintf("%s, lane %s (%s), turn %d, segment %d", g.Stage, g.Lane, g.Model, g.Turn, g.No)},
		{"state", string(g.State) + orWord(g.JobWord) + orWord(g.Reason.String())},
		{"requests", fmt.Sprintf("%s, of which %s have ended", assay.Thousands(g.Requests), assay.Thousands(g.Done()))},
	}
	if j.Role != store.JobCurrent {
		lines = append(lines, [2]string{"role", string(j.Role)})
	}
	if !g.CollectBefore.IsZero() && j.Open() {
		lines = append(lines, [2]string{"collect before", moment(&g.CollectBefore)})
	}
	return errors.Join(facts(out, lines), blank(out))
}

func orWord(word string) string {
	if word == "" {
		return ""
	}
	return ", " + word
}

func (f showFlags) print(out io.Writer, s *rows.Shown) error {
	r := s.Request
	err := facts(out, requestFacts(s))
	for _, m := range s.Asked {
		err = errors.Join(err, block(out, "asked, "+m.Role, m.Text))
	}
	if s.AskedWhy != "" {
		err = errors.Join(err, block(out, "asked", "("+s.AskedWhy+")"))
	}
	switch {
	case s.Sent != "":
		err = errors.Join(err, block(out, fmt.Sprintf("sent, %s (%s)", assay.Count(len(s.Sent), "byte"), s.SentHow), s.Sent))
	default:
		err = errors.Join(err, block(out, "sent", "("+s.SentHow+")"))
	}
	for _, j := range s.Judged {
		err = errors.Join(err, block(out, fmt.Sprintf("judged, lane %s (%s)", j.Lane, shell.Shortened(j.Key)), j.Text))
	}
	if r.Thoughts != "" {
		err = errors.Join(err, block(out, "thoughts", r.Thoughts))
	}
	err = errors.Join(err, block(out, "reply", replyText(r)))
	if f.raw {
		err = errors.Join(err, block(out, "raw reply, "+assay.Count(len(s.Raw), "byte"), s.Raw))
	}
	for _, v := range s.Verdicts {
		err = errors.Join(err, printJudgeVerdict(out, v, r.Judge != ""))
	}
	return errors.Join(err, printAttempts(out, s.Attempts), printHappenings(out, s.Events))
}

// requestFacts returns which request it is, and what it took.
func requestFacts(s *rows.Shown) [][2]string {
	r, at := s.Request, s.At
	lines := [][2]string{{"key", r.Key}, {"run", r.Run + " of " + r.Study}, {"stage", r.Stage}, {"item", r.Item},
		{"lane", fmt.Sprintf("%s (%s/%s)", r.AskedLane, r.Provider, r.Model)}}
	where := fmt.Sprintf("turn %d", r.Turn)
	at.Template = r.Template
	for name, value := range assay.AllCoordinates().But("stage", "source", "item", "lane", "against", "judge").Texts(&at) {
		where += ", " + name + " " + value
	}
	where += fmt.Sprintf(", draw %d", r.Draw)
	switch {
	case r.Judge != "" && r.AskedLane != r.Judge:
		where += ", in the place of judge " + r.Judge
	case r.SecondTry:
		where += ", asked once more"
	}
	lines = append(lines, [2]string{"place", where})
	switch {
	case r.First != "":
		lines = append(lines, [2]string{"judges", "the pair " + r.First + " (shown first), " + r.Second})
	case r.Judge != "":
		lines = append(lines, [2]string{"judges", "the answer of lane " + r.Lane + " in stage " + r.Source})
	}
	if r.ReusedFrom != "" {
		lines = append(lines, [2]string{"taken from", "run " + r.ReusedFrom})
	}
	return append(lines, [2]string{"tokens", tokenText(r)}, [2]string{"cost", costText(r.Cost)})
}

func tokenText(r *rows.Answer) string {
	if r.InputTokens == nil || r.OutputTokens == nil {
		return "not known"
	}
	text := assay.Thousands(*r.InputTokens) + " in"
	if r.CachedTokens != nil && *r.CachedTokens > 0 {
		text += " (" + assay.Thousands(*r.CachedTokens) + " cached)"
	}
	text += ", " + assay.Thousands(*r.OutputTokens) + " out"
	if r.Reasoning != nil && *r.Reasoning > 0 {
		text += " (" + assay.Thousands(*r.Reasoning) + " reasoning)"
	}
	if ran := r.Ran(); ran != "" {
		text += "; " + ran
	}
	return text
}

func costText(usd *float64) string {
	if usd == nil {
		return "not known"
	}
	return assay.Dollars(*usd).String()
}

// replyText returns the reply, or why there is none.
func replyText(r *rows.Answer) string {
	switch {
	case r.Ending == "":
		return "(in flight)"
	case r.FaultMessage != "" || r.FaultClass != "":
		return fmt.Sprintf("(%s: %s %s %s)", r.Ending, r.FaultClass, r.FaultCode, r.FaultMessage)
	case r.Text == "":
		return "(" + r.Ending + ")"
	case r.Ending != string(assay.Answered):
		return r.Text + "\n(" + r.Ending + orWord(r.Finish) + ")"
	}
	return r.Text
}

func printJudgeVerdict(out io.Writer, v rows.JudgeVerdict, own bool) error {
	text := "verdict: " + verdictWord(v.Verdict)
	if v.First != "" {
		text += fmt.Sprintf(" (a is %s, b is %s)", v.First, v.Second)
	}
	if v.Reason != "" {
		text += "\nreason: " + v.Reason
	}
	if v.Words != "" && !own {
		text += "\n" + v.Words
	}
	return block(out, fmt.Sprintf("stage %s, judge %s (%s)", v.Stage, v.Judge, shell.Shortened(v.Key)), text)
}

func printAttempts(out io.Writer, all []rows.Attempt) error {
	t := term.Table{Head: []string{"ATTEMPT", "MODE", "SEGMENT", "STATE", "JOB", "LAUNCHED", "SETTLED", "ENDING", "COST", "WHY"},
		Right: map[int]bool{0: true, 2: true, 8: true}}
	for _, a := range all {
		ending := a.Ending
		if a.Surplus {
			ending += ", paid twice"
		}
		t.Add(a.Attempt, a.Mode, a.Segment, a.State, a.Job, moment(a.Launched), moment(a.Settled), ending, costText(a.Cost), a.Fault)
	}
	return errors.Join(shell.Heading(out, "attempts"), t.Write(out))
}

func printHappenings(out io.Writer, all []rows.Happening) error {
	if len(all) == 0 {
		return nil
	}
	t := term.Table{Head: []string{"AT", "SEGMENT", "EVENT", "TEXT"}, Right: map[int]bool{1: true}}
	for _, e := range all {
		t.Add(moment(&e.At), e.Segment, e.Kind, e.Text)
	}
	return errors.Join(shell.Heading(out, "events"), t.Write(out))
}

// moment returns a time to the second; nothing where it is not known.
func moment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

// facts prints names and values in two columns.
func facts(out io.Writer, lines [][2]string) error {
	wide := 0
	for _, l := range lines {
		wide = max(wide, len(l[0]))
	}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%-*s  %s\n", wide, l[0], assay.Clean(l[1], 1000))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// block prints a foreign text under a title, whole.
func block(out io.Writer, title, text string) error {
	if err := shell.Heading(out, title); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, assay.CleanLines(strings.TrimRight(text, "\n")))
	return err
}

func blank(out io.Writer) error {
	_, err := fmt.Fprintln(out)
	return err
}
