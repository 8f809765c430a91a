package estimate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/media"
	"assay/internal/study/plan"
)

// shape holds the properties of a medium that its tokens depend on.
type shape struct {
	kind                 assay.MediaKind
	detail               string
	width, height, pages int
	size                 int64 // of a document whose pages are unknown
	length               time.Duration
}

// shapes count the media of the mean request by shape.
type shapes map[shape]float64

func shapeOf(f *assay.Media) shape {
	s := shape{kind: f.Kind, detail: f.Detail, width: f.Width, height: f.Height, pages: f.Pages, length: f.Length}
	if f.Kind == assay.MediaDocument && f.Pages == 0 {
		s.size = f.Size
	}
	return s
}

func (s shapes) add(all []*assay.Media) {
	for _, f := range all {
		s[shapeOf(f)]++
	}
}

// over returns the shapes of one of n requests.
func (s shapes) over(n int64) shapes {
	out := shapes{}
	for k, v := range s {
		out[k] = v / float64(max(1, n))
	}
	return out
}

// tokens returns what a model counts for them.
func (s shapes) tokens(r media.Rule) (expected, high float64) {
	for k, n := range s {
		t := r.Of(&assay.Media{Kind: k.kind, Detail: k.detail, Width: k.width, Height: k.height, Pages: k.pages, Size: k.size,
			Length: k.length})
		expected, high = expected+n*float64(t.Expected), high+n*float64(t.High)
	}
	return expected, high
}

// blind counts what is shown without a size that tokens are counted by.
func (s shapes) blind() (n float64) {
	for k, v := range s {
		if k.kind == assay.MediaImage && k.width == 0 || k.kind == assay.MediaDocument && k.pages == 0 ||
			k.kind == assay.MediaAudio && k.length == 0 {
			n += v
		}
	}
	return n
}

// viewer is a lane that is shown the media of a stage.
type viewer struct {
	lane   *study.Lane
	stage  string
	limits media.Limits
	batch  bool
}

// viewers returns the lanes that see what a stage shows: those that it asks, and judges that read its answers.
func (m *maker) viewers(st *study.Stage) []viewer {
	var out []viewer
	add := func(of *study.Stage, lanes []*study.Lane) {
		for _, l := range lanes {
			p := m.in.Path(of, l)
			kind, _ := m.in.Kind(l)
			limits := m.in.Catalog.MediaLimits(kind, string(p.Wire.Dialect))
			out = append(out, viewer{lane: l, stage: of.Name, limits: limits, batch: p.Mode == assay.ModeBatch})
		}
	}
	switch st.Verb() {
	case study.VerbAsk, study.VerbContinue:
		add(st, m.chosen(m.in.Study.Contestants(st)))
	case study.VerbJudge, study.VerbCompare:
		add(st, m.judges(st))
		return out
	}
	for i := range m.in.Study.Stages {
		of := &m.in.Study.Stages[i]
		reads := of.Compare == st.Name || slices.Contains(of.Judge.List, st.Name)
		if reads && !of.Has("media") && m.wanted(of) {
			add(of, m.judges(of))
		}
	}
	return out
}

// judges returns the models that judge in a stage.
func (m *maker) judges(st *study.Stage) []*study.Lane {
	if r, err := m.in.Rubric(st); err != nil || len(r.Prompts) == 0 {
		return nil
	}
	names := st.Judges.List
	if st.Fallback != "" {
		names = append(names[:len(names):len(names)], st.Fallback)
	}
	return m.in.Study.LanesNamed(names)
}

// shown looks at all that a stage shows, step by step: it returns what the mean request of each step shows, all before it included, and
// reports what a lane would not take.
func (m *maker) shown(ctx context.Context, st *study.Stage) []shapes {
	lists := m.mediaOf(st)
	if lists == nil || len(m.problems.Errors()) > 0 {
		return nil
	}
	viewers := m.viewers(st)
	sums, n := make([]shapes, len(lists)), int64(0)
	for i := range sums {
		sums[i] = shapes{}
	}
	told := map[string]bool{}
	for it, err := range m.in.FirstItems(ctx, m.in.Root(st), m.options.Limit) {
		if err != nil {
			return nil // reported where the items are read
		}
		if kept, err := plan.Keeps(st, it); err != nil || !kept {
			continue
		}
		n++
		var all []*assay.Media
		for i, list := range lists {
			parts, err := m.in.Shown(list, &it)
			if err != nil {
				m.problems.Add(it.Place, "", "item %q in stage %s: %s", it.ID, st.Name, err)
				return nil
			}
			all = append(all, plan.MediaOf([]assay.Message{{Parts: parts}})...)
			sums[i].add(all)
		}
		m.refused(it, all, viewers, told)
		if len(m.problems) >= maxShown {
			break
		}
	}
	for i := range sums {
		sums[i] = sums[i].over(n)
	}
	if b := sums[len(sums)-1].blind() * float64(n); b > 0 && m.wanted(st) {
		m.note("stage %s: the size of %s is not known before they are sent: pictures are priced as 2,048 pixels a side, documents as a "+
			"page for every 100 kB, or ten, sounds as a minute", st.Name, plural(int64(b+0.5), "file"))
	}
	return sums
}

// mediaOf lists what a stage shows at each of its steps; nil: nothing. A conversation that goes on has shown what the one before it showed.
func (m *maker) mediaOf(st *study.Stage) []study.Media {
	if st.Verb() == study.VerbJudge || st.Verb() == study.VerbCompare {
		if len(st.Media) == 0 {
			return nil
		}
		return []study.Media{st.Media}
	}
	var lists []study.Media
	found := false
	for k, step := range plan.Steps(st) {
		var list study.Media
		if k == 0 {
			list = append(list, st.Media...)
		}
		for _, g := range step.Given {
			list = append(list, g.Media...)
		}
		list = append(list, step.Media...)
		found = found || len(list) > 0
		lists = append(lists, list)
	}
	if from, ok := m.in.Study.Stage(st.Continue); ok && st.Continue != "" {
		for i, list := range m.mediaOf(from) {
			found = found || len(list) > 0
			if i == 0 {
				lists[0] = append(append(study.Media{}, list...), lists[0]...)
			} else {
				lists[0] = append(list[:len(list):len(list)], lists[0]...)
			}
		}
	}
	if !found {
		return nil
	}
	return lists
}

// refused reports what lanes would not take of what an item shows, each reason of a lane once.
func (m *maker) refused(it assay.Item, all []*assay.Media, viewers []viewer, told map[string]bool) {
	for _, v := range viewers {
		for _, r := range v.limits.Check(all, v.batch) {
			about := ""
			if r.Of != nil {
				about = ", file " + label(it, r.Of)
			}
			key := v.lane.Name + "\x00" + r.Why
			if told[key] {
				continue
			}
			told[key] = true
			hint := r.Hint
			if st, ok := m.in.Study.Stage(v.stage); ok && (st.Verb() == study.VerbJudge || st.Verb() == study.VerbCompare) {
				hint += "; media: [] on stage " + v.stage + " shows its judges nothing"
			}
			m.problems.Add(it.Place, hint, "item %q%s: lane %s in stage %s: %s %s", it.ID, about, v.lane.Name, v.stage, v.lane.Provider,
				r.Why)
		}
	}
}

// label returns the name of a file that is shown.
func label(it assay.Item, of *assay.Media) string {
	for i := range it.Files {
		if f := &it.Files[i]; f.Sum == assay.Sum(of.Sum) && f.Remote() == (of.URL != "") && (of.URL == "" || f.As == of.URL) {
			if f.Remote() {
				return f.As
			}
			return f.Name
		}
	}
	return fmt.Sprintf("of type %s", of.Type)
}

// hollow returns a request that shows files without bytes, and how many bytes they add: in base64, or as ids of what is uploaded.
func hollow(r assay.Request, up media.Uploads) (assay.Request, int64) {
	more := int64(0)
	r.Prompt = r.Prompt.Replaced(func(m *assay.Media) *assay.Media {
		empty := *m
		empty.Size, empty.Open = 0, noBytes
		if up.Take(m) {
			more += media.IDBytes
		} else {
			more += m.Base64()
		}
		return &empty
	})
	return r, more
}

func noBytes() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }
