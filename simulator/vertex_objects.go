package simulator

import (
	"fmt"
	"strings"
)

// vertexObject is something a Vertex job has written to a bucket.
type vertexObject struct {
	job  *job
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

// vertexObjects are all that jobs have written to a bucket by now.
func (c *call) vertexObjects(bucket string) []vertexObject {
	c.s.mu.Lock()
	var jobs []*job
	for _, j := range c.s.jobs {
		if x, ok := j.extra.(*vertexExtra); ok && x.bucket == bucket {
			jobs = append(jobs, j)
		}
	}
	c.s.mu.Unlock()
	var out []vertexObject
	for _, j := range jobs {
		out = append(out, vertexWrote(j, j.at(c.now))...)
	}
	return out
}

func vertexWrote(j *job, p progress) []vertexObject {
	if p.done == 0 {
		return nil
	}
	x := j.extra.(*vertexExtra)
	out := []vertexObject{{job: j, name: x.dir + "incremental_predictions.jsonl", kind: vertexIncremental}}
	if !p.over() {
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

func (o vertexObject) read(c *call) (blob, error) {
	switch o.kind {
	case vertexRowCount:
		text := fmt.Sprintf(`{"rowCount":%d}`+"\n", o.job.at(c.now).done)
		return c.s.spill.save("rows", strings.NewReader(text), 0)
	case vertexShard:
		b, err := c.results(o.job, o.file)
		if err == nil && b.path == "" {
			return c.s.spill.save("empty", strings.NewReader(""), 0)
		}
		return b, err
	}
	x := o.job.extra.(*vertexExtra)
	var parts []blob
	for n := range x.shards {
		b, err := c.results(o.job, n)
		if err != nil {
			return blob{}, err
		}
		if b.path != "" {
			parts = append(parts, b)
		}
	}
	return c.s.spill.join(parts)
}
