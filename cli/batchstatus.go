package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"assay"
	"assay/batchrun"
	"assay/cli/term"
	"assay/engine"
	"assay/provider"
	"assay/store"
	"assay/workspace"
)

// batchRow is one job as tables and lists show it.
type batchRow struct {
	Provider string `json:"provider"`
	Job      string `json:"batch_id"`
	Model    string `json:"model"`
	Created  string `json:"created"`
	Status   string `json:"status"`
	Run      string `json:"run,omitempty"` // empty: made elsewhere

	file     string
	requests int64
	done     int64
	failed   int64
	note     string
	segment  store.Segment
}

type statusBatchFlags struct {
	reach   reachFlags
	home    homeFlags
	json    bool
	offline bool
	rehears bool
}

func batchStatusCommand(w *World) *cobra.Command {
	var f statusBatchFlags
	c := &cobra.Command{
		Use:   "status [BATCH…]",
		Short: "Ask the providers how batches stand; nothing is sent or fetched",
		Long:  "Tells how batches stand: those named, else all that are open. A job that was made elsewhere is looked for with the keys that are set.",
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			h, err := f.home.open(ctx, w, f.rehears)
			if err != nil {
				return err
			}
			defer h.Close()
			refs, err := findBatches(ctx, w, h, args, f.reach)
			if err != nil {
				return err
			}
			rows, err := refs.rows(ctx, h)
			if err != nil {
				return err
			}
			if !f.offline && !h.rehearsal {
				refresh(ctx, w, h, refs.runs, rows)
			}
			if f.json {
				return term.WriteJSON(w.Stdout, tracking{rows})
			}
			return writeRows(w, h, rows)
		},
	}
	f.reach.registerPlace(c, "where to look for a job that was made elsewhere")
	f.home.register(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().BoolVar(&f.offline, "offline", false, "tell what the ledger knows; ask nobody")
	c.Flags().BoolVar(&f.rehears, "rehearsal", false, "look at the rehearsals")
	return c
}

// tracking is the list of batches for programs.
type tracking struct {
	Batches []batchRow `json:"batches"`
}

// rows are the jobs of all that was named.
func (r batchRefs) rows(ctx context.Context, h *home) ([]batchRow, error) {
	rows := []batchRow{}
	for _, run := range r.runs {
		own, err := runRows(ctx, h, run)
		if err != nil {
			return nil, err
		}
		rows = append(rows, own...)
	}
	for _, j := range r.foreign {
		rows = append(rows, foreignRow(j.target.Name, j.status))
	}
	return rows, nil
}

// runRows are the jobs of one run; a run without any is a row of its own.
func runRows(ctx context.Context, h *home, run store.Run) ([]batchRow, error) {
	b, _ := batchrun.Of(run)
	all, err := h.ledger.Segments(ctx, run.No)
	if err != nil {
		return nil, err
	}
	var rows []batchRow
	for _, g := range all {
		if g.State == store.Planned {
			continue
		}
		row := batchRow{Provider: g.Provider, Job: g.Job, Model: g.Model, Created: stamp(cmp.Or(g.Launched, g.Created)), Run: run.ID, Status: word(g),
			file: run.Study, requests: g.Requests, done: g.Done(), note: g.Reason, segment: g}
		for e, n := range g.Endings {
			if !e.Stands() {
				row.failed += n
			}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		row := batchRow{Provider: b.File.Provider, Created: stamp(run.Created), Status: "recorded", Run: run.ID, file: run.Study, requests: b.File.Requests}
		if len(b.File.Lanes) > 0 {
			row.Model = b.File.Lanes[0].Model
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// word is where a segment stands, in the provider's word where it has one.
func word(g store.Segment) string {
	switch {
	case g.State == store.Held || g.State == store.Failed || g.State == store.Cancelled:
		return string(g.State)
	case g.Mode == store.Live && g.State == store.Launched:
		return "asking live"
	case g.Mode == store.Live && g.State == store.Settled:
		return "answered live"
	case g.JobWord != "":
		return g.JobWord
	}
	return string(g.State)
}

func foreignRow(name string, st provider.Status) batchRow {
	row := batchRow{Provider: name, Job: st.Job, Model: st.Model, Status: cmp.Or(st.Word, string(st.State)), file: "(made elsewhere)",
		requests: st.Counts.Total, done: st.Counts.Done(), failed: st.Counts.Failed + st.Counts.Expired + st.Counts.Cancelled}
	if !st.Created.IsZero() {
		row.Created = stamp(st.Created)
	}
	if st.Fault != nil {
		row.note = st.Fault.Error()
	}
	return row
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// refresh asks the providers about the jobs on their way. What cannot be asked keeps what the ledger knows, and a note.
func refresh(ctx context.Context, w *World, h *home, runs []store.Run, rows []batchRow) {
	byRun := map[string]*workspace.Accounts{}
	for _, r := range runs {
		if s, err := h.planner.Study(ctx, r); err == nil {
			byRun[r.ID] = w.workspace().Accounts(s)
		}
	}
	for i := range rows {
		row := &rows[i]
		a, ok := byRun[row.Run]
		if !ok || row.segment.State != store.Launched || row.segment.Mode != store.Batch {
			continue
		}
		access, err := a.Access(row.Provider)
		switch {
		case errors.Is(err, engine.ErrNoKey):
			row.note = "not asked: no key"
			continue
		case err != nil:
			row.note = "not asked: " + err.Error()
			continue
		case access.Fingerprint != row.segment.Account:
			row.note = fmt.Sprintf("made with another key (%s, this one is %s)", row.segment.Account, access.Fingerprint)
			continue
		}
		st, err := access.Batch.Check(ctx, provider.Job{ID: row.Job, Handle: provider.Handle(row.segment.Handle), Model: row.Model, Count: int(row.requests)})
		if err != nil {
			row.note = "not answered: " + err.Error()
			continue
		}
		row.Status = cmp.Or(st.Word, string(st.State))
		if st.Counts.Known {
			row.done, row.failed = st.Counts.Done(), st.Counts.Failed+st.Counts.Expired+st.Counts.Cancelled
		}
	}
}

// printBatches prints the jobs of runs as the ledger knows them.
func printBatches(ctx context.Context, w *World, h *home, runs []store.Run) error {
	rows, err := batchRefs{runs: runs}.rows(ctx, h)
	if err != nil {
		return err
	}
	return writeRows(w, h, rows)
}

func writeRows(w *World, h *home, rows []batchRow) error {
	h.watermark(w)
	t := term.Table{Head: []string{"BATCH", "FILE", "PROVIDER", "MODEL", "JOB", "CREATED", "STATUS", "REQUESTS", "DONE", "FAILED", "NOTE"}, Right: map[int]bool{7: true, 8: true, 9: true}}
	for _, r := range rows {
		t.Add(r.Run, r.file, r.Provider, r.Model, r.Job, r.Created, r.Status, assay.Thousands(r.requests), assay.Thousands(r.done), assay.Thousands(r.failed), r.note)
	}
	return t.Write(w.Stdout)
}

func batchListCommand(w *World) *cobra.Command {
	var f statusBatchFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List all batches at all providers whose keys are set, also those made elsewhere",
		Args:  args(),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			h, err := f.home.open(ctx, w, f.rehears)
			if err != nil {
				return err
			}
			defer h.Close()
			rows, err := listAll(ctx, w, h, f)
			if err != nil {
				return err
			}
			if f.json {
				return term.WriteJSON(w.Stdout, tracking{rows})
			}
			return writeRows(w, h, rows)
		},
	}
	f.reach.registerPlace(c, "only this provider")
	f.home.register(c)
	c.Flags().BoolVar(&f.json, "json", false, `print JSON: {"batches":[{"provider","batch_id","model","created","status"}]}`)
	c.Flags().BoolVar(&f.offline, "offline", false, "only what the ledger knows; ask nobody")
	c.Flags().BoolVar(&f.rehears, "rehearsal", false, "list the rehearsals")
	return c
}

// listAll is what the ledger knows, and what the providers know beside it.
func listAll(ctx context.Context, w *World, h *home, f statusBatchFlags) ([]batchRow, error) {
	runs, err := batchRuns(ctx, h)
	if err != nil {
		return nil, err
	}
	rows, err := batchRefs{runs: runs}.rows(ctx, h)
	if err != nil || f.offline || h.rehearsal {
		return onlyAt(rows, f.reach.wish.Provider), err
	}
	ours, err := h.ledger.Jobs(ctx, 0)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, j := range ours {
		known[j.Provider+" "+j.ID] = true
	}
	targets, err := w.resolver().Keyed(f.reach.asked())
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		found, err := listAt(ctx, w, t, known)
		if err != nil {
			fmt.Fprintf(w.Stderr, "%s: its jobs cannot be listed: %s\n", t.Name, err)
		}
		rows = append(rows, found...)
	}
	refresh(ctx, w, h, runs, rows)
	return onlyAt(rows, f.reach.wish.Provider), nil
}

func onlyAt(rows []batchRow, name string) []batchRow {
	if name == "" {
		return rows
	}
	out := []batchRow{}
	for _, r := range rows {
		if r.Provider == name {
			out = append(out, r)
		}
	}
	return out
}

// maxListed is as many jobs of one provider as are shown.
const maxListed = 1000

func listAt(ctx context.Context, w *World, t batchrun.Target, known map[string]bool) ([]batchRow, error) {
	access, err := dial(w, t)
	if err != nil {
		return nil, err
	}
	l, ok := access.Batch.(provider.Lister)
	if !ok {
		return nil, nil
	}
	var rows []batchRow
	for st, err := range l.List(ctx) {
		if err != nil {
			return rows, err
		}
		if known[t.Name+" "+st.Job] {
			continue
		}
		if len(rows) == maxListed {
			fmt.Fprintf(w.Stderr, "%s: the newest %d jobs are shown\n", t.Name, maxListed)
			break
		}
		rows = append(rows, foreignRow(t.Name, st))
	}
	return rows, nil
}

// MarshalJSON tells a moment that is not known as null.
func (r batchRow) MarshalJSON() ([]byte, error) {
	type bare batchRow
	if r.Created != "" {
		return json.Marshal(bare(r))
	}
	return json.Marshal(struct {
		bare
		Created *string `json:"created"`
	}{bare(r), nil})
}
