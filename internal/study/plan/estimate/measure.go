package estimate

import (
	"context"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"

	"assay/internal/assay"
	"assay/internal/study/plan"
)

// The tokens of every prompt of a stage are counted up to so many prompts and bytes: some tenths of a second. Beyond, a sample is counted,
// and the rest follows by bytes.
const (
	maxPrompts   = 10_000
	maxBytes     = 8 << 20
	sampleWanted = 256
	sampleBytes  = 64 << 10 // of one prompt
)

// texts are those of the prompts of a stage whose tokens are counted.
type texts struct {
	all   []string // while they are few
	bytes int
	many  bool     // they are not
	some  []string // a sample
}

func (t *texts) add(all, some []string) {
	for _, s := range all {
		t.bytes += len(s)
	}
	if t.many = t.many || len(t.all)+len(all) > maxPrompts || t.bytes > maxBytes; t.many {
		t.all = nil
	} else {
		t.all = append(t.all, all...)
	}
	if len(t.some) < sampleWanted {
		t.some = append(t.some, some...)
	}
}

// perByte returns the mean number of tokens a byte of a stage's prompts, so many with so many bytes. The plan says where
// they were not all counted.
func (m *maker) perByte(t *texts, prompts, bytes int64) float64 {
	if !t.many && int64(len(t.all)) == prompts && bytes > 0 {
		count := 0
		for _, s := range t.all {
			count += m.tokens.Count(s)
		}
		return float64(count) / float64(bytes)
	}
	m.plan.Sampled = true
	count, counted := 0, 0
	for _, s := range t.some {
		s = s[:min(len(s), sampleBytes)]
		count, counted = count+m.tokens.Count(s), counted+len(s)
	}
	if counted == 0 {
		return 1 / plan.BytesPerToken
	}
	return float64(count) / float64(counted)
}

// textOf returns what a prompt says, as it is counted.
func textOf(p *assay.Prompt) string {
	text := p.System
	add := func(more string) {
		if text != "" && more != "" {
			text += "\n"
		}
		text += more
	}
	add(p.Context)
	for _, m := range p.Messages {
		add(m.Text)
	}
	return text
}

const (
	chunkItems = 64 // items a worker takes at a time
	maxShown   = 20 // problems of items that are listed
)

// fillerID has the length of every custom id, so that measured sizes are those that go out.
var fillerID = assay.CustomID(assay.PlanNonce, assay.Key{})

// measured holds what a pass over the items of an ask stage found.
type measured struct {
	items  int
	asked  int64            // questions, before lanes and draws
	draws  int64            // of each question
	cuts   []*plan.Cut      // by route
	text   int64            // bytes of all prompt texts
	shared int64            // of text: system and context that another prompt has, too, which caching may cover
	before map[uint64]int64 // sizes of systems and contexts that one prompt had so far; 0: more than one
	texts  texts            // of prompts, to count their tokens
	hashes []uint64         // of all prompts, to find equal ones
	long   []long           // by route: questions that hardly fit the model's window
}

// long is how many questions have more tokens, at four bytes each, than a model takes, and the first of them.
type long struct {
	n     int64
	first string
	at    assay.Place
}

func (l *long) add(m long) {
	if l.n == 0 {
		l.first, l.at = m.first, m.at
	}
	l.n += m.n
}

// equal returns how many questions say exactly what another one says.
func (m *measured) equal() int64 {
	slices.Sort(m.hashes)
	n := int64(0)
	for i := 1; i < len(m.hashes); i++ {
		if m.hashes[i] == m.hashes[i-1] {
			n++
		}
	}
	return n
}

// measure renders and encodes every question of an ask stage's first step, in the order of the items.
func (m *maker) measure(ctx context.Context, t *plan.Conversation, routes []plan.Path) (measured, assay.Problems) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := max(1, m.options.Workers)
	todo, done := make(chan *chunk, 2*workers), make(chan *chunk, 2*workers)
	var found assay.Problems // of the input; read once todo is closed
	go func() {
		defer close(todo)
		found = m.chunks(ctx, t.Stage.Ask, m.options.Limit, todo)
	}()
	seed := maphash.MakeSeed() // which prompts are equal does not depend on it
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			w := worker{talk: t, routes: routes, seed: seed}
			for c := range todo {
				w.work(c)
				done <- c
			}
		})
	}
	go func() { wg.Wait(); close(done) }()
	all := measured{draws: plan.Draws(t.Stage), long: make([]long, len(routes)), before: map[uint64]int64{}}
	for _, r := range routes {
		all.cuts = append(all.cuts, r.Cut())
	}
	problems := all.fold(done, cancel)
	return all, append(found, problems...)
}

// chunk is a run of items and what came of them.
type chunk struct {
	index    int
	items    []assay.Item
	asked    int64
	sizes    [][]int32
	text     int64
	prefixes []prefix
	texts    []string
	some     []string // of texts: those of a sample
	hashes   []uint64
	long     []long
	problems assay.Problems
}

// prefix is the system and the context of a prompt, as far as they are compared.
type prefix struct {
	hash uint64
	size int64
}

// chunks reads an input, reports what is wrong with it, and hands its items out in runs.
func (m *maker) chunks(ctx context.Context, input string, limit int, todo chan<- *chunk) assay.Problems {
	n := 0
	c := &chunk{}
	send := func() bool {
		select {
		case todo <- c:
		case <-ctx.Done():
			return false
		}
		c = &chunk{index: c.index + 1}
		return true
	}
	problems := m.in.Items.Walk(ctx, input, func(it assay.Item) bool {
		c.items = append(c.items, it)
		n++
		return (len(c.items) < chunkItems || send()) && n != limit
	})
	send()
	return problems
}

// fold adds the chunks in order.
func (m *measured) fold(done <-chan *chunk, cancel func()) assay.Problems {
	var problems assay.Problems
	waiting, next := map[int]*chunk{}, 0
	for c := range done {
		waiting[c.index] = c
		for ; waiting[next] != nil; next++ {
			m.add(waiting[next])
			problems = append(problems, waiting[next].problems...)
			delete(waiting, next)
		}
		if len(problems) >= maxShown {
			cancel()
		}
	}
	if len(problems) > maxShown {
		problems = problems[:maxShown]
	}
	return problems
}

func (m *measured) add(c *chunk) {
	m.items += len(c.items)
	m.asked += c.asked
	m.text += c.text
	for _, p := range c.prefixes {
		switch first, known := m.before[p.hash]; {
		case !known:
			m.before[p.hash] = p.size
		default:
			m.shared += first + p.size
			m.before[p.hash] = 0
		}
	}
	m.hashes = append(m.hashes, c.hashes...)
	for i, sizes := range c.sizes {
		for _, size := range sizes {
			m.cuts[i].Add(size, m.draws)
		}
	}
	for i, l := range c.long {
		m.long[i].add(l)
	}
	m.texts.add(c.texts, c.some)
}

// worker renders and encodes; it keeps its buffers between chunks.
type worker struct {
	talk   *plan.Conversation
	routes []plan.Path
	buf    []byte
	seed   maphash.Seed
}

func (w *worker) work(c *chunk) {
	c.sizes, c.long = make([][]int32, len(w.routes)), make([]long, len(w.routes))
	for i, it := range c.items {
		keep, err := w.talk.Keeps(it)
		if err != nil {
			c.problems.Add(it.Place, "", "item %q in stage %s: %s", it.ID, w.talk.Stage.Name, err)
		}
		if !keep {
			continue
		}
		for j, way := range w.talk.Ways(0, it, 1) {
			p, err := w.talk.Prompt(0, it, way, nil)
			if err != nil {
				c.problems.Add(it.Place, "", "item %q in stage %s: %s", it.ID, w.talk.Stage.Name, err)
				break
			}
			if blank(&p) {
				c.problems.Add(it.Place, "leave such items out: where: 'trim(text) != \"\"'", "item %q in stage %s: its message is empty",
					it.ID, w.talk.Stage.Name)
				break
			}
			w.encode(c, it, &p)
			if c.index*chunkItems < maxPrompts {
				c.texts = append(c.texts, textOf(&p))
			}
			if j == 0 && sampled(c.index, i) {
				c.some = append(c.some, textOf(&p))
			}
		}
	}
}

// blank reports whether a message of the user says nothing, which providers reject.
func blank(p *assay.Prompt) bool {
	return slices.ContainsFunc(p.Messages, func(m assay.Message) bool {
		return m.Role == assay.RoleUser && strings.TrimSpace(m.Text) == "" && len(m.Parts) == 0
	})
}

// sampled picks the items of a sample: many at the start, some of the rest.
func sampled(chunk, i int) bool { return chunk == 0 || i == chunk%chunkItems && chunk%16 == 0 }

func (w *worker) encode(c *chunk, it assay.Item, p *assay.Prompt) {
	c.asked++
	var h maphash.Hash
	h.SetSeed(w.seed)
	for _, text := range []string{p.System, "\x00", p.Context} {
		h.WriteString(text)
	}
	c.prefixes = append(c.prefixes, prefix{h.Sum64(), int64(len(p.System) + len(p.Context))})
	for _, m := range p.Messages {
		h.WriteString("\x00" + string(m.Role))
		h.WriteString(m.Text)
		for _, part := range m.Parts {
			if f := part.Media; f != nil {
				h.Write(f.Sum[:])
				h.WriteString(f.URL + "\x00" + f.Detail)
			}
		}
	}
	c.hashes = append(c.hashes, h.Sum64())
	text := int64(len(p.System) + len(p.Context))
	for _, m := range p.Messages {
		text += int64(len(m.Text))
	}
	c.text += text
	for i := range w.routes {
		r := &w.routes[i]
		if r.Window > 0 && float64(text)/plan.BytesPerToken > float64(r.Window) {
			c.long[i].add(long{n: 1, first: it.ID, at: it.Place})
		}
		req, files := hollow(assay.Request{Lane: &r.Lane.Lane, Wire: &r.Wire, Prompt: p}, r.Uploads)
		line, err := plan.AppendRequest(w.buf[:0], fillerID, &req)
		w.buf = line[:0]
		size := int64(len(line)) + files
		if err != nil {
			c.problems.Add(it.Place, "", "item %q in lane %s: %s", it.ID, r.Lane.Name, err)
			continue
		}
		if most := r.Most(); most > 0 && size > most {
			c.problems.Add(it.Place, "shorten the item, or leave it out with `where`",
				"item %q is too large for lane %s: %s, at most %s for a request", it.ID, r.Lane.Name, assay.Size(size),
				assay.Size(most))
		}
		c.sizes[i] = append(c.sizes[i], int32(min(size, math.MaxInt32)))
	}
}
