package drive

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
)

// OutputID returns the id of a run's results; a run that was opened again has another.
func OutputID(run store.Run) string { return resultID(run, "output") }

// ErrorsID returns the id of a run's errors.
func ErrorsID(run store.Run) string { return resultID(run, "errors") }

func resultID(run store.Run, what string) string {
	return "file-" + run.ID + "-" + what + "-" + strconv.FormatInt(run.Closed.UnixMilli(), 36)
}

// finish writes the results of a closed run, once: they are the same whichever gateway writes them.
func (s *Driver) finish(ctx context.Context, run store.Run) error {
	b, _ := batchrun.Of(run)
	if len(b.Client.Broken) > 0 {
		return nil
	}
	files, err := s.Home.Ledger.Clients.ClientFilesOf(ctx, run.No)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.ID == OutputID(run) || f.ID == ErrorsID(run) {
			return nil
		}
	}
	return s.write(ctx, run)
}

func (s *Driver) write(ctx context.Context, run store.Run) error {
	output, err := artifacts.Create(ctx, s.Home.Files, run.ID, OutputID(run)+".jsonl")
	if err != nil {
		return err
	}
	failures, err := artifacts.Create(ctx, s.Home.Files, run.ID, ErrorsID(run)+".jsonl")
	if err != nil {
		return errors.Join(err, output.Discard())
	}
	unsent, err := s.unsent(ctx, run)
	if err == nil {
		_, err = s.Home.Batches().Collect(ctx, run, batchrun.Output{Format: batchrun.FormatClient, Results: output, Errors: failures,
			Unsent: unsent})
	}
	if err != nil {
		return errors.Join(err, output.Discard(), failures.Discard())
	}
	var files []store.ClientFile
	for _, f := range []struct {
		id, ending string
		sink       artifacts.Sink
	}{{OutputID(run), "_output.jsonl", output}, {ErrorsID(run), "_error.jsonl", failures}} {
		size := f.sink.Size()
		if size == 0 {
			err = errors.Join(err, f.sink.Discard())
			continue
		}
		_, whole := f.sink.Commit()
		err = errors.Join(err, whole)
		files = append(files, store.ClientFile{ID: f.id, Owner: run.By, Name: Prefix + run.ID + f.ending, Purpose: PurposeOutput,
			Run: run.No, Bytes: size})
	}
	if err != nil {
		return err
	}
	return s.Home.Ledger.Clients.PutClientFiles(ctx, files...)
}

// unsent returns why requests of a closed run were never sent.
func (s *Driver) unsent(ctx context.Context, run store.Run) (batchrun.End, error) {
	stops, err := s.Home.Ledger.Reader.OrdersOf(ctx, run.No, store.OrderCancel)
	if len(stops) > 0 && stops[0].By == ByBudget {
		return batchrun.End{Code: "insufficient_quota", Message: "This request was not executed: the budget was spent."}, err
	}
	if len(stops) > 0 && stops[0].By == ByWindow {
		var e expired
		_ = json.Unmarshal([]byte(stops[0].Args), &e) // it was written here
		return batchrun.End{Code: "batch_expired", Message: "This request could not be executed before the completion window expired (" +
			e.Why + ")."}, err
	}
	return batchrun.End{Code: "batch_cancelled", Message: "This request was cancelled before it was executed."}, err
}
