package embedded

import (
	"math/rand/v2"
	"testing"

	"github.com/icefield/icefield/examples/internal/history"
)

const kills = 50

// TestServerThatIsKilledAgainAndAgainBehavesLikeOneThatNeverDied kills the server with SIGKILL at moments spread over
// what 16 clients do, and checks that everything that they were told fits one order of changes, each made once.
func TestServerThatIsKilledAgainAndAgainBehavesLikeOneThatNeverDied(t *testing.T) {
	server, address := start(t)
	load := history.Start(t, history.Config{Servers: []string{address}, Writers: 16, Keys: true, Seed: 1})
	random := rand.New(rand.NewPCG(1, 2))
	for range kills {
		load.Await(t, 10+random.Int64N(60))
		load.Down()
		server.Kill()
		server.Restart(t)
		load.Up()
	}
	load.Await(t, 50)
	load.Stop()
	load.Verify(t)
}
