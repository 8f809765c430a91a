package wire

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"
)

// buckets holds Cloud Storage: objects that clients uploaded, and those that Vertex jobs have written by now.
type buckets struct {
	mu    sync.Mutex
	files map[string]*backend.File // by bucket and name, but for those that are gone
	jobs  []*backend.Job           // of Vertex, in the order they were made
}

func newBuckets() *buckets { return &buckets{files: map[string]*backend.File{}} }

// object is a thing in a bucket.
type object struct {
	spill.Blob
	bucket, name, mime string
	generation         int64
	made               any
}

func objectOf(f *backend.File) *object {
	return &object{Blob: f.Blob, bucket: f.Account, name: f.ID, mime: f.MIME, generation: f.Generation, made: rfc(f.Made)}
}

// find returns an object; nil: there is none.
func (b *buckets) find(c *backend.Call, bucket, name string) (*object, error) {
	if f := b.stored(bucket, name); f != nil {
		return objectOf(f), nil
	}
	for _, o := range b.written(c, bucket) {
		if o.name == name {
			data, err := o.read(c)
			if err != nil {
				return nil, err
			}
			return &object{Blob: data, bucket: bucket, name: name, mime: "application/octet-stream", generation: 1, made: rfc(o.job.Made)},
				nil
		}
	}
	return nil, nil
}

// stored returns an object that was uploaded; nil: there is none. It never changes.
func (b *buckets) stored(bucket, name string) *backend.File {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.files[bucket+"/"+name]
}

// names lists all objects of a bucket, in no order.
func (b *buckets) names(c *backend.Call, bucket string) []string {
	var names []string
	b.mu.Lock()
	for _, f := range b.files {
		if f.Account == bucket {
			names = append(names, f.ID)
		}
	}
	b.mu.Unlock()
	for _, o := range b.written(c, bucket) {
		names = append(names, o.name)
	}
	return names
}

// keep keeps a finished upload, if the precondition still holds.
func (b *buckets) keep(c *backend.Call, f *backend.File, match string) *rules.Rejection {
	f.Generation = c.Now.UnixMicro() + int64(c.Serial())
	b.mu.Lock()
	defer b.mu.Unlock()
	k := f.Account + "/" + f.ID
	if rej := precondition(b.files[k], match); rej != nil {
		return rej
	}
	b.files[k] = f
	return nil
}

// precondition holds ifGenerationMatch against what is there; 0 wants nothing there.
func precondition(old *backend.File, match string) *rules.Rejection {
	var have int64
	if old != nil {
		have = old.Generation
	}
	if match == "" || match == strconv.FormatInt(have, 10) {
		return nil
	}
	return &rules.Rejection{Status: http.StatusPreconditionFailed, Code: "conditionNotMet",
		Message: "At least one of the pre-conditions you specified did not hold."}
}

// drop removes an object and reports whether it was there.
func (b *buckets) drop(bucket, name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, there := b.files[bucket+"/"+name]
	delete(b.files, bucket+"/"+name)
	return there
}

// written returns all that Vertex jobs have written to a bucket by now.
func (b *buckets) written(c *backend.Call, bucket string) []vertexObject {
	b.mu.Lock()
	jobs := slices.Clone(b.jobs)
	b.mu.Unlock()
	var out []vertexObject
	for _, j := range jobs {
		if j.Extra.(*vertexExtra).bucket == bucket {
			out = append(out, vertexWrote(j, j.At(c.Now))...)
		}
	}
	return out
}

// writes notes a Vertex job: it writes to its bucket.
func (b *buckets) writes(j *backend.Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs = append(b.jobs, j)
}

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
