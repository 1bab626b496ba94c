package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/icefield/icefield/native/store/migrate"
)

// meter shows how far a move is: a bar on a terminal, and elsewhere a line now
// and then.
type meter struct {
	w        io.Writer
	terminal bool
	bar      *progressbar.ProgressBar
	stage    migrate.Stage
	// told is the last tenth that a line was written for.
	told int64
}

func newMeter(w io.Writer) *meter { return &meter{w: w, terminal: isTerminal(w)} }

func (m *meter) show(p migrate.Progress) {
	if p.Stage != m.stage {
		m.end()
		m.stage, m.told = p.Stage, -1
		if m.terminal {
			m.bar = progressbar.NewOptions64(p.Total, progressbar.OptionSetWriter(m.w), progressbar.OptionSetDescription(fmt.Sprintf("%-9s", p.Stage)),
				progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("records"),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionFullWidth(), progressbar.OptionSetPredictTime(true))
		}
	}
	if m.bar != nil {
		_ = m.bar.Set64(p.Done) // a terminal that is gone does not stop the move
		return
	}
	if tenth := p.Done * 10 / max(p.Total, 1); tenth > m.told || p.Total == 0 {
		m.told = tenth
		fmt.Fprintf(m.w, "%s: %d of %d records\n", p.Stage, p.Done, p.Total)
	}
}

// end leaves the bar as it is and goes on below it.
func (m *meter) end() {
	if m.bar != nil {
		_ = m.bar.Exit()
		fmt.Fprintln(m.w)
		m.bar = nil
	}
}
