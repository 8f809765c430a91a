package export

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
)

// readInspect reads logs of Inspect. Of several logs of one task and lane the newest counts: a retry holds the samples of the log
// before it.
func readInspect(ctx context.Context, from From, to *Sink) error {
	names, err := inspectLogs(from)
	if err != nil {
		return err
	}
	r := &inspectReader{Sink: to, met: map[[16]byte]inspectMet{}}
	for _, name := range names {
		s := &inspectSource{files: from.Files, name: name}
		if err := s.open(); err != nil {
			to.Bad.at(assay.Place{}, "%v", err)
			continue
		}
		r.logs = append(r.logs, s)
	}
	if len(r.logs) == 0 {
		return ErrNothing
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
			to.Bad.at(assay.Place{}, "%v", err)
		}
	}
	r.notes()
	return nil
}

type inspectReader struct {
	*Sink
	logs   []*inspectSource
	placed []inspectPlace // of each log
	log    int            // the one that is read
	met    map[[16]byte]inspectMet
	stop   error // ends the reading of all

	tools, invalid int64
	firstTool      assay.Place
}

// inspectPlace is where the samples of a log belong.
type inspectPlace struct {
	stage, input, lane string
	scores             string // in front of the names of its scores
}

// inspectMet is an item that was met: what it asked, and in which log.
type inspectMet struct {
	asked [16]byte
	log   int
}

// choose leaves out what another log has newer, and the runs that are not asked for.
func (r *inspectReader) choose(run string) error {
	sort.SliceStable(r.logs, func(i, j int) bool { return r.logs[i].head.Eval.Created < r.logs[j].head.Eval.Created })
	newest := map[string]int{}
	for i, s := range r.logs {
		newest[s.head.key()] = i
	}
	var kept []*inspectSource
	runs := map[string]bool{}
	for i, s := range r.logs {
		mark := s.head.mark
		switch {
		case mark != nil && run != "" && mark.Run != run:
			continue
		case newest[s.head.key()] != i:
			r.note("%s is left out: %s is a newer log of the same task and lane", s.name, r.logs[newest[s.head.key()]].name)
			continue
		}
		if mark != nil {
			runs[mark.Run] = true
		}
		if s.head.Status != "success" {
			r.note("%s is of a run that did not finish (%s)", s.name, assay.Clean(cmp.Or(s.head.Status, "started"), maxShownID))
		}
		kept = append(kept, s)
	}
	if len(runs) > 1 {
		return fmt.Errorf("%w: %s", ErrRuns, strings.Join(slices.Sorted(maps.Keys(runs)), ", "))
	}
	if r.logs = kept; len(kept) == 0 {
		return ErrNothing
	}
	sort.SliceStable(r.logs, func(i, j int) bool { return r.logs[i].rank() < r.logs[j].rank() })
	return nil
}

// rank orders logs: answers before comparisons of them.
func (s *inspectSource) rank() string {
	if s.head.mark != nil && s.head.mark.Verb == "compare" {
		return "1" + s.name
	}
	return "0" + s.name
}

// key names what a log is about: logs with the same one are tries of one evaluation.
func (h *inspectHead) key() string {
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
func (r *inspectReader) place(lane string) {
	stages, taken := map[string]string{}, map[string]bool{} // by task
	for _, s := range r.logs {
		if _, ok := stages[s.head.Eval.Task]; ok || s.head.mark != nil {
			continue
		}
		name := stageName(path.Base(s.head.Eval.Task), "answers")
		for n, base := 2, name; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		stages[s.head.Eval.Task], taken[name] = name, true
	}
	lanes := map[string][]*inspectSource{} // of one task and name
	for _, s := range r.logs {
		if s.head.mark == nil {
			at := s.head.Eval.Task + "\x00" + modelLane(s.head.Eval.Model)
			lanes[at] = append(lanes[at], s)
		}
	}
	for _, s := range r.logs {
		if m := s.head.mark; m != nil {
			r.placed = append(r.placed, inspectPlace{stage: stageName(m.Stage, "answers"), input: cmp.Or(m.Input, "items"), lane: m.Lane})
			continue
		}
		p := inspectPlace{stage: stages[s.head.Eval.Task], input: "items", lane: modelLane(s.head.Eval.Model)}
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

// modelLane is a model's name as the name of a lane.
func modelLane(model string) string { return cmp.Or(laneText(path.Base(model)), "model") }

// laneText spells any text as a lane's name is spelt.
func laneText(text string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c) {
			return c
		}
		return '-'
	}, text), "-._")
}

// differs is what distinguishes a log from others of the same task and model: the settings that are not the same in all.
func (s *inspectSource) differs(all []*inspectSource) string {
	text := ""
	add := func(name string, of func(*inspectSource) any) {
		own := fmt.Sprint(of(s))
		if slices.ContainsFunc(all, func(o *inspectSource) bool { return fmt.Sprint(of(o)) != own }) {
			text += "-" + cmp.Or(laneText(name+"-"+own), name)
		}
	}
	add("model", func(o *inspectSource) any { return path.Dir(o.head.Eval.Model) })
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
		add(name, func(o *inspectSource) any {
			if v, ok := o.head.Eval.Config[name]; ok {
				return v
			}
			return o.head.Eval.Args[name]
		})
	}
	if len(text) > maxShownID { // long settings: a number tells them apart as well
		return fmt.Sprintf("-%d", slices.Index(all, s)+1)
	}
	return text
}

func (r *inspectReader) notes() {
	if r.invalid > 0 {
		r.note("%s left out: the log calls them invalid", count(r.invalid, "sample was", "samples were"))
	}
	if r.tools > 0 {
		r.Bad(assay.Problem{Place: r.firstTool, Hint: "of these the last answer in words is taken",
			What: count(r.tools, "sample has", "samples have") + " tools, images or sound, such as this one"})
	}
}
