//go:build peers

package postgres

import (
	"os"
	"testing"

	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
	"github.com/icefield/icefield/native/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func fresh(t *testing.T) storetest.Opener {
	url := pgtest.Shared(t).NewDatabase(t)
	return func() (store.Store, error) { return Open(t.Context(), Config{URL: url}) }
}

func TestStore(t *testing.T)    { storetest.Run(t, fresh) }
func TestPortable(t *testing.T) { storetest.RunPortable(t, fresh) }
func TestReplicas(t *testing.T) { storetest.RunReplicas(t, fresh) }
