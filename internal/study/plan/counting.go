package plan

import "assay/internal/assay"

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

// perByte is the mean number of tokens a byte of a stage's prompts, so many with so many bytes. The plan says where they were not all counted.
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
		return 1 / bytesPerToken
	}
	return float64(count) / float64(counted)
}

// textOf is what a prompt says, as it is counted.
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
