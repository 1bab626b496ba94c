package audit

import (
	"context"
	"path/filepath"
	"testing"
	"time"
)

func BenchmarkLine(b *testing.B) {
	e := sample()
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = appendEvent(line[:0], noon, &e)
	}
	b.SetBytes(int64(len(line)))
}

// BenchmarkRecord/queued is what a read costs, /written a change with
// fail_closed, and /written-together changes of 64 callers, which share writes.
func BenchmarkRecord(b *testing.B) {
	open := func(b *testing.B) *Log {
		log, err := Open(Options{Sink: File, Path: filepath.Join(b.TempDir(), "audit.jsonl"), FailClosed: true, Queue: 1 << 20, Logger: quiet})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := log.Close(); err != nil {
				b.Error(err)
			}
		})
		return log
	}
	e, ctx := sample(), context.Background()
	b.Run("queued", func(b *testing.B) {
		log := open(b)
		b.ReportAllocs()
		for b.Loop() {
			_ = log.Record(ctx, e, false)
		}
		b.ReportMetric(float64(log.Status().Lost)/float64(b.N), "lost/op")
	})
	b.Run("written", func(b *testing.B) {
		log := open(b)
		b.ReportAllocs()
		for b.Loop() {
			if err := log.Record(ctx, e, true); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("written-together", func(b *testing.B) {
		log := open(b)
		b.ReportAllocs()
		b.SetParallelism(64)
		began := time.Now()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := log.Record(ctx, e, true); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "events/s")
	})
}
