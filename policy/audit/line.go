package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strconv"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// MaxLine is how long a line can be, its newline included.
const MaxLine = 64 << 10

// What the parts of a line may take, in bytes as written. Their sum, with the
// keys and the marks of what was cut, stays below MaxLine.
const (
	maxWord     = 512
	maxResource = 4 << 10
	maxPolicies = 2 << 10
	maxMore     = 40 << 10
)

// timeFormat is what appendTime writes.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// appendTime is AppendFormat in a third of its time.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, timeFormat)
	}
	hour, minute, second := t.Clock()
	micros := t.Nanosecond() / 1000
	two := func(n int, end byte) { b = append(b, byte('0'+n/10), byte('0'+n%10), end) } // #nosec G115 -- n has two digits
	b = append(b, byte('0'+year/1000), byte('0'+year/100%10))
	two(year%100, '-')
	two(int(month), '-')
	two(day, 'T')
	two(hour, ':')
	two(minute, ':')
	two(second, '.')
	for unit := 100000; unit > 0; unit /= 10 {
		b = append(b, byte('0'+micros/unit%10))
	}
	return append(b, 'Z')
}

// line builds one event. The twelve fields that every line has come first and in
// their fixed order; null stands for what is not known or does not apply. The
// others follow if they say something.
type line struct {
	b []byte
	// cuts remembers what did not fit: the full length of a text in bytes, or how
	// many elements of a list were left out.
	cuts [16]struct {
		field string
		n     int
	}
	cut int
}

// appendEvent appends the event as one line, with its newline.
func appendEvent(b []byte, now time.Time, e *policy.Event) []byte {
	l := line{b: b}
	var id, tenant, login string
	if p := e.Principal; p != nil {
		id, tenant, login = p.ID, p.Tenant, p.Login
	}
	l.head(now)
	l.word("request_id", e.RequestID)
	l.word("principal", id)
	l.word("tenant", tenant)
	l.word("operation", string(e.Action))
	l.word("mount", e.Resource.Mount)
	l.resource(&e.Resource)
	l.word("outcome", e.Outcome)
	l.policies(e.Policies)
	l.word("remote_identity", e.Remote.Identity)
	l.status(e.Remote.Status)
	l.client(e.Client.Addr)

	l.extra("catalog", e.Catalog)
	l.extra("login", login)
	l.extra("result", e.Result)
	if e.Storage != mounts.NoStorage {
		l.extra("storage", e.Storage.String())
	}
	if e.Restricted {
		l.b = append(l.b, `,"restricted":true`...)
	}
	l.more(e.More)
	return l.end()
}

// appendLoss appends the line that says what the lines around it lack.
func appendLoss(b []byte, now time.Time, lost, refused uint64, since time.Time) []byte {
	l := line{b: b}
	l.head(now)
	l.b = append(l.b, `,"request_id":null,"principal":null,"tenant":null,"operation":"audit_lost","mount":null,"resource":null,"outcome":"lost","policies":[],"remote_identity":null,"remote_status":null,"client":null,"lost":`...)
	l.b = strconv.AppendUint(l.b, lost, 10)
	l.b = append(l.b, `,"refused":`...)
	l.b = strconv.AppendUint(l.b, refused, 10)
	l.b = append(l.b, `,"since":"`...)
	l.b = appendTime(l.b, since)
	l.b = append(l.b, '"')
	return l.end()
}

func (l *line) head(now time.Time) {
	l.b = append(l.b, `{"time":"`...)
	l.b = appendTime(l.b, now)
	l.b = append(l.b, '"')
}

func (l *line) key(name string) {
	l.b = append(l.b, ',', '"')
	l.b = append(l.b, name...)
	l.b = append(l.b, '"', ':')
}

// word writes a short text, or null for an empty one.
func (l *line) word(name, value string) {
	l.key(name)
	if value == "" {
		l.b = append(l.b, "null"...)
		return
	}
	var whole bool
	l.b = append(l.b, '"')
	if l.b, whole = appendText(l.b, value, maxWord); !whole {
		l.b = appendSum(l.b, value)
		l.was(name, len(value))
	}
	l.b = append(l.b, '"')
}

func (l *line) extra(name, value string) {
	if value != "" {
		l.word(name, value)
	}
}

func (l *line) resource(r *policy.Resource) {
	l.key("resource")
	if r.Kind == "" {
		l.b = append(l.b, "null"...)
		return
	}
	var whole bool
	l.b = append(l.b, '"')
	if l.b, whole = appendEntity(l.b, r, maxResource); !whole {
		id := r.ID()
		l.b = appendSum(l.b, id)
		l.was("resource", len(id))
	}
	l.b = append(l.b, '"')
}

// policies writes the ids that fit. Each is whole or not there.
func (l *line) policies(ids []string) {
	l.key("policies")
	l.b = append(l.b, '[')
	limit := len(l.b) + maxPolicies
	for i, id := range ids {
		before := len(l.b)
		if i > 0 {
			l.b = append(l.b, ',')
		}
		l.b = append(l.b, '"')
		var whole bool
		if l.b, whole = appendText(l.b, id, limit-len(l.b)); !whole {
			l.b = l.b[:before]
			l.was("policies", len(ids)-i)
			break
		}
		l.b = append(l.b, '"')
	}
	l.b = append(l.b, ']')
}

func (l *line) more(resources []policy.Resource) {
	if len(resources) == 0 {
		return
	}
	l.key("more")
	l.b = append(l.b, '[')
	limit := len(l.b) + maxMore
	for i := range resources {
		before := len(l.b)
		if i > 0 {
			l.b = append(l.b, ',')
		}
		l.b = append(l.b, '"')
		var whole bool
		if l.b, whole = appendEntity(l.b, &resources[i], limit-len(l.b)); !whole {
			l.b = l.b[:before]
			l.was("more", len(resources)-i)
			break
		}
		l.b = append(l.b, '"')
	}
	l.b = append(l.b, ']')
}

func (l *line) status(code int) {
	l.key("remote_status")
	if code == 0 {
		l.b = append(l.b, "null"...)
		return
	}
	l.b = strconv.AppendInt(l.b, int64(code), 10)
}

// client writes the address without a zone: that is a name, and says nothing
// outside this machine.
func (l *line) client(addr netip.Addr) {
	l.key("client")
	if !addr.IsValid() {
		l.b = append(l.b, "null"...)
		return
	}
	l.b = append(l.b, '"')
	l.b = addr.WithZone("").Unmap().AppendTo(l.b)
	l.b = append(l.b, '"')
}

func (l *line) was(field string, n int) {
	l.cuts[l.cut].field, l.cuts[l.cut].n = field, n
	l.cut++
}

func (l *line) end() []byte {
	if l.cut > 0 {
		l.b = append(l.b, `,"cut":{`...)
		for i, c := range l.cuts[:l.cut] {
			if i > 0 {
				l.b = append(l.b, ',')
			}
			l.b = append(l.b, '"')
			l.b = append(l.b, c.field...)
			l.b = append(l.b, '"', ':')
			l.b = strconv.AppendInt(l.b, int64(c.n), 10)
		}
		l.b = append(l.b, '}')
	}
	return append(l.b, '}', '\n')
}

// appendSum marks a text that was cut, so that two which begin alike stay
// different.
func appendSum(b []byte, whole string) []byte {
	sum := sha256.Sum256([]byte(whole))
	return hex.AppendEncode(append(b, "…#"...), sum[:8])
}
