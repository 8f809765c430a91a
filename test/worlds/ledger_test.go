package worlds

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
)

// rows reads the ledger with plain SQL, past all code of the program.
func (h *history) rows(ctx context.Context, query string, scan func(*sql.Rows) error) error {
	db, err := h.m.links.open("file:" + filepath.Join(h.home(), "ledger.db") + "?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// checkRaw holds the raw bytes of every answer against the checksum and the text that the ledger has of it.
func (h *history) checkRaw(ctx context.Context, _ []runState, _ bill) error {
	files, err := artifacts.Open(filepath.Join(h.home(), "runs"))
	if err != nil {
		return err
	}
	defer files.Close()
	return h.rows(ctx, `SELECT r.id, a.name, o.line_offset, o.line_length, COALESCE(o.line_sum, 0), COALESCE(o.text, '')
		FROM outcomes o JOIN artifacts a ON a.no = o.artifact_no JOIN runs r ON r.no = a.run_no`, func(row *sql.Rows) error {
		var run, name, text string
		var offset, length int64
		var sum uint32
		if err := row.Scan(&run, &name, &offset, &length, &sum, &text); err != nil {
			return err
		}
		if h.damaged[run+"/"+name] != "" {
			return nil
		}
		raw := make([]byte, length)
		err := readAt(ctx, files, run, name, offset, raw)
		if errors.Is(err, io.EOF) && text != "" && h.m.outages > 0 && strings.Contains(name, "-live-") {
			return nil // the power may take the end of a log where the ledger has the text
		}
		if err == nil && artifacts.Sum(raw) != sum {
			err = fmt.Errorf("their checksum is %d", artifacts.Sum(raw))
		}
		if err == nil && !strings.Contains(string(raw), beginning(text)) {
			err = errors.New("they do not hold it")
		}
		if err != nil {
			return breaks(L5, "", fmt.Sprintf("the %d bytes at %d of %s/%s are those of %q, with checksum %d", length, offset, run, name,
				text, sum), "%s", err)
		}
		return nil
	})
}

func readAt(ctx context.Context, files *artifacts.Folder, run, name string, offset int64, into []byte) error {
	f, err := files.Open(ctx, run, name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.ReadAt(into, offset)
	return err
}

// beginning returns the first words of a text, which every wire spells the same.
func beginning(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && r != ' ' })
	if end < 0 {
		return text
	}
	return text[:end]
}

// sentKey names a request as a segment sent it.
type sentKey struct {
	run int64
	key string
}

// checkPaidOnce counts how often each request was billed in a batch, against what the program reports of its run: once, once more for
// every time that it ended without an answer, and for what is reported as paid twice or in doubt.
func (h *history) checkPaidOnce(ctx context.Context, all []runState, b bill) error {
	segments := map[string]int64{}
	err := h.rows(ctx, `SELECT nonce, run_no FROM segments`, func(row *sql.Rows) error {
		var nonce string
		var run int64
		err := row.Scan(&nonce, &run)
		segments[nonce] = run
		return err
	})
	if err != nil {
		return err
	}
	billed := map[sentKey]int64{}
	for _, charges := range b.batch {
		for _, c := range charges {
			nonce, key, err := assay.ParseCustomID(c.ID)
			if err != nil {
				return err
			}
			run, known := segments[string(nonce)]
			if !known && !h.back {
				return breaks(L1, h.statuses(ctx, all), "every billed request is one of the ledger's", "%s of job %s is not", c.ID, c.Job)
			}
			billed[sentKey{run, string(key[:])}]++
		}
	}
	ended, err := h.unanswered(ctx)
	if err != nil {
		return err
	}
	extra := map[int64]int64{}
	for at, n := range billed {
		extra[at.run] += max(0, n-1-ended[at])
	}
	for _, r := range all {
		allowed := r.Doubts
		for _, l := range r.Lanes {
			allowed += l.Surplus
		}
		no, err := h.number(ctx, r.Run)
		if err != nil {
			return err
		}
		if extra[no] > allowed && r.State != "cancelled" && len(r.Doubles) == 0 {
			return breaks(L1, h.statuses(ctx, all), "what is billed twice is reported so",
				"%d answers in batches of run %s were billed again, %d are reported", extra[no], r.Run, allowed)
		}
	}
	return h.checkOneStands(ctx, all)
}

// checkOneStands looks for requests with two answers that count.
func (h *history) checkOneStands(ctx context.Context, all []runState) error {
	return h.rows(ctx, `SELECT r.id, COUNT(*) FROM outcomes o JOIN runs r ON r.no = o.run_no WHERE o.stands = 1 GROUP BY r.id, o.key
		HAVING COUNT(*) > 1`, func(row *sql.Rows) error {
		var run string
		var n int64
		if err := row.Scan(&run, &n); err != nil {
			return err
		}
		return breaks(L1, h.statuses(ctx, all), "one answer of a request counts", "of a request of run %s, %d do", run, n)
	})
}

// unanswered counts the attempts that ended without an answer.
func (h *history) unanswered(ctx context.Context) (map[sentKey]int64, error) {
	ended := map[sentKey]int64{}
	err := h.rows(ctx, `SELECT run_no, key FROM outcomes WHERE stands = 0 AND surplus = 0 AND reused_no IS NULL`,
		func(row *sql.Rows) error {
			var at sentKey
			var key []byte
			err := row.Scan(&at.run, &key)
			at.key = string(key)
			ended[at]++
			return err
		})
	return ended, err
}

// number returns the number of a run in the ledger.
func (h *history) number(ctx context.Context, run string) (no int64, err error) {
	err = h.rows(ctx, `SELECT id, no FROM runs`, func(row *sql.Rows) error {
		var id string
		var n int64
		err := row.Scan(&id, &n)
		if id == run {
			no = n
		}
		return err
	})
	return no, err
}

// checkReuse looks for requests that a run paid for although an earlier run of the study had their answer when it began.
func (h *history) checkReuse(ctx context.Context, all []runState, _ bill) error {
	if slices.ContainsFunc(h.Actions, func(a Action) bool { return a.Do == doClock }) {
		return nil // by which clock it had
	}
	return h.rows(ctx, `SELECT r.id, old.id, b.item, b.lane FROM outcomes o JOIN attempts b ON b.segment_no = o.segment_no AND b.ord = o.ord
		JOIN runs r ON r.no = o.run_no JOIN attempts a ON a.key = b.key AND a.digest = b.digest AND a.run_no < b.run_no
		JOIN outcomes u ON u.segment_no = a.segment_no AND u.ord = a.ord JOIN runs old ON old.no = a.run_no
		WHERE o.stands = 1 AND o.reused_no IS NULL AND u.stands = 1 AND u.ending = 'answered' AND u.reused_no IS NULL
		AND u.at_ms < r.created_ms AND b.try = 1 AND r.study <> 'gateway'`, func(row *sql.Rows) error {
		var run, old, item, lane string
		if err := row.Scan(&run, &old, &item, &lane); err != nil {
			return err
		}
		return breaks(L7, h.statuses(ctx, all), "an answer of an earlier run is taken over",
			"run %s paid again for item %s of lane %s, which run %s had answered", run, item, lane, old)
	})
}
