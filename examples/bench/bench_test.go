//go:build peers

package bench

import (
	"testing"
	"time"
)

// turn is how long a target is under load in one round.
const turn = time.Second

// compare loads the targets in turn, b.N rounds, and reports the throughput of
// each, and of the last one's throughput and of the last one's processor time a
// request its share, round by round, and the median of them.
func compare(b *testing.B, s *scene, clients int, targets ...target) {
	b.Helper()
	for _, t := range targets {
		press(b, t, clients, turn/4) // connections, caches
	}
	rates := make([][]float64, len(targets))
	costs := make([][]float64, len(targets))
	b.ResetTimer()
	for range b.N {
		for i, t := range targets {
			before := cpu(s.pids[t.base])
			rate, _, n := press(b, t, clients, turn)
			rates[i] = append(rates[i], rate)
			costs[i] = append(costs[i], float64((cpu(s.pids[t.base])-before).Microseconds())/float64(n))
		}
	}
	b.ReportMetric(0, "ns/op")
	last := len(targets) - 1
	for i, t := range targets {
		b.ReportMetric(medianOf(rates[i]), t.name+"/s")
		b.ReportMetric(medianOf(costs[i]), t.name+"-cpu-us/op")
		if i < last {
			b.ReportMetric(medianOf(shares(rates[i], rates[last])), t.name+":"+targets[last].name)
			b.ReportMetric(medianOf(shares(costs[last], costs[i])), t.name+":"+targets[last].name+"-by-cpu")
		}
	}
}

func shares(of, in []float64) []float64 {
	out := make([]float64, len(of))
	for i := range of {
		out[i] = of[i] / in[i]
	}
	return out
}

func BenchmarkNothingKept(b *testing.B) {
	s := open(b)
	for _, clients := range []int{32, 256} {
		b.Run(clientsName(clients), func(b *testing.B) {
			compare(b, s, clients,
				tables("icefield", s.icefield, "direct", untagged, 1000),
				tables("remote", s.remote, "", untagged, 1000),
				tables("ReverseProxy", s.proxy, "", untagged, 1000))
		})
	}
}

func BenchmarkRevalidatedEachTime(b *testing.B) {
	s := open(b)
	for _, clients := range []int{32, 256} {
		b.Run(clientsName(clients), func(b *testing.B) {
			compare(b, s, clients,
				tables("icefield", s.icefield, "fresh", tagged, 8),
				tables("remote", s.remote, "", tagged, 8),
				tables("nginx", s.nginx, "", tagged, 8))
		})
	}
}

func BenchmarkUnchangedWithoutTags(b *testing.B) {
	s := open(b)
	compare(b, s, 32,
		tables("icefield", s.icefield, "fresh", untagged, 8),
		tables("ReverseProxy", s.proxy, "", untagged, 8))
}

// The remote that answers from memory is the bare handler.
func BenchmarkInsideTheTTL(b *testing.B) {
	s := open(b)
	compare(b, s, 32,
		tables("icefield", s.icefield, "kept", tagged, 8),
		tables("bare", s.remote, "", tagged, 8))
}

func BenchmarkLargeMetadata(b *testing.B) {
	s := open(b)
	for _, namespace := range []string{large, read} {
		b.Run(namespace, func(b *testing.B) {
			compare(b, s, 8,
				tables("icefield", s.icefield, "fresh", namespace, 4),
				tables("nginx", s.nginx, "", namespace, 4),
				tables("remote", s.remote, "", namespace, 4))
		})
	}
}

// BenchmarkOneClient reports what a load takes longer than from the remote.
func BenchmarkOneClient(b *testing.B) {
	s := open(b)
	targets := []target{
		tables("remote", s.remote, "", tagged, 8),
		tables("icefield-direct", s.icefield, "direct", tagged, 8),
		tables("icefield-fresh", s.icefield, "fresh", tagged, 8),
		tables("icefield-kept", s.icefield, "kept", tagged, 8),
		tables("nginx", s.nginx, "", tagged, 8),
		tables("ReverseProxy", s.proxy, "", tagged, 8),
	}
	over := make([][]float64, len(targets))
	for _, t := range targets {
		press(b, t, 1, turn/4)
	}
	b.ResetTimer()
	for range b.N {
		_, bare, _ := press(b, targets[0], 1, turn)
		for i, t := range targets[1:] {
			_, took, _ := press(b, t, 1, turn)
			over[i+1] = append(over[i+1], (took-bare).Seconds()*1000)
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, t := range targets[1:] {
		b.ReportMetric(medianOf(over[i+1]), "ms-more:"+t.name)
	}
}
