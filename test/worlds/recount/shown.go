package recount

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// shownTable is a table as people see it.
type shownTable struct {
	caption string
	head    []string
	rows    [][]string
}

// shown compares the tables that people see with the claims, table by table in their order.
func (c *checker) shown(where string, tables []shownTable) {
	at := 0
	for i := range c.Claims.Tables {
		t := &c.Claims.Tables[i]
		c.table, c.about = t, where
		next := slices.IndexFunc(tables[at:], func(s shownTable) bool { return s.caption == t.Stage+": "+t.Title })
		if next < 0 && len(t.Findings) == 0 && where != "terminal" {
			continue // a heading and notes
		}
		if next < 0 {
			c.Compared[where+": tables"]++
			c.differ(where+", table", "there", "none")
			continue
		}
		c.Compared[where+": tables"]++
		at += next
		c.shownTable(where, t, tables[at])
		at++
	}
	c.table, c.about = nil, ""
}

// shownAs is what reports and pages, and no terminal, call findings whose names are short, for readers.
var shownAs = map[string]string{
	"excess":              "over the control",
	"regressive excess":   "regressive, over the control",
	"progressive excess":  "progressive, over the control",
	"spread over judges":  "judges differ by",
	"judge delta of lane": "milder than the others on this lane",
	"judge delta":         "milder than the others",
	"judge delta spread":  "uneven over lanes by",
	"own family":          "favours its own maker",
	"favours":             "favours this lane",
	"length effect":       "prefers long answers",
	"repeat noise":        "differs when asked again",
}

func (c *checker) shownTable(where string, t *Table, s shownTable) {
	if len(s.rows) != len(t.Findings) {
		c.Skipped[where+": a table that is cut"]++
		return
	}
	for k := range t.Findings {
		f := &t.Findings[k]
		cell := func(head string) (string, bool) {
			i := slices.Index(s.head, head)
			if i < 0 || i >= len(s.rows[k]) {
				return "", false
			}
			return s.rows[k][i], true
		}
		c.about = where + ": " + f.about()
		what, _ := cell("what")
		want := f.What
		if !strings.HasSuffix(where, "terminal") {
			want = cmp.Or(shownAs[f.What], f.What)
		}
		c.text(where+": name", "name of "+f.What, want, what)
		for field, value := range f.By {
			if text, ok := cell(field); ok && len(value) < 30 && !strings.ContainsAny(value, "\n\t ") {
				c.text(where+": name", field+" of "+f.What, value, text)
			}
		}
		n, clusters := some(float64(f.N)), some(float64(f.Clusters))
		for head, x := range map[string]*float64{"value": f.Value, "se": f.SE, "low": f.Low, "high": f.High, "n": n, "clusters": clusters,
			"covered": f.Coverage.Share, "p": f.P} {
			text, _ := cell(head) // no column: no finding of the table has it
			c.Compared[where+": "+head]++
			if !rounded(text, x) {
				c.differ(f.What+", "+head, shownNumber(x), text)
			}
		}
		if text, ok := cell("rank"); ok && f.Rank != nil {
			c.text(where+": rank", "rank of "+f.What, fmt.Sprintf("%d (%d–%d)", f.Rank.Rank, f.Rank.Best, f.Rank.Worst), text)
		}
	}
}

// board checks what 1,000 answers of a lane cost, and the ranks that its letters leave it, on the leaderboard of a page.
func (c *checker) board(where string, tables []shownTable) {
	i := slices.IndexFunc(tables, func(s shownTable) bool { return s.caption == "Leaderboard" })
	if i < 0 {
		return
	}
	s := tables[i]
	lane, rank := slices.Index(s.head, "lane"), slices.Index(s.head, "rank")
	price := slices.IndexFunc(s.head, func(h string) bool { return strings.HasPrefix(h, "$ per 1,000") })
	for k, row := range s.rows {
		if k >= len(c.Claims.Summary.Ranked) {
			break
		}
		ranked := c.Claims.Summary.Ranked[k]
		c.table, c.about = nil, where+": "+ranked.Name
		if rank >= 0 && ranked.Tier != "" && len(c.Claims.Summary.Ranked) < 40 { // a longer list is cut
			c.text(where+": place", "ranks on the leaderboard", c.ranksBy(k), row[rank])
		}
		if lane < 0 || price < 0 {
			continue
		}
		c.Compared[where+": price"]++
		if per := c.perThousand(ranked.Name); !rounded(strings.TrimPrefix(row[price], "$"), per) {
			c.differ("cost of 1,000 answers on the leaderboard", shownNumber(per), row[price])
		}
	}
}

// ranksBy returns the ranks that the letters leave the k-th lane: behind those before it, and before those behind it, with which it shares
// none.
func (c *checker) ranksBy(k int) string {
	all := c.Claims.Summary.Ranked
	best, worst := 1, 0
	for i, other := range all {
		apart := !strings.ContainsAny(other.Tier, all[k].Tier)
		switch {
		case other.Tier == "": // it has no value
			continue
		case i < k && apart:
			best++
		case i > k && apart:
			worst--
		}
		worst++
	}
	if best == worst {
		return fmt.Sprint(best)
	}
	return fmt.Sprintf("%d–%d", best, worst)
}

// perThousand returns what 1,000 answers of a lane cost in all stages that ask; nil: that is not known.
func (c *checker) perThousand(lane string) *float64 {
	judging := map[string]bool{}
	for _, a := range c.Answers {
		judging[a.Stage] = a.Verb == "judge" || a.Verb == "compare"
	}
	cost, answers := 0.0, 0
	for _, x := range c.Claims.Costs {
		if x.Lane != lane || judging[x.Stage] {
			continue
		}
		if x.Cost == nil {
			return nil
		}
		cost, answers = cost+*x.Cost, answers+x.Answers
	}
	if answers == 0 {
		return nil
	}
	return some(1000 * cost / float64(answers))
}

var (
	drawing = regexp.MustCompile(`(?s)<svg.*?</svg>`)
	tag     = regexp.MustCompile(`<[^>]*>`)
	tableAt = regexp.MustCompile(`(?s)<table.*?</table>`)
	title   = regexp.MustCompile(`(?s)<caption[^>]*>(.*?)</caption>`)
	line    = regexp.MustCompile(`<tr(?: [^>]*)?>`)
	cellAt  = regexp.MustCompile(`<t[dh](?: [^>]*)?>`)
	wide    = regexp.MustCompile(`colspan="?(\d{1,3})`)
)

// htmlTables returns the tables of a page.
func htmlTables(page string) (out []shownTable) {
	words := func(s string) string {
		return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(strings.ReplaceAll(s, "</bdi>", " "), " "))), " ")
	}
	for _, text := range tableAt.FindAllString(drawing.ReplaceAllString(page, ""), -1) {
		var s shownTable
		if m := title.FindStringSubmatch(text); m != nil {
			s.caption = words(m[1])
		}
		for k, row := range line.Split(text, -1)[1:] { // neither rows nor cells need an end
			var cells []string
			starts := cellAt.FindAllString(row, -1)
			for i, cell := range cellAt.Split(row, -1)[1:] {
				cells = append(cells, words(cell))
				if m := wide.FindStringSubmatch(starts[i]); m != nil {
					n, _ := strconv.Atoi(m[1])                            // digits
					cells = append(cells, make([]string, max(0, n-1))...) // the columns that it spans
				}
			}
			if k == 0 {
				s.head = cells
			} else {
				s.rows = append(s.rows, cells)
			}
		}
		out = append(out, s)
	}
	return out
}

// terminalTables returns the tables that a terminal shows, each as long as it is claimed to be.
func terminalTables(claims *Claims, text string) (out []shownTable) {
	lines := strings.Split(text, "\n")
	at := 0
	for _, t := range claims.Tables {
		name := t.Stage + ": " + t.Title
		for at < len(lines) && strings.TrimSuffix(strings.TrimPrefix(lines[at], "REHEARSAL: "), " INCOMPLETE") != name {
			at++
		}
		from := at + 2 // a line with the coverage stands between
		if from+1+len(t.Findings) > len(lines) {
			return out
		}
		out = append(out, columns(name, lines[from:from+1+len(t.Findings)]))
		at = from
	}
	return out
}

// columns cuts lines where all of them have two spaces.
func columns(name string, lines []string) shownTable {
	width := 0
	cut := make([][]rune, len(lines))
	for i, l := range lines {
		cut[i] = []rune(l)
		width = max(width, len(cut[i]))
	}
	blank := func(at int) bool {
		return !slices.ContainsFunc(cut, func(l []rune) bool { return at < len(l) && l[at] != ' ' })
	}
	s := shownTable{caption: name}
	rows := make([][]string, len(lines))
	for from := 0; from < width; {
		to := from
		for to < width && !(blank(to) && blank(to+1)) {
			to++
		}
		for i, l := range cut {
			rows[i] = append(rows[i], strings.TrimSpace(string(l[min(from, len(l)):min(to, len(l))])))
		}
		for from = to; from < width && blank(from); from++ {
			continue
		}
	}
	for _, head := range rows[0] {
		s.head = append(s.head, strings.ToLower(head))
	}
	s.rows = rows[1:]
	return s
}
