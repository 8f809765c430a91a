package judge

// Flags reports whether a score lies on the bad side of the rubric: at its middle, or nearer to the bad end. People look
// at flagged answers first. A rubric without scores on both ends flags nothing.
func (r Rubric) Flags(score *float64) bool {
	low, high := r.Range.Low, r.Range.High
	for _, l := range r.Labels {
		if l.Score == nil || l.Abstain {
			continue
		}
		if low == nil || *l.Score < *low {
			low = l.Score
		}
		if high == nil || *l.Score > *high {
			high = l.Score
		}
	}
	if score == nil || low == nil || high == nil || *low >= *high {
		return false
	}
	middle := (*low + *high) / 2
	if r.Worse == High {
		return *score >= middle
	}
	return *score <= middle
}
