package clients

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// BeginClientFile records a file that is about to be sent. It is not there for its owner before KeepClientFile.
func (s *Store) BeginClientFile(ctx context.Context, owner, id string) error {
	return s.db.Tx(ctx, "begin client file", db.Durable, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO client_files (id, owner, name, purpose, bytes, created_ms)
			VALUES ($1, $2, '', '', 0, $3)`, id, owner, s.db.Millis())
		return err
	})
}

// KeepClientFile makes a file whole whose bytes are kept, if its owner then has no more bytes than so many; 0: any number.
// ErrStorage: they would. ErrNotFound: it took so long that it was given up.
func (s *Store) KeepClientFile(ctx context.Context, f store.ClientFile, most int64) error {
	return s.db.Tx(ctx, "keep client file", db.Durable, func(t *db.Txn) error {
		// First of all, and so the lock: of two files of an owner the second waits here.
		if _, err := t.ExecContext(ctx, `INSERT INTO quotas (scope, next_us) VALUES ($1, 0) ON CONFLICT (scope) DO UPDATE SET next_us = 0`,
			"gateway files of "+f.Owner); err != nil {
			return err
		}
		var has int64
		if err := t.QueryRowContext(ctx, storedBytes, f.Owner).Scan(&has); err != nil {
			return err
		}
		if most > 0 && has+f.Bytes > most {
			return fmt.Errorf("%d bytes beside %d: %w", f.Bytes, has, store.ErrStorage)
		}
		return t.One(ctx, fmt.Errorf("file %s: %w", f.ID, store.ErrNotFound), `UPDATE client_files SET name = $3, purpose = $4, bytes = $5,
			whole_ms = $6
			WHERE owner = $1 AND id = $2 AND whole_ms IS NULL AND deleted_ms IS NULL`,
			f.Owner, f.ID, f.Name, f.Purpose, f.Bytes, s.db.Millis())
	})
}

const storedBytes = `SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM client_files WHERE owner = $1 AND deleted_ms IS NULL`

// StoredBytes returns how many bytes the files of an owner have.
func (s *Store) StoredBytes(ctx context.Context, owner string) (n int64, err error) {
	err = s.db.QueryRow(ctx, storedBytes, owner).Scan(&n)
	return n, err
}

// UnfinishedClientFiles reads files that were begun before a moment, and are not whole.
func (s *Store) UnfinishedClientFiles(ctx context.Context, before time.Time) ([]store.ClientFile, error) {
	return s.clientFiles(ctx, `whole_ms IS NULL AND deleted_ms IS NULL AND created_ms < $1 ORDER BY no`, before.UnixMilli())
}

// PutClientFiles records results whose bytes are kept, all or none. One that is recorded already is not changed.
func (s *Store) PutClientFiles(ctx context.Context, files ...store.ClientFile) error {
	return s.db.Tx(ctx, "put client files", db.Durable, func(t *db.Txn) error {
		for _, f := range files {
			_, err := t.ExecContext(ctx, `INSERT INTO client_files (id, owner, name, purpose, run_no, bytes, created_ms, whole_ms)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
				ON CONFLICT (id) DO NOTHING`, f.ID, f.Owner, f.Name, f.Purpose, db.Null(f.Run), f.Bytes, s.db.Millis())
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteClientFile marks a file of an owner as deleted. ErrNotFound: there is none.
func (s *Store) DeleteClientFile(ctx context.Context, owner, id string) error {
	return s.db.Tx(ctx, "delete client file", db.Durable, func(t *db.Txn) error {
		return t.One(ctx, fmt.Errorf("file %s: %w", id, store.ErrNotFound), `UPDATE client_files SET deleted_ms = $3
			WHERE owner = $1 AND id = $2 AND deleted_ms IS NULL`, owner, id, s.db.Millis())
	})
}

// ClientFile reads a file of an owner. ErrNotFound: there is none.
func (s *Store) ClientFile(ctx context.Context, owner, id string) (store.ClientFile, error) {
	all, err := s.clientFiles(ctx, `owner = $1 AND id = $2 AND deleted_ms IS NULL AND whole_ms IS NOT NULL`, owner, id)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("file %s: %w", id, store.ErrNotFound)
	}
	if err != nil {
		return store.ClientFile{}, err
	}
	return all[0], nil
}

// ClientFiles reads files of an owner before a place, newest first; 0: from the newest. A purpose narrows it if it is not empty.
func (s *Store) ClientFiles(ctx context.Context, owner, purpose string, before int64, limit int) ([]store.ClientFile, error) {
	return s.clientFiles(ctx, `owner = $1 AND deleted_ms IS NULL AND whole_ms IS NOT NULL AND ($2 = '' OR purpose = $2)
		AND (CAST($3 AS BIGINT) = 0 OR no < $3) ORDER BY no DESC LIMIT CAST($4 AS BIGINT)`, owner, purpose, before, limit)
}

// ClientFilesOf reads the results of a run, deleted ones too; 0: all files that clients have sent.
func (s *Store) ClientFilesOf(ctx context.Context, run int64) ([]store.ClientFile, error) {
	if run == 0 {
		return s.clientFiles(ctx, `run_no IS NULL AND whole_ms IS NOT NULL ORDER BY no`)
	}
	return s.clientFiles(ctx, `run_no = $1 ORDER BY no`, run)
}

func (s *Store) clientFiles(ctx context.Context, where string, args ...any) ([]store.ClientFile, error) {
	rows, err := s.db.Query(ctx, `SELECT no, id, owner, name, purpose, COALESCE(run_no, 0), bytes, created_ms,
		deleted_ms IS NOT NULL FROM client_files
		WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read client files: %w", err)
	}
	defer rows.Close()
	var all []store.ClientFile
	for rows.Next() {
		var u store.ClientFile
		var created sql.NullInt64
		if err := rows.Scan(&u.No, &u.ID, &u.Owner, &u.Name, &u.Purpose, &u.Run, &u.Bytes, &created, &u.Deleted); err != nil {
			return nil, fmt.Errorf("read client files: %w", err)
		}
		u.Created = db.FromMillis(created)
		all = append(all, u)
	}
	return all, rows.Err()
}
