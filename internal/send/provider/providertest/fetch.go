package providertest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/simulator"
)

var errCalledOff = errors.New("called off")

func cutFetch(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{}, "fetch truncate=60% once")
	c := w.input(questions(200)...)
	job := w.launch(c)
	st := w.settle(job)
	if len(st.Parts) == 0 {
		t.Fatalf("no parts in %+v", st)
	}
	into := &memory{}
	err := w.batch.Fetch(context.Background(), job, st.Parts[0], into)
	if err == nil { // the results of this provider come with the job: the rule struck nothing
		diff(t, 200, strings.Count(into.String(), "\n"))
		return
	}
	diff(t, assay.FaultBusy, w.class(err))
	if err := w.batch.Fetch(context.Background(), job, st.Parts[0], into); err != nil {
		t.Fatal(err)
	}
	whole := &memory{}
	if err := w.batch.Fetch(context.Background(), job, st.Parts[0], whole); err != nil {
		t.Fatal(err)
	}
	if whole.String() != into.String() || len(into.String()) == 0 {
		t.Errorf("the second try has %d bytes, a whole one %d", len(into.String()), len(whole.String()))
	}
}

// memory is a sink that keeps what a cut fetch left.
type memory struct {
	strings.Builder
	validator string
	onWrite   func()
}

func (m *memory) Held() (int64, string) { return int64(m.Len()), m.validator }

func (m *memory) Begin(offset int64, validator string) error {
	kept := m.String()[:offset]
	m.Reset()
	m.validator = validator
	_, err := m.WriteString(kept)
	return err
}

func (m *memory) Write(p []byte) (int, error) {
	if m.onWrite != nil {
		m.onWrite()
	}
	return m.Builder.Write(p)
}

func cancelledFetch(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{}, "fetch stall")
	c := w.input(questions(300)...)
	job := w.launch(c)
	st := w.settle(job)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	timer := time.AfterFunc(20*time.Second, func() { cancel(errors.New("the test hangs")) })
	defer timer.Stop()
	into := &memory{onWrite: func() { cancel(errCalledOff) }}
	err := w.batch.Fetch(ctx, job, st.Parts[0], into)
	if err == nil && into.Len() > 0 {
		return // all of it came in one piece
	}
	if !errors.Is(err, errCalledOff) {
		t.Errorf("error %v", err)
	}
	w.clean(err)
}
