package words

// Join is how a bracket runs through a row: brackets join what cannot be told apart.
type Join string

// The parts of a bracket.
const (
	JoinNone  Join = ""
	JoinFirst Join = "first"
	JoinIn    Join = "in"
	JoinGap   Join = "gap" // between rows that it joins, and not about this one
	JoinLast  Join = "last"
)

// maxBrackets is how many brackets stand side by side; more would not be read, and ranks tell the same.
const maxBrackets = 8

// brackets returns for each place in order how brackets run through its row, side by side; nil: there are none, or too many.
func (r *ranked) brackets() [][]Join {
	groups := map[int][]int{}
	last := -1
	for k, own := range r.tiers {
		for _, g := range own {
			groups[g] = append(groups[g], k)
			last = max(last, g)
		}
	}
	out := make([][]Join, len(r.tiers))
	var ends []int // of the columns
	for g := 0; g <= last; g++ {
		rows := groups[g]
		if len(rows) < 2 {
			continue
		}
		column := 0
		for column < len(ends) && ends[column]+1 >= rows[0] { // a row lies between two brackets of a column
			column++
		}
		if column == maxBrackets {
			return nil
		}
		if column == len(ends) {
			ends = append(ends, 0)
			for k := range out {
				out[k] = append(out[k], JoinNone)
			}
		}
		ends[column] = rows[len(rows)-1]
		for k := rows[0]; k <= rows[len(rows)-1]; k++ {
			out[k][column] = JoinGap
		}
		for _, k := range rows {
			out[k][column] = JoinIn
		}
		out[rows[0]][column], out[rows[len(rows)-1]][column] = JoinFirst, JoinLast
	}
	return out
}
