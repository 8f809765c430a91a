package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"
)

// fireDataset is a dataset: uploaded, or written by a job.
type fireDataset struct {
	spill.Blob
	id      string
	made    time.Time
	rows    string
	filled  time.Time    // when its bytes were there; zero: not yet
	job     *backend.Job // that writes it; nil: uploaded
	pending spill.Blob   // bytes at a signed address, before they are validated
}

const (
	fireworksDirect = 150 << 20 // most bytes of an upload in one call
	fireworksSigned = 10 * time.Minute
)

func (d *fireDataset) state(c *backend.Call) string {
	switch {
	case d.job != nil && d.job.At(c.Now).Over(), d.job == nil && !d.filled.IsZero() && !c.Now.Before(d.filled.Add(c.Processing())):
		return "READY"
	}
	return "UPLOADING"
}

// fireShelf is all datasets, by account and id.
type fireShelf struct {
	mu   sync.Mutex
	sets map[string]*fireDataset
}

// find finds a dataset of an account: a copy, as it is now.
func (s *fireShelf) find(account, id string) *fireDataset {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.sets[account+" "+id]
	if d == nil {
		return nil
	}
	return new(*d)
}

// change changes a dataset, if it is still there.
func (s *fireShelf) change(account, id string, how func(*fireDataset)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.sets[account+" "+id]; d != nil {
		how(d)
	}
}

// keep registers a dataset, unless its id is taken.
func (s *fireShelf) keep(account string, d *fireDataset) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := account + " " + d.id
	if s.sets[k] != nil {
		return false
	}
	s.sets[k] = d
	return true
}

func (s *fireShelf) drop(account, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sets, account+" "+id)
}

// of lists the datasets of an account by id: copies, as they are now.
func (s *fireShelf) of(account string) []*fireDataset {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*fireDataset
	for k, d := range s.sets {
		if strings.HasPrefix(k, account+" ") {
			found := *d
			all = append(all, &found)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].id < all[j].id })
	return all
}

// named returns the dataset that the path names; nil after saying that there is none.
func (f fireworks) named(c *backend.Call) *fireDataset {
	d := f.shelf.find(c.Account, c.Name)
	if d == nil {
		c.Fail(rules.NotFound("dataset %s not found", c.Name))
	}
	return d
}

func (f fireworks) createDataset(c *backend.Call) {
	var in struct {
		ID      string `json:"datasetId"`
		Dataset struct {
			UserUploaded *struct{} `json:"userUploaded"`
			Rows         any       `json:"exampleCount"`
		} `json:"dataset"`
	}
	if !c.Read(&in) {
		return
	}
	rows, isText := in.Dataset.Rows.(string)
	switch {
	case in.ID == "":
		c.Fail(rules.Invalid("datasetId", "", "datasetId is required"))
		return
	case !isText || in.Dataset.UserUploaded == nil:
		c.Fail(rules.Invalid("dataset", "", "dataset.userUploaded and dataset.exampleCount (as a string) are required"))
		return
	}
	d := &fireDataset{id: in.ID, made: c.Now, rows: rows}
	if !f.shelf.keep(c.Account, d) {
		c.Fail(&rules.Rejection{Status: http.StatusConflict, Message: "dataset " + in.ID + " already exists"})
		return
	}
	c.Reply(http.StatusOK, f.dataset(c, d))
}

func (f fireworks) dataset(c *backend.Call, d *fireDataset) map[string]any {
	return map[string]any{
		"name": "accounts/" + c.Request.PathValue("account") + "/datasets/" + d.id, "displayName": "", "createTime": rfc(d.made),
		"updateTime": rfc(d.made), "state": d.state(c), "status": fireworksStatus{Code: "OK"}, "exampleCount": d.rows,
		"userUploaded": struct{}{}, "format": "CHAT",
	}
}

func (f fireworks) upload(c *backend.Call) {
	d := f.named(c)
	if d == nil {
		return
	}
	in, ok := c.Receive(fireworksDirect)
	if !ok {
		return
	}
	f.shelf.change(c.Account, d.id, func(d *fireDataset) { d.Blob, d.filled = in.Blob, c.Now })
	c.Reply(http.StatusOK, map[string]any{"filename": in.Name, "message": "uploaded"})
}

// sign makes an address that is good for some minutes and needs no key.
func (f fireworks) sign(c *backend.Call, id, name string) string {
	return fmt.Sprintf("%s%s/signed/%s/%s?account=%s&expires=%d&signature=%s", c.Origin(), c.Vendor.Prefix, id, name, c.Account,
		c.Now.Add(fireworksSigned).Unix(), dice.Hex(c.Number))
}

// signed reports whether an address is still good, and acts for the account that made it.
func (f fireworks) signed(c *backend.Call) bool {
	q := c.Request.URL.Query()
	at, err := strconv.ParseInt(q.Get("expires"), 10, 64)
	if err != nil || q.Get("signature") == "" || c.Now.Unix() > at {
		c.Send(http.StatusForbidden, "application/xml",
			[]byte("<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"))
		return false
	}
	c.Account = q.Get("account")
	return true
}

func (f fireworks) uploadEndpoint(c *backend.Call) {
	d := f.named(c)
	var in struct {
		Sizes map[string]json.Number `json:"filenameToSize"`
	}
	if d == nil || !c.Read(&in) {
		return
	}
	urls := map[string]string{}
	for name := range in.Sizes {
		urls[name] = f.sign(c, d.id, name)
	}
	c.Reply(http.StatusOK, map[string]any{"filenameToSignedUrls": urls})
}

func (f fireworks) put(c *backend.Call) {
	if !f.signed(c) {
		return
	}
	d := f.shelf.find(c.Account, c.Request.PathValue("id"))
	if d == nil {
		c.Send(http.StatusNotFound, "application/xml", nil)
		return
	}
	b, err := c.Disk().Save("upload", c.Request.Body, 0)
	if err != nil {
		panic(http.ErrAbortHandler) // the client hung up
	}
	f.shelf.change(c.Account, d.id, func(d *fireDataset) { d.pending = b })
	c.Send(http.StatusOK, "text/plain", nil)
}

func (f fireworks) validate(c *backend.Call) {
	d := f.named(c)
	if d == nil {
		return
	}
	if d.pending.Path == "" {
		c.Fail(rules.Invalid("", "", "nothing was uploaded to dataset %s", d.id))
		return
	}
	f.shelf.change(c.Account, d.id, func(d *fireDataset) { d.Blob, d.filled = d.pending, c.Now })
	c.Reply(http.StatusOK, struct{}{})
}

func (f fireworks) showDataset(c *backend.Call) {
	if d := f.named(c); d != nil {
		c.Reply(http.StatusOK, f.dataset(c, d))
	}
}

func (f fireworks) listDatasets(c *backend.Call) {
	all := f.shelf.of(c.Account)
	part, more := backend.Page(all, c.Request.URL.Query().Get("pageToken"), c.QueryInt("pageSize", 50, 200), func(d *fireDataset) string {
		return d.id
	})
	sets := []any{}
	for _, d := range part {
		sets = append(sets, f.dataset(c, d))
	}
	out := map[string]any{"datasets": sets, "nextPageToken": "", "totalSize": len(all)}
	if more {
		out["nextPageToken"] = part[len(part)-1].id
	}
	c.Reply(http.StatusOK, out)
}

func (f fireworks) deleteDataset(c *backend.Call) {
	d := f.named(c)
	if d == nil {
		return
	}
	f.shelf.drop(c.Account, d.id)
	c.Reply(http.StatusOK, struct{}{})
}

// downloadEndpoint signs addresses of a dataset's files. A GET with a body is refused.
func (f fireworks) downloadEndpoint(c *backend.Call) {
	if c.Request.ContentLength != 0 && c.Request.Body != http.NoBody {
		c.Fail(rules.Invalid("", "", "GET requests must not have a body"))
		return
	}
	d := f.named(c)
	if d == nil {
		return
	}
	urls := map[string]string{}
	if d.job == nil && d.Path != "" {
		urls["dataset/"+d.id+"/data.jsonl"] = f.sign(c, d.id, "data.jsonl")
	}
	if d.job != nil && d.job.At(c.Now).Over() && d.job.At(c.Now).Phase != backend.Failed {
		for n, name := range []string{"BIJOutputSet.jsonl", "error-data"} {
			if c.HasOutput(d.job, n) {
				urls["dataset/"+d.id+"/"+name] = f.sign(c, fireworksOutput(d.job, n), name)
			}
		}
	}
	c.Reply(http.StatusOK, map[string]any{"filenameToSignedUrls": urls})
}

func (f fireworks) download(c *backend.Call) {
	if !f.signed(c) {
		return
	}
	if d := f.shelf.find(c.Account, c.Request.PathValue("id")); d != nil && d.job == nil {
		c.Serve(d.Blob, "application/octet-stream", backend.WithRanges)
		return
	}
	_, b, ok, err := c.Output(c.Request.PathValue("id"))
	switch {
	case err != nil:
		c.Trouble(err)
	case !ok:
		c.Send(http.StatusNotFound, "application/xml", nil)
	default:
		c.Serve(b, "application/octet-stream", backend.WithRanges)
	}
}
