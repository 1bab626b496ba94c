package wrap

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/mounts"
)

// worker is a backend with jobs.
type worker struct {
	mounts.Backend
	err error
}

func (w worker) Jobs(context.Context, string, int) ([]mounts.Job, error) {
	return []mounts.Job{{ID: "1", Kind: "purge"}}, w.err
}

func (worker) JobCounts() mounts.JobCounts {
	return mounts.JobCounts{Waiting: 3, Running: 2, Failed: 1, FilesDeleted: 17}
}

func TestJobsOfABackendThatHasThemAreShown(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := Stack(worker{Backend: answering()}, Options{Name: "prod", Metrics: NewMetrics(reg)})
	list, err := m.Mount().Jobs(context.Background(), "", 10)
	if err != nil || len(list) != 1 || list[0].ID != "1" {
		t.Errorf("%v, %v", list, err)
	}
	if counts := m.Status().Jobs; counts == nil || counts.Failed != 1 {
		t.Errorf("%+v", counts)
	}
	got := series(t, reg)
	for name, want := range map[string]float64{
		"icefield_mount_jobs{mount=prod,state=waiting}":      3,
		"icefield_mount_jobs{mount=prod,state=running}":      2,
		"icefield_mount_jobs{mount=prod,state=failed}":       1,
		"icefield_mount_job_files_deleted_total{mount=prod}": 17,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}

func TestBackendsWithoutJobsShowNone(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := Stack(answering(), Options{Name: "prod", Metrics: NewMetrics(reg)})
	if m.Mount().Jobs != nil || m.Status().Jobs != nil {
		t.Error("jobs of a backend that has none")
	}
	for name := range series(t, reg) {
		if strings.Contains(name, "job") {
			t.Errorf("%s is shown", name)
		}
	}
}

func TestJobsThatCannotBeReadAreAnErrorThatNamesTheMount(t *testing.T) {
	m := Stack(worker{answering(), context.DeadlineExceeded}, Options{Name: "prod"})
	_, err := m.Mount().Jobs(context.Background(), "", 10)
	var e *mounts.Error
	if !errors.As(err, &e) || e.Kind != mounts.Timeout || e.Mount != "prod" {
		t.Errorf("%v", err)
	}
}

// late is a mount that is not open until open gives it a backend.
func late(t *testing.T) (m *Mounted, open func(mounts.Backend)) {
	opened := make(chan mounts.Backend)
	lazy := NewLazy(func(ctx context.Context) (mounts.Backend, error) {
		select {
		case b := <-opened:
			return b, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, LazyOptions{})
	m = Stack(lazy, Options{Name: "late", Jobs: true})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, func(b mounts.Backend) {
		opened <- b
		<-lazy.ended
	}
}

// TestJobsOfAMountThatIsNotOpenYet: that they cannot be read is no absence.
func TestJobsOfAMountThatIsNotOpenYet(t *testing.T) {
	m, open := late(t)
	jobs := m.Mount().Jobs
	if _, err := jobs(context.Background(), "", 10); !errors.Is(err, mounts.Unavailable) {
		t.Errorf("before: %v", err)
	}
	if m.Status().Jobs != nil {
		t.Error("counted before it is open")
	}
	open(worker{Backend: answering()})
	if list, err := jobs(context.Background(), "", 10); err != nil || len(list) != 1 {
		t.Errorf("after: %v, %v", list, err)
	}
	other := NewLazy(func(context.Context) (mounts.Backend, error) { return answering(), nil }, LazyOptions{})
	unknown := Stack(other, Options{Name: "remote"})
	defer unknown.Close()
	if unknown.Mount().Jobs != nil {
		t.Error("jobs of a mount that nobody says has any")
	}
}
