//go:build peers

package replicas

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/icefield/icefield/examples/internal/history"
	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }

// replica is one process of the catalog.
type replica struct {
	*launch.Process
	url string
}

// start runs replicas.hcl in two processes on a database and a fresh warehouse.
func start(t testing.TB, database string) [2]replica {
	t.Helper()
	data := t.TempDir()
	var both [2]replica
	for i := range both {
		address := launch.FreeAddress(t)
		env := []string{"ICEFIELD_LISTEN=" + address, "ICEFIELD_DATA=" + data, "DATABASE_URL=" + database}
		launch.Check(t, env, "replicas.hcl")
		both[i] = replica{launch.Start(t, launch.Command{
			Name: fmt.Sprintf("replica-%d", i), Path: launch.Binary(t), Args: []string{"serve", "--config", "replicas.hcl"},
			Env: env, Ready: "http://" + address + "/ready",
		}), "http://" + address}
	}
	return both
}

const kills = 50

// TestTwoReplicasAreOneCatalogWhateverDies kills one replica or the other with SIGKILL, again and again, and now and then
// cuts all connections to the database, restarts it, or lets it crash, while 16 clients append, commit transactions and
// create and drop namespaces through both replicas.
func TestTwoReplicasAreOneCatalogWhateverDies(t *testing.T) {
	cluster := pgtest.Start(t)
	both := start(t, cluster.NewDatabase(t))
	load := history.Start(t, history.Config{
		Servers: []string{both[0].url, both[1].url}, Prefix: "prod", Writers: 16, Keys: true, Seed: 3,
	})
	random := rand.New(rand.NewPCG(3, 4))
	for round := range kills {
		load.Await(t, 10+random.Int64N(60))
		switch {
		case round%10 == 3:
			cluster.CutConnections(t)
		case round%20 == 7:
			cluster.Restart(t)
		case round%20 == 17:
			cluster.Crash(t)
			cluster.Begin(t)
		}
		victim := both[round%2]
		victim.Kill()
		if round%5 == 4 { // both at once
			load.Down()
			both[(round+1)%2].Kill()
			both[(round+1)%2].Restart(t)
		}
		victim.Restart(t)
		load.Up()
	}
	load.Await(t, 100)
	load.Stop()
	load.Verify(t)
}
