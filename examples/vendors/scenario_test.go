package vendors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/faults"
	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/wire"
)

func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }

// What lake.hcl says about the mount "partner".
const (
	partnerTimeout  = 2 * time.Second
	partnerFailures = 3
	partnerOpenFor  = 3 * time.Second
)

// probeInterval is the longest pause between two looks at a mount in the background.
const probeInterval = 5500 * time.Millisecond

// scenario is lake.hcl, running.
type scenario struct {
	url  string
	tree *wire.Catalog

	partnerURL      string
	partner         *faults.Proxy // before the partner
	partnerHasViews bool
	partnerDirect   *wire.Catalog // past Icefield and the proxy
	sister          *wire.Catalog // past Icefield and the gate
	sisterURL       string
	gate            *faults.Bearer
}

// view is a mount as a catalog of its own.
func (s *scenario) view(mount string) *wire.Catalog { return wire.New(s.url, mount) }

// token is what the gate before the sister demands.
const token = "the-token-of-the-sister"

// start runs lake.hcl with the given partner, and the sister that it needs.
func start(t *testing.T, partnerURL string, partnerDirect *wire.Catalog) *scenario {
	t.Helper()
	sisterURL := icefield(t, "sister", filepath.Join("sister", "sister.hcl"), "SISTER")
	s := &scenario{
		partnerURL:    partnerURL,
		partner:       faults.New(t, partnerURL),
		partnerDirect: partnerDirect,
		sister:        wire.New(sisterURL, ""),
		sisterURL:     sisterURL,
		gate:          faults.RequireBearer(t, sisterURL, token),
	}
	s.serve(t, "lake.hcl")
	return s
}

// serve runs a mount table over the scenario's partner and sister.
func (s *scenario) serve(t *testing.T, config string) {
	t.Helper()
	s.url = icefield(t, "lake", config, "LAKE",
		"PARTNER_URL="+s.partner.URL, "SISTER_URL="+s.gate.URL, "SISTER_TOKEN="+token)
	s.tree = wire.New(s.url, "")
}

// patient returns the same scenario behind another Icefield, which differs from lake.hcl in that its breaker never opens:
// every call reaches the partner.
func (s *scenario) patient(t *testing.T) *scenario {
	t.Helper()
	text, err := os.ReadFile("lake.hcl")
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(text), "failures = 3\n")
	if !found {
		t.Fatal("lake.hcl does not say that the breaker opens after 3 failures")
	}
	config := filepath.Join(t.TempDir(), "patient.hcl")
	if err := os.WriteFile(config, []byte(before+"failures = 1000\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
	other := *s
	other.partner = faults.New(t, s.partnerURL)
	other.serve(t, config)
	return &other
}

// icefield runs a configuration whose listener and data folder are named by the variables NAME_LISTEN and NAME_DATA, and
// returns its URL. It checks the configuration first, as an operator does.
func icefield(t *testing.T, name, config, variables string, env ...string) string {
	t.Helper()
	address := launch.FreeAddress(t)
	env = append(env, variables+"_LISTEN="+address, variables+"_DATA="+t.TempDir())
	launch.Check(t, env, config)
	launch.Start(t, launch.Command{
		Name: name, Path: launch.Binary(t), Args: []string{"serve", "--config", config}, Env: env,
		Ready: "http://" + address + "/ready",
	})
	return "http://" + address
}
