//go:build peers

package bench

import (
	"testing"
	"time"
)

// turn is how long a target is under load in one round.
const turn = time.Second

// compare loads the targets in turn, b.N rounds, and reports the throughput of
// each as a share of the last one's, round by round, and its own median.
func compare(b *testing.B, clients int, targets ...target) {
	b.Helper()
	for _, t := range targets {
		press(b, t, clients, turn/4) // connections, caches
	}
	rates := make([][]float64, len(targets))
	shares := make([][]float64, len(targets))
	b.ResetTimer()
	for range b.N {
		for i, t := range targets {
			rate, _ := press(b, t, clients, turn)
			rates[i] = append(rates[i], rate)
		}
		last := len(targets) - 1
		for i := range targets {
			shares[i] = append(shares[i], rates[i][len(rates[i])-1]/rates[last][len(rates[last])-1])
		}
	}
	b.ReportMetric(0, "ns/op")
	against := targets[len(targets)-1].name
	for i, t := range targets {
		b.ReportMetric(medianOf(rates[i]), t.name+"/s")
		if i < len(targets)-1 {
			b.ReportMetric(medianOf(shares[i]), t.name+":"+against)
		}
	}
}

func BenchmarkNothingKept(b *testing.B) {
	s := open(b)
	for _, clients := range []int{32, 256} {
		b.Run(clientsName(clients), func(b *testing.B) {
			compare(b, clients,
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
			compare(b, clients,
				tables("icefield", s.icefield, "fresh", tagged, 8),
				tables("remote", s.remote, "", tagged, 8),
				tables("nginx", s.nginx, "", tagged, 8))
		})
	}
}

func BenchmarkUnchangedWithoutTags(b *testing.B) {
	s := open(b)
	compare(b, 32,
		tables("icefield", s.icefield, "fresh", untagged, 8),
		tables("ReverseProxy", s.proxy, "", untagged, 8))
}

// The remote that answers from memory is the bare handler.
func BenchmarkInsideTheTTL(b *testing.B) {
	s := open(b)
	compare(b, 32,
		tables("icefield", s.icefield, "kept", tagged, 8),
		tables("bare", s.remote, "", tagged, 8))
}

func BenchmarkLargeMetadata(b *testing.B) {
	s := open(b)
	for _, namespace := range []string{large, read} {
		b.Run(namespace, func(b *testing.B) {
			compare(b, 8,
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
		_, bare := press(b, targets[0], 1, turn)
		for i, t := range targets[1:] {
			_, took := press(b, t, 1, turn)
			over[i+1] = append(over[i+1], (took-bare).Seconds()*1000)
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, t := range targets[1:] {
		b.ReportMetric(medianOf(over[i+1]), "ms-more:"+t.name)
	}
}
