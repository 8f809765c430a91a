package eyes

import (
	"math"
	"strings"
)

// Tokens returns what a model's provider bills for a thing.
func (t *Thing) Tokens(model string) int {
	m := model[strings.LastIndex(model, "/")+1:]
	if at := strings.Index(m, "claude-"); at > 0 {
		m = m[at:]
	}
	if at := strings.Index(m, "nova-"); at > 0 {
		m = m[at:]
	}
	switch t.Kind {
	case Document:
		return t.Pages * t.page(m)
	case Sound:
		return int(math.Ceil(t.Seconds * perSecond(m)))
	}
	if t.Width <= 0 || t.Height <= 0 {
		return 0
	}
	return picture(m, t.Width, t.Height, t.Detail)
}

func perSecond(model string) float64 {
	switch {
	case strings.HasPrefix(model, "gem"):
		return 32
	case strings.HasPrefix(model, "gpt"):
		return 10
	}
	return 12.5
}

// page returns the tokens of a page: a picture of A4 at 150 dots an inch, and the words on it.
func (t *Thing) page(model string) int {
	luck := 0
	for _, c := range []byte(t.Sum) {
		luck = (luck*31 + int(c)) % 1501
	}
	const wide, high = 1240, 1754
	switch {
	case strings.HasPrefix(model, "claude-") && t.TextOnly:
		return 340
	case strings.HasPrefix(model, "claude-"):
		return picture(model, wide, high, "") + 1500 + luck
	case strings.HasPrefix(model, "gemini-2"):
		return 258
	case strings.HasPrefix(model, "gem"):
		return map[string]int{"low": 280, "high": 1120}[t.Detail] + map[bool]int{true: 560}[t.Detail != "low" && t.Detail != "high"]
	case isGPT(model):
		return picture(model, wide, high, "high") + 300 + luck/5
	}
	return 800 + luck
}

func isGPT(model string) bool {
	return strings.HasPrefix(model, "gpt-") || len(model) > 1 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9'
}

func picture(model string, w, h int, detail string) int {
	long, short := float64(max(w, h)), float64(min(w, h))
	switch {
	case isGPT(model):
		return gptPicture(model, w, h, detail)
	case strings.HasPrefix(model, "claude-"):
		return claudePicture(model, w, h)
	case strings.HasPrefix(model, "gemini-2"):
		if long <= 384 {
			return 258
		}
		unit := math.Max(256, math.Min(768, math.Floor(short/1.5)))
		return 258 * cells(long, unit) * cells(short, unit)
	case strings.HasPrefix(model, "gem"):
		if n := map[string]int{"low": 280, "medium": 560, "ultra_high": 2240}[detail]; n > 0 {
			return n
		}
		return 1120
	case strings.HasPrefix(model, "pixtral-12b"):
		return mistralPicture(w, h, 16, 1024)
	case strings.Contains(model, "stral"):
		return mistralPicture(w, h, 28, 1540)
	case strings.HasPrefix(model, "nova-"):
		return int(math.Max(405_000, long*short) / 640)
	case strings.HasPrefix(model, "deepseek"):
		return int(math.Ceil(384 * math.Max(384*384, math.Min(800*800, long*short)) / (800 * 800)))
	case strings.HasPrefix(model, "grok"):
		return 256 + 256*min(6, cells(long, 448)*cells(short, 448))
	}
	return min(2304, cells(long, 28)*cells(short, 28)) // most open models
}

// cells returns how many cells of a size lie along a side.
func cells(side, size float64) int { return int(math.Ceil(side/size - 1e-9)) }

// patchy lists the models of OpenAI that count patches: the factor, and the most patches of a closer look. The first that fits holds.
var patchy = []struct {
	prefix string
	factor float64
	most   float64
	whole  float64 // most patches of the detail "original"; 0: there is none, below 0: any
	auto   string
}{
	{prefix: "gpt-6", factor: 1.2, most: 2500, whole: -1, auto: "original"},
	{prefix: "gpt-5.6", factor: 1.2, most: 2500, whole: -1, auto: "original"},
	{prefix: "gpt-5.5", factor: 1.2, most: 2500, whole: 10000, auto: "original"},
	{prefix: "gpt-5.4-mini", factor: 1.2, most: 1536}, {prefix: "gpt-5.4-nano", factor: 1.2, most: 1536},
	{prefix: "gpt-5.4", factor: 1.2, most: 2500, whole: 10000},
	{prefix: "gpt-5.2", factor: 1.2, most: 1536}, {prefix: "gpt-5-mini", factor: 1.2, most: 1536},
	{prefix: "gpt-5-nano", factor: 1.5, most: 1536},
	{prefix: "gpt-4.1-mini", factor: 1.62, most: 1536}, {prefix: "gpt-4.1-nano", factor: 2.46, most: 1536},
	{prefix: "o4-mini", factor: 1.72, most: 1536},
}

func gptPicture(model string, w, h int, detail string) int {
	for _, p := range patchy {
		if !strings.HasPrefix(model, p.prefix) {
			continue
		}
		if detail == "" || detail == "auto" {
			detail = p.auto
		}
		most, side := p.most, 2048.0
		switch {
		case detail == "low":
			most, side = 256, 512
		case detail == "original" && p.whole < 0:
			most, side = math.Inf(1), math.Inf(1)
		case detail == "original" && p.whole > 0:
			most, side = p.whole, 6000
		}
		return int(math.Ceil(p.factor*patches(float64(w), float64(h), most, side) - 1e-9))
	}
	base, tile := 70, 140
	switch {
	case strings.HasPrefix(model, "gpt-4o-mini"):
		base, tile = 2833, 5667
	case strings.HasPrefix(model, "gpt-4"):
		base, tile = 85, 170
	case strings.HasPrefix(model, "o"):
		base, tile = 75, 150
	}
	if detail == "low" {
		return base
	}
	a, b := float64(w), float64(h)
	shrink := math.Min(1, 2048/math.Max(a, b))
	shrink = math.Min(shrink, 768/math.Min(a, b))
	return base + tile*cells(a*shrink, 512)*cells(b*shrink, 512)
}

// patches returns how many squares of 32 pixels cover a picture that was made small enough for so many of them.
func patches(w, h, most, side float64) float64 {
	if shrink := side / math.Max(w, h); shrink < 1 {
		w, h = w*shrink, h*shrink
	}
	n := float64(cells(w, 32) * cells(h, 32))
	if n <= most {
		return n
	}
	r := math.Sqrt(32 * 32 * most / (w * h)) // then it fits by area, and then a whole number of times along the side that is cut more
	along, down := w*r/32, h*r/32
	r *= math.Min(math.Floor(along)/along, math.Floor(down)/down)
	return math.Min(most, float64(cells(w*r, 32)*max(1, cells(h*r, 32))))
}

// claudePicture makes a picture smaller pixel by pixel until it fits.
func claudePicture(model string, w, h int) int {
	edge, most := 1568, 1568
	for _, m := range []string{"-4-7", "-4-8", "-5-5", "opus-5", "sonnet-5", "haiku-5", "fable", "mythos"} {
		if strings.Contains(model, m) {
			edge, most = 2576, 4784
		}
	}
	long, short := max(w, h), min(w, h)
	ratio := float64(long) / float64(short)
	for side := long; side > 0; side-- {
		other := short
		if side < long {
			other = max(1, int(math.RoundToEven(float64(side)/ratio)))
		}
		a, b := (side+27)/28, (other+27)/28
		if a*28 <= edge && a*b <= most {
			return a * b
		}
	}
	return 1
}

// mistralPicture counts cells and an end of line for each row of them.
func mistralPicture(w, h, cell, side int) int {
	a, b := float64(w), float64(h)
	if shrink := float64(side) / math.Max(a, b); shrink < 1 {
		a, b = math.Round(a*shrink), math.Round(b*shrink)
	}
	return (cells(a, float64(cell)) + 1) * cells(b, float64(cell))
}
