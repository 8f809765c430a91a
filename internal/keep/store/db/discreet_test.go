package db_test

import (
	"context"
	"errors"
	"strings"
	"testing"

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
