package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fireDataset is a dataset: uploaded, or written by a job.
type fireDataset struct {
	blob
	id      string
	made    time.Time
	rows    string
	filled  time.Time // when its bytes were there; zero: not yet
	job     *job      // that writes it; nil: uploaded
	pending blob      // bytes at a signed address, before they are validated
}

const (
	fireworksDirect = 150 << 20 // most bytes of an upload in one call
	fireworksSigned = 10 * time.Minute
)

func (d *fireDataset) state(c *call) string {
	switch {
	case d.job != nil && d.job.at(c.now).over(), d.job == nil && !d.filled.IsZero() && !c.now.Before(d.filled.Add(c.s.opts.Queue/4)):
		return "READY"
	}
	return "UPLOADING"
}

// find finds a dataset of the caller's account: a copy, as it is now.
func (f fireworks) find(c *call, id string) *fireDataset {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	d := c.s.datasets[c.account+" "+id]
	if d == nil {
		return nil
	}
	found := *d
	return &found
}

// change changes a dataset, if it is still there.
func (f fireworks) change(c *call, id string, how func(*fireDataset)) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if d := c.s.datasets[c.account+" "+id]; d != nil {
		how(d)
	}
}

// keep registers a dataset, unless its id is taken.
func (f fireworks) keep(c *call, d *fireDataset) bool {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	k := c.account + " " + d.id
	if c.s.datasets[k] != nil {
		return false
	}
	c.s.datasets[k] = d
	return true
}

// named is the dataset that the path names; nil after saying that there is none.
func (f fireworks) named(c *call) *fireDataset {
	d := f.find(c, c.name)
	if d == nil {
		c.fail(notFound("dataset %s not found", c.name))
	}
	return d
}

func (f fireworks) createDataset(c *call) {
	var in struct {
		ID      string `json:"datasetId"`
		Dataset struct {
			UserUploaded *struct{} `json:"userUploaded"`
			Rows         any       `json:"exampleCount"`
		} `json:"dataset"`
	}
	if !c.read(&in) {
		return
	}
	rows, isText := in.Dataset.Rows.(string)
	switch {
	case in.ID == "":
		c.fail(invalid("datasetId", "", "datasetId is required"))
		return
	case !isText || in.Dataset.UserUploaded == nil:
		c.fail(invalid("dataset", "", "dataset.userUploaded and dataset.exampleCount (as a string) are required"))
		return
	}
	d := &fireDataset{id: in.ID, made: c.now, rows: rows}
	if !f.keep(c, d) {
		c.fail(&Rejection{Status: http.StatusConflict, Message: "dataset " + in.ID + " already exists"})
		return
	}
	c.reply(http.StatusOK, f.dataset(c, d))
}

func (f fireworks) dataset(c *call, d *fireDataset) map[string]any {
	return map[string]any{
		"name": "accounts/" + c.r.PathValue("account") + "/datasets/" + d.id, "displayName": "", "createTime": rfc(d.made), "updateTime": rfc(d.made),
		"state": d.state(c), "status": fireworksStatus{Code: "OK"}, "exampleCount": d.rows, "userUploaded": struct{}{}, "format": "CHAT",
	}
}

func (f fireworks) upload(c *call) {
	d := f.named(c)
	if d == nil {
		return
	}
	in, ok := c.receive(fireworksDirect)
	if !ok {
		return
	}
	f.change(c, d.id, func(d *fireDataset) { d.blob, d.filled = in.blob, c.now })
	c.reply(http.StatusOK, map[string]any{"filename": in.name, "message": "uploaded"})
}

// sign makes an address that is good for some minutes and needs no key.
func (f fireworks) sign(c *call, id, name string) string {
	return fmt.Sprintf("%s%s/signed/%s/%s?account=%s&expires=%d&signature=%s", c.self(), c.v.prefix, id, name, c.account, c.now.Add(fireworksSigned).Unix(), hexID(c.request))
}

// signed tells whether an address is still good, and acts for the account that made it.
func (f fireworks) signed(c *call) bool {
	q := c.r.URL.Query()
	at, err := strconv.ParseInt(q.Get("expires"), 10, 64)
	if err != nil || q.Get("signature") == "" || c.now.Unix() > at {
		c.send(http.StatusForbidden, "application/xml", []byte("<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"))
		return false
	}
	c.account = q.Get("account")
	return true
}

func (f fireworks) uploadEndpoint(c *call) {
	d := f.named(c)
	var in struct {
		Sizes map[string]json.Number `json:"filenameToSize"`
	}
	if d == nil || !c.read(&in) {
		return
	}
	urls := map[string]string{}
	for name := range in.Sizes {
		urls[name] = f.sign(c, d.id, name)
	}
	c.reply(http.StatusOK, map[string]any{"filenameToSignedUrls": urls})
}

func (f fireworks) put(c *call) {
	if !f.signed(c) {
		return
	}
	d := f.find(c, c.r.PathValue("id"))
	if d == nil {
		c.send(http.StatusNotFound, "application/xml", nil)
		return
	}
	b, err := c.s.spill.save("upload", c.r.Body, 0)
	if err != nil {
		panic(http.ErrAbortHandler) // the client hung up
	}
	f.change(c, d.id, func(d *fireDataset) { d.pending = b })
	c.send(http.StatusOK, "text/plain", nil)
}

func (f fireworks) validate(c *call) {
	d := f.named(c)
	if d == nil {
		return
	}
	if d.pending.path == "" {
		c.fail(invalid("", "", "nothing was uploaded to dataset %s", d.id))
		return
	}
	f.change(c, d.id, func(d *fireDataset) { d.blob, d.filled = d.pending, c.now })
	c.reply(http.StatusOK, struct{}{})
}

func (f fireworks) showDataset(c *call) {
	if d := f.named(c); d != nil {
		c.reply(http.StatusOK, f.dataset(c, d))
	}
}

func (f fireworks) listDatasets(c *call) {
	c.s.mu.Lock()
	var all []*fireDataset
	for k, d := range c.s.datasets {
		if strings.HasPrefix(k, c.account+" ") {
			found := *d
			all = append(all, &found)
		}
	}
	c.s.mu.Unlock()
	slices.SortFunc(all, func(a, b *fireDataset) int { return strings.Compare(a.id, b.id) })
	part, more := page(all, c.r.URL.Query().Get("pageToken"), c.queryInt("pageSize", 50, 200), func(d *fireDataset) string { return d.id })
	sets := []any{}
	for _, d := range part {
		sets = append(sets, f.dataset(c, d))
	}
	out := map[string]any{"datasets": sets, "nextPageToken": "", "totalSize": len(all)}
	if more {
		out["nextPageToken"] = part[len(part)-1].id
	}
	c.reply(http.StatusOK, out)
}

func (f fireworks) deleteDataset(c *call) {
	d := f.named(c)
	if d == nil {
		return
	}
	c.s.mu.Lock()
	delete(c.s.datasets, c.account+" "+d.id)
	c.s.mu.Unlock()
	c.reply(http.StatusOK, struct{}{})
}

// downloadEndpoint signs addresses of a dataset's files. A GET with a body is refused.
func (f fireworks) downloadEndpoint(c *call) {
	if c.r.ContentLength != 0 && c.r.Body != http.NoBody {
		c.fail(invalid("", "", "GET requests must not have a body"))
		return
	}
	d := f.named(c)
	if d == nil {
		return
	}
	urls := map[string]string{}
	if d.job == nil && d.path != "" {
		urls["dataset/"+d.id+"/data.jsonl"] = f.sign(c, d.id, "data.jsonl")
	}
	if d.job != nil && d.job.at(c.now).over() && d.job.at(c.now).phase != failed {
		for n, name := range []string{"BIJOutputSet.jsonl", "error-data"} {
			if c.hasOutput(d.job, n) {
				urls["dataset/"+d.id+"/"+name] = f.sign(c, fireworksOutput(d.job, n), name)
			}
		}
	}
	c.reply(http.StatusOK, map[string]any{"filenameToSignedUrls": urls})
}

func (f fireworks) download(c *call) {
	if !f.signed(c) {
		return
	}
	if d := f.find(c, c.r.PathValue("id")); d != nil && d.job == nil {
		c.serve(d.blob, "application/octet-stream", withRanges)
		return
	}
	_, b, ok, err := c.output(c.r.PathValue("id"))
	switch {
	case err != nil:
		c.trouble(err)
	case !ok:
		c.send(http.StatusNotFound, "application/xml", nil)
	default:
		c.serve(b, "application/octet-stream", withRanges)
	}
}
