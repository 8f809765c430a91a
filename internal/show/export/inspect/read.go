package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/show/export"
)

// Read reads logs of Inspect. Of several logs of one task and lane the newest counts: a retry holds the samples of the log
// before it.
func Read(ctx context.Context, from export.From, to *export.Sink) error {
	names, err := logNames(from)
	if err != nil {
		return err
	}
	r := &reader{Sink: to, met: map[[16]byte]metItem{}}
	for _, name := range names {
		s := &source{files: from.Files, name: name}
		if err := s.open(); err != nil {
			to.Bad.At(assay.Place{}, "%v", err)
			continue
		}
		r.logs = append(r.logs, s)
	}
	if len(r.logs) == 0 {
		return export.ErrNothing
	}
	if err := r.choose(from.Run); err != nil {
		return err
	}
	r.place(from.Lane)
	for i, s := range r.logs {
		r.log = i
		err := s.samples(to.Bad, func(at assay.Place, text []byte) error {
			r.stop = cmp.Or(ctx.Err(), r.sample(at, text))
			return r.stop
		})
		if r.stop != nil {
			return r.stop
		}
		if err != nil {
			to.Bad.At(assay.Place{}, "%v", err)
		}
	}
	r.notes()
	return nil
}

type reader struct {
	*export.Sink
	logs   []*source
	placed []logPlace // of each log
	log    int        // the one that is read
	met    map[[16]byte]metItem
	stop   error // ends the reading of all

	tools, invalid int64
	firstTool      assay.Place
}

// logPlace is where the samples of a log belong.
type logPlace struct {
	stage, input, lane string
	scores             string // in front of the names of its scores
}

// metItem is an item that was met: what it asked, and in which log.
type metItem struct {
	asked [16]byte
	log   int
}

// choose leaves out what another log has newer, and the runs that are not asked for.
func (r *reader) choose(run string) error {
	sort.SliceStable(r.logs, func(i, j int) bool { return r.logs[i].head.Eval.Created < r.logs[j].head.Eval.Created })
	newest := map[string]int{}
	for i, s := range r.logs {
		newest[s.head.key()] = i
	}
	var kept []*source
	runs := map[string]bool{}
	for i, s := range r.logs {
		mark := s.head.mark
		switch {
		case mark != nil && run != "" && mark.Run != run:
			continue
		case newest[s.head.key()] != i:
			r.Notef("%s is left out: %s is a newer log of the same task and lane", s.name, r.logs[newest[s.head.key()]].name)
			continue
		}
		if mark != nil {
			runs[mark.Run] = true
		}
		if s.head.Status != "success" {
			r.Notef("%s is of a run that did not finish (%s)", s.name, assay.Clean(cmp.Or(s.head.Status, "started"), export.MaxShown))
		}
		kept = append(kept, s)
	}
	if len(runs) > 1 {
		return fmt.Errorf("%w: %s", export.ErrRuns, strings.Join(slices.Sorted(maps.Keys(runs)), ", "))
	}
	if r.logs = kept; len(kept) == 0 {
		return export.ErrNothing
	}
	sort.SliceStable(r.logs, func(i, j int) bool { return r.logs[i].rank() < r.logs[j].rank() })
	return nil
}

// rank orders logs: answers before comparisons of them.
func (s *source) rank() string {
	if s.head.mark != nil && s.head.mark.Verb == "compare" {
		return "1" + s.name
	}
	return "0" + s.name
}

// key names what a log is about: logs with the same one are tries of one evaluation.
func (h *sourceHead) key() string {
	if h.mark != nil {
		return fmt.Sprintf("%q", []string{h.mark.Run, h.mark.Stage, h.mark.Lane, h.mark.Verb})
	}
	rest, err := json.Marshal([]any{h.Eval.Config, h.Eval.Args})
	if err != nil {
		rest = nil
	}
	return fmt.Sprintf("%q", []string{h.Eval.Task, h.Eval.Model, string(rest)})
}

// place gives every log its stage, input and lane. Those of our own come back as they were.
func (r *reader) place(lane string) {
	stages, taken := map[string]string{}, map[string]bool{} // by task
	for _, s := range r.logs {
		if _, ok := stages[s.head.Eval.Task]; ok || s.head.mark != nil {
			continue
		}
		name := export.StageName(path.Base(s.head.Eval.Task), "answers")
		for n, base := 2, name; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		stages[s.head.Eval.Task], taken[name] = name, true
	}
	lanes := map[string][]*source{} // of one task and name
	for _, s := range r.logs {
		if s.head.mark == nil {
			at := s.head.Eval.Task + "\x00" + export.LaneOfModel(s.head.Eval.Model)
			lanes[at] = append(lanes[at], s)
		}
	}
	for _, s := range r.logs {
		if m := s.head.mark; m != nil {
			r.placed = append(r.placed, logPlace{stage: export.StageName(m.Stage, "answers"), input: cmp.Or(m.Input, "items"),
				lane: m.Lane})
			continue
		}
		p := logPlace{stage: stages[s.head.Eval.Task], input: "items", lane: export.LaneOfModel(s.head.Eval.Model)}
		if len(stages) > 1 { // tasks number their samples alike
			p.input, p.scores = p.stage+"_items", p.stage+"_"
		}
		if same := lanes[s.head.Eval.Task+"\x00"+p.lane]; len(same) > 1 {
			p.lane += s.differs(same)
		}
		p.lane = cmp.Or(lane, p.lane)
		r.placed = append(r.placed, p)
	}
}

// differs returns what distinguishes a log from others of the same task and model: the settings that are not the same in all.
func (s *source) differs(all []*source) string {
	text := ""
	add := func(name string, of func(*source) any) {
		own := fmt.Sprint(of(s))
		if slices.ContainsFunc(all, func(o *source) bool { return fmt.Sprint(of(o)) != own }) {
			text += "-" + cmp.Or(export.LaneName(name+"-"+own), name)
		}
	}
	add("model", func(o *source) any { return path.Dir(o.head.Eval.Model) })
	names := map[string]bool{}
	for _, o := range all {
		for name := range o.head.Eval.Config {
			names[name] = true
		}
		for name := range o.head.Eval.Args {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		add(name, func(o *source) any {
			if v, ok := o.head.Eval.Config[name]; ok {
				return v
			}
			return o.head.Eval.Args[name]
		})
	}
	if len(text) > export.MaxShown { // long settings: a number tells them apart as well
		return fmt.Sprintf("-%d", slices.Index(all, s)+1)
	}
	return text
}

func (r *reader) notes() {
	if r.invalid > 0 {
		r.Notef("%s left out: the log calls them invalid", export.Plural(r.invalid, "sample was", "samples were"))
	}
	if r.tools > 0 {
		r.Bad(assay.Problem{Place: r.firstTool, Hint: "of these the last answer in words is taken",
			What: export.Plural(r.tools, "sample has", "samples have") + " tools, images or sound, such as this one"})
	}
}
