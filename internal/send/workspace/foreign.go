package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/send/provider"
	"assay/internal/study/catalog"
)

// foreignAnswer is one result of a job that is not ours.
type foreignAnswer struct {
	CustomID string          `json:"custom_id"`
	Ending   assay.Ending    `json:"ending"`
	Text     string          `json:"text"`
	Thoughts string          `json:"thoughts,omitempty"`
	Finish   string          `json:"finish,omitempty"`
	Model    string          `json:"model,omitempty"`
	Input    *int64          `json:"input_tokens"` // null: unknown
	Output   *int64          `json:"output_tokens"`
	Fault    json.RawMessage `json:"fault,omitempty"`
}

// ErrAtWork is the error for a job that has not ended: its answers cannot be written yet.
var ErrAtWork = errors.New("the job is still at work")

// ForeignFile returns the name of the file for the answers of a job that is not ours.
func (a *Adoption) ForeignFile(job string) string {
	return a.Provider + "-" + artifacts.Name(job) + ".jsonl"
}

// WriteForeign writes the answers of a job that is not ours, one JSON object per line, and counts them. Open opens what they are
// written to, once there is something to write; a job that is still at work is ErrAtWork.
func (a *Adoption) WriteForeign(ctx context.Context, st provider.Status, open func() (io.Writer, error)) (lines int64, err error) {
	vendor, _ := catalog.Default().Kind(a.Provider, "", "")
	job := provider.Job{ID: st.Job, Model: st.Model, Count: int(st.Counts.Total)}
	now, err := a.Access.Batch.Check(ctx, job)
	if err != nil {
		return 0, fmt.Errorf("look at job %s: %w", st.Job, err)
	}
	if !now.State.Terminal() {
		return 0, ErrAtWork
	}
	out, err := open()
	if err != nil {
		return 0, err
	}
	for _, part := range now.Parts {
		n, err := a.copyForeign(ctx, vendor, job, part, out)
		if err != nil {
			return 0, fmt.Errorf("write the answers of job %s: %w", st.Job, err)
		}
		lines += n
	}
	return lines, nil
}

// copyForeign writes the answers of one part of a job.
func (a *Adoption) copyForeign(ctx context.Context, vendor string, job provider.Job, part provider.Part,
	out io.Writer) (lines int64, err error) {
	file, err := os.CreateTemp("", "assay-adopt-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := a.Access.Batch.Fetch(ctx, job, part, provider.Fresh(file)); err != nil {
		return 0, err
	}
	if job.Wire, err = foreignWire(vendor, job, file); err != nil {
		return 0, err
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for line, err := range a.Access.Batch.Decode(job, part, file) {
		if err != nil {
			return lines, err
		}
		lines++
		if err := enc.Encode(foreignDocument(line)); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// foreignWire returns how the answers in a file are read: OpenAI's newer API names its objects.
func foreignWire(vendor string, job provider.Job, file io.ReadSeeker) (assay.Wire, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil { // it was just written
		return assay.Wire{}, err
	}
	head := make([]byte, 4096)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return assay.Wire{}, err
	}
	lane := assay.Lane{Provider: vendor, Model: job.Model, API: "chat"}
	if text := strings.ReplaceAll(string(head[:n]), " ", ""); strings.Contains(text, `"object":"response"`) {
		lane.API = "responses"
	}
	_, err = file.Seek(0, io.SeekStart)
	return catalog.Default().Wire(lane, vendor, assay.ModeBatch), err
}

func foreignDocument(line provider.Line) foreignAnswer {
	o := line.Outcome
	d := foreignAnswer{CustomID: line.CustomID, Ending: o.Ending, Text: o.Text, Thoughts: o.Thoughts, Finish: o.Finish, Model: o.Model}
	if o.Usage.Known {
		d.Input, d.Output = &o.Usage.Input, &o.Usage.Output
	}
	if o.Fault != nil {
		d.Fault, _ = json.Marshal(o.Fault.Error()) // a text
	}
	return d
}
