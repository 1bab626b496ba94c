// Package quota bounds how often anybody may ask: requests a second for one
// client and for one tenant, and logins that fail.
//
//	server {
//	  rate_limit {                        # one client address
//	    requests_per_second = 200
//	    burst               = 400
//	  }
//	  tenant_rate_limit {                 # all callers of one tenant together
//	    requests_per_second = 2000
//	    burst               = 4000
//	  }
//	  trusted_proxies = ["10.0.0.0/8"]    # whose X-Forwarded-For is believed; "unix" for a socket
//	  login_lockout {
//	    failures = 10
//	    window   = "1m"
//	  }
//	}
//
// In Go:
//
//	limits := quota.New(quota.Options{Client: quota.Rate{PerSecond: 200, Burst: 400}})
//	client := quota.ClientAddr(r, trusted)
//	if wait, ok := limits.Client(client); !ok {
//		// 429, Retry-After: wait
//	}
//
// # Who is one client
//
// An IPv4 address, or a network of 64 bits in IPv6, where a single machine has
// that many addresses to choose from. An IPv4 address inside an IPv6 one is the
// IPv4 address. Callers on a unix socket cannot be told apart, and share one
// bucket, unless a proxy there is trusted and names its clients.
//
// The address is the connection's. If that is a trusted proxy's, X-Forwarded-For
// is read from its right end: each proxy appends whom it was called by, so what
// stands left of an address that is not trusted is that client's own invention.
//
// # Bounds
//
// At most MaxTracked clients and as many tenants are remembered. Those whose
// bucket is full again are forgotten at no loss. If there are none, the one that
// asked least recently is forgotten, and whoever comes new then begins with one
// request instead of a burst. So to have a bucket forgotten takes as many requests
// from other addresses as are tracked, and gives one request: fewer than those
// addresses could make anyway. What no limit on one client can bound is somebody
// with that many addresses.
//
// A server counts by itself; replicas do not share their counts.
//
// It is not admission control of a mount (mounts/wrap bounds the calls in flight).
// Layer: above the root of policy; below router.
package quota
