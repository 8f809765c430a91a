package sending

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Uploads keeps which files that requests show are at which provider. It is safe for concurrent use.
type Uploads struct{ db *db.DB }

// NewUploads returns the uploads of a database.
func NewUploads(d *db.DB) *Uploads { return &Uploads{d} }

const uploadColumns = `account, provider, sum, bytes, renewed, calls, until_ms, file, expires_ms`

// uploadsAtOnce is how many files are asked for, or listed, at a time.
const uploadsAtOnce = 500

// Of returns those of some files that were sent to an account, or are being sent. An account may have millions of others.
func (s *Uploads) Of(ctx context.Context, account string, sums []assay.Sum) (map[assay.Sum]store.Upload, error) {
	all := make(map[assay.Sum]store.Upload, len(sums))
	for some := range slices.Chunk(sums, uploadsAtOnce) {
		args, places := []any{account}, make([]string, len(some))
		for i := range some {
			args, places[i] = append(args, some[i][:]), fmt.Sprintf("$%d", i+2)
		}
		found, err := s.read(ctx, `AND sum IN (`+strings.Join(places, ", ")+`)`, args...)
		if err != nil {
			return nil, err
		}
		for _, u := range found {
			all[u.Sum] = u
		}
	}
	return all, nil
}

// After lists files of an account in the order of their sums, some at a time: those after a sum.
func (s *Uploads) After(ctx context.Context, account string, sum assay.Sum) ([]store.Upload, error) {
	return s.read(ctx, fmt.Sprintf(`AND sum > $2 ORDER BY sum LIMIT %d`, uploadsAtOnce), account, sum[:])
}

// Any reports whether a file was ever sent to an account by this ledger, or is being sent.
func (s *Uploads) Any(ctx context.Context, account string) (bool, error) {
	found, err := s.read(ctx, `LIMIT 1`, account)
	return len(found) > 0, err
}

func (s *Uploads) read(ctx context.Context, which string, args ...any) (all []store.Upload, err error) {
	rows, err := s.db.Query(ctx, `SELECT `+uploadColumns+` FROM uploads WHERE account = $1 `+which, args...)
	if err != nil {
		return nil, fmt.Errorf("read uploads: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		u, err := scanUpload(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, rows.Err()
}

// Claim notes that a file is about to be sent by a call that is over at a moment, and returns it as it is to be named. It is false where
// somebody else sends it, or where it is there for longer than it is needed. Where the time of one that is there is over before, it is
// renewed: under another name.
func (s *Uploads) Claim(ctx context.Context, u store.Upload, until, needed time.Time) (claimed store.Upload, ok bool, err error) {
	err = s.db.Tx(ctx, "claim upload", db.Durable, func(t *db.Txn) error {
		claimed, err = scanUpload(t.QueryRowContext(ctx, `INSERT INTO uploads (account, sum, provider, bytes, until_ms)
			VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (account, sum) DO UPDATE SET until_ms = excluded.until_ms,
				calls = CASE WHEN uploads.file = '' THEN uploads.calls + 1 ELSE 1 END,
				renewed = CASE WHEN uploads.file = '' THEN uploads.renewed ELSE uploads.renewed + 1 END,
				file = '', expires_ms = NULL
			WHERE uploads.until_ms <= $6 OR uploads.expires_ms < $7
			RETURNING `+uploadColumns, u.Account, u.Sum[:], u.Provider, u.Bytes, until.UnixMilli(), t.Millis(), needed.UnixMilli()).Scan)
		if ok = err == nil; errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return claimed, ok, err
}

// Keep notes that a file is there.
func (s *Uploads) Keep(ctx context.Context, u store.Upload) error {
	var expires any
	if !u.Expires.IsZero() {
		expires = u.Expires.UnixMilli()
	}
	return s.db.Tx(ctx, "keep upload", db.Durable, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE uploads SET file = $3, expires_ms = $4, until_ms = NULL
			WHERE account = $1 AND sum = $2 AND file = ''`, u.Account, u.Sum[:], u.File, expires)
		return err
	})
}

// Drop forgets a file that is not there: one that was surely not sent, or is gone.
func (s *Uploads) Drop(ctx context.Context, u store.Upload) error {
	return s.db.Tx(ctx, "drop upload", db.Durable, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `DELETE FROM uploads WHERE account = $1 AND sum = $2 AND file = $3`, u.Account, u.Sum[:], u.File)
		return err
	})
}

// Needed reports whether a segment that has not ended may name files of a provider.
func (s *Uploads) Needed(ctx context.Context, provider string) (bool, error) {
	var n int64
	err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM segments WHERE provider = $1
		AND state NOT IN ('planned', 'settled', 'failed', 'cancelled')`, provider).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("count segments: %w", err)
	}
	return n > 0, nil
}

func scanUpload(scan func(...any) error) (store.Upload, error) {
	var u store.Upload
	var sum []byte
	var until, expires sql.NullInt64
	err := scan(&u.Account, &u.Provider, &sum, &u.Bytes, &u.Renewed, &u.Calls, &until, &u.File, &expires)
	if err != nil {
		return u, err
	}
	copy(u.Sum[:], sum)
	if until.Valid {
		u.Until = time.UnixMilli(until.Int64).UTC()
	}
	if expires.Valid {
		u.Expires = time.UnixMilli(expires.Int64).UTC()
	}
	return u, nil
}
