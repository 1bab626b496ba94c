package rest

import (
	"testing"
	"time"

	"github.com/icefield/icefield/mounts/mounttest/remote"
)

func TestABackendSaysWhenTheRemoteToldItsSettings(t *testing.T) {
	before := time.Now()
	srv := remote.New(t, remote.Options{})
	b, err := Open(t.Context(), Config{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	first := b.SettingsAt()
	if first.Before(before) || first.After(time.Now()) {
		t.Errorf("told at %v, between %v and now", first, before)
	}
	if _, err := b.renew(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if again := b.SettingsAt(); !again.After(first) {
		t.Errorf("told again at %v, first at %v", again, first)
	}
}

func TestSettingsThatNobodyToldHaveNoTime(t *testing.T) {
	srv := remote.New(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) { q.Bearer = "of a caller" })
	b, err := Open(t.Context(), Config{URL: srv.URL, Auth: Passthrough()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if at := b.SettingsAt(); !at.IsZero() {
		t.Errorf("told at %v", at)
	}
}
