package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"assay/store/storetest"
	"assay/store/storetest/pgtest"
)

var server *pgtest.Server // set once by TestMain

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m, &server)) }

func TestSQLiteKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Suite(t, func(t testing.TB) string { return filepath.Join(t.TempDir(), "home", "assay.db") })
}

func TestPostgreSQLKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Suite(t, func(t testing.TB) string { return server.Database(t) })
}
