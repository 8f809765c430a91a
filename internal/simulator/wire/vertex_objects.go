package wire

import (
	"fmt"
	"strings"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/spill"
)

// vertexObject is something a Vertex job has written to a bucket.
type vertexObject struct {
	job  *backend.Job
	name string
	kind vertexWritten
	file int // of the job's results, for a shard
}

type vertexWritten int

const (
	vertexShard       vertexWritten = iota
	vertexIncremental               // what is finished, written during the run; it stays when the run is over
	vertexRowCount
)

func vertexWrote(j *backend.Job, p backend.Progress) []vertexObject {
	if p.Done == 0 {
		return nil
	}
	x := j.Extra.(*vertexExtra)
	out := []vertexObject{{job: j, name: x.dir + "incremental_predictions.jsonl", kind: vertexIncremental}}
	if !p.Over() {
		return out
	}
	out = append(out, vertexObject{job: j, name: x.dir + "row_count.json", kind: vertexRowCount})
	for n := range x.shards {
		name := "predictions.jsonl"
		if x.shards > 1 {
			name = fmt.Sprintf("predictions.jsonl-%05d-of-%05d", n, x.shards)
		}
		out = append(out, vertexObject{job: j, name: x.dir + name, kind: vertexShard, file: n})
	}
	return out
}

func (o vertexObject) read(c *backend.Call) (spill.Blob, error) {
	switch o.kind {
	case vertexRowCount:
		text := fmt.Sprintf(`{"rowCount":%d}`+"\n", o.job.At(c.Now).Done)
		return c.Disk().Save("rows", strings.NewReader(text), 0)
	case vertexShard:
		b, err := c.Results(o.job, o.file)
		if err == nil && b.Path == "" {
			return c.Disk().Save("empty", strings.NewReader(""), 0)
		}
		return b, err
	}
	x := o.job.Extra.(*vertexExtra)
	var parts []spill.Blob
	for n := range x.shards {
		b, err := c.Results(o.job, n)
		if err != nil {
			return spill.Blob{}, err
		}
		if b.Path != "" {
			parts = append(parts, b)
		}
	}
	return c.Disk().Join(parts)
}
