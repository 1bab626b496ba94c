package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
)

// Who reads the log of a start has to see whom no policy binds.
func TestTheStartUpLineNamesEveryOperator(t *testing.T) {
	auth := &config.Authentication{
		OIDC:         []config.OIDC{{Name: "corp", OperatorRoles: []string{"platform", "oncall"}}, {Name: "partner"}},
		Keys:         []config.APIKey{{Name: "ci"}, {Name: "admin", Operator: true}},
		Certificates: []config.Certificate{{Name: "etl", Operator: true}},
	}
	assert.Equal(t, "key/admin, certificate/etl, whoever oidc corp gives the role platform or oncall", operatorNames(auth))
	assert.Equal(t, "none", operatorNames(&config.Authentication{Keys: auth.Keys[:1]}))
}

func TestAnOperatorWhoIsAddedLaterIsNamedToo(t *testing.T) {
	dir := t.TempDir()
	text := twoTenants() + authText("")
	s, log := started(t, load(t, dir, text))
	assert.Contains(t, log.String(), "operators=key/operator")
	_, err := s.catalogs.replace(t.Context(), load(t, dir, twoTenants()+authText("  api_key \"late\" {\n    operator = true\n    hash = \"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"\n  }\n")))
	assert.NoError(t, err)
	assert.Contains(t, s.catalogs.callers(), "key/operator, key/late")
	assert.Contains(t, s.catalogs.callers(), "3 (the built-in ones of admin, writer and reader)")
}
