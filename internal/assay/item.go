package assay

// Item is one row of an input.
type Item struct {
	ID      string
	Fields  map[string]any // string, float64, int64, bool, nil, []any or map[string]any
	Cluster string         // the unit of error bars; the id where the input names none
	Expect  string         // the right answer, where the input knows it
	Place   Place          // position of the row, for messages
	Files   []File         // that requests about it show
}
