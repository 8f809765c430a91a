package db_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"assay/internal/keep/store/db"
)

func TestADatabaseThatCannotBeReachedIsReportedWithoutItsUser(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"postgres://secretuser:secretword@127.0.0.1:1/db", "postgres://secretuser:secretword@host.invalid/db"} {
		_, err := db.Open(context.Background(), where, db.Options{})
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "cannot connect") {
			t.Errorf("open %s: %v", db.Redact(where), err)
		}
		if err != nil && strings.Count(err.Error(), "dial error") > 1 {
			t.Errorf("open %s: the same is said twice: %v", db.Redact(where), err)
		}
		var cause *pgconn.ConnectError
		if !errors.As(err, &cause) {
			t.Errorf("the cause is lost: %v", err)
		}
	}
	refused := db.HideUser(errors.New(`FATAL: password authentication failed for user "secretuser"`),
		"postgres://secretuser:secretword@h/db")
	if strings.Contains(refused.Error(), "secret") {
		t.Error(refused)
	}
}

// fullServer refuses so many connections with a code.
type fullServer struct {
	driver.Connector
	code    string
	refuses int
}

func (s *fullServer) Connect(context.Context) (driver.Conn, error) {
	if s.refuses--; s.refuses >= 0 {
		return nil, &pgconn.PgError{Code: s.code}
	}
	return nil, nil
}

func TestAServerThatIsFullIsTriedForAWhile(t *testing.T) {
	t.Parallel()
	const tooMany, wrongPassword = "53300", "28P01"
	for name, c := range map[string]struct {
		server fullServer
		stop   time.Duration // when the caller gives up
		fails  bool
		least  time.Duration
		most   time.Duration
	}{
		"room again":         {fullServer{code: tooMany, refuses: 20}, time.Hour, false, 5 * time.Second, 15 * time.Second},
		"never room":         {fullServer{code: tooMany, refuses: 1e6}, time.Hour, true, 20 * time.Second, time.Minute},
		"nobody waits":       {fullServer{code: tooMany, refuses: 1e6}, time.Second, true, time.Second, time.Second},
		"another error ends": {fullServer{code: wrongPassword, refuses: 1}, time.Hour, true, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), c.stop)
				defer stop()
				began := time.Now()
				_, err := db.Connector(&c.server).Connect(ctx)
				if took := time.Since(began); (err != nil) != c.fails || took < c.least || took > c.most {
					t.Errorf("after %s: %v", took, err)
				}
			})
		})
	}
}
