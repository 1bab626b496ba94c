package remote

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
)

const loginPage = "<!DOCTYPE html><html><body>Please sign in at https://login.internal.example/</body></html>"

var statusTypes = map[int]string{
	400: "BadRequestException", 401: "NotAuthorizedException", 403: "ForbiddenException", 404: "NoSuchTableException",
	406: "UnsupportedOperationException", 419: "AuthenticationTimeoutException", 429: "TooManyRequestsException",
	500: "InternalServerError", 501: "UnsupportedOperationException", 503: "SlowDownException", 504: "TimeoutException",
	508: "LoopDetectedException",
}

// none reports whether the fault does nothing.
func (f Fault) none() bool { return f.Status == 0 && f.Raw == nil && f.Break == 0 }

// apply answers a call with its fault.
func (f Fault) apply(w http.ResponseWriter, r *http.Request, healthy func() answer, q Quirks, closing <-chan struct{}) {
	switch {
	case f.Status != 0:
		write(w, r, f.failure(), q)
	case f.Raw != nil:
		write(w, r, answer{status: 200, header: http.Header{"Content-Type": {"application/json"}}, body: f.Raw}, q)
	default:
		f.damage(w, r, healthy, q, closing)
	}
}

func (f Fault) failure() answer {
	kind, message := f.Type, f.Message
	if kind == "" {
		kind = statusTypes[f.Status]
	}
	if message == "" {
		message = fmt.Sprintf("the remote says %d", f.Status)
	}
	a := failure(f.Status, kind, message)
	switch {
	case f.Body != nil:
		a.body = f.Body
	case f.HTML:
		a.header.Set("Content-Type", "text/html; charset=utf-8")
		a.body = []byte(loginPage)
	case f.Empty:
		a.header.Del("Content-Type")
		a.body = nil
	}
	if f.RetryAfter != "" {
		a.header.Set("Retry-After", f.RetryAfter)
	}
	if f.Location != "" {
		a.header.Set("Location", f.Location)
	}
	a.header.Set("Set-Cookie", "session=remote-cookie")
	return a
}

func (f Fault) damage(w http.ResponseWriter, r *http.Request, healthy func() answer, q Quirks, closing <-chan struct{}) {
	hang := func() {
		select {
		case <-r.Context().Done():
		case <-closing:
		}
	}
	switch f.Break {
	case Hang:
		hang()
		return
	case Reset:
		reset(w)
		return
	}
	a := healthy()
	half := a.body[:len(a.body)/2]
	if a.header == nil {
		a.header = http.Header{}
	}
	switch f.Break {
	case Cut:
		begin(w, a, -1)
		_, _ = w.Write(half)
		w.(http.Flusher).Flush()
		reset(w)
	case ShortBody:
		begin(w, a, len(a.body)+100)
		_, _ = w.Write(a.body)
		w.(http.Flusher).Flush()
		reset(w)
	case LongBody:
		begin(w, a, len(half))
		_, _ = w.Write(half)
	case Truncate:
		a.body = half
		write(w, r, a, q)
	case SlowBody:
		begin(w, a, len(a.body))
		_, _ = w.Write(half)
		w.(http.Flusher).Flush()
		hang()
		reset(w)
	case Bomb:
		a.header.Set("Content-Encoding", "gzip")
		a.body = bomb()
		write(w, r, a, Quirks{})
	case BadGzip:
		a.header.Set("Content-Encoding", "gzip")
		write(w, r, a, Quirks{})
	case UnknownEncoding:
		a.header.Set("Content-Encoding", "zstd")
		write(w, r, a, Quirks{})
	case Trailing:
		a.body = append(bytes.Clone(a.body), `{"second":true}`...)
		write(w, r, a, q)
	case NullLists, NoLists, StrayRows, BadRows:
		a.body = respoil(a.body, f.Break)
		write(w, r, a, q)
	case Created:
		a.status = 201
		write(w, r, a, q)
	}
}

// respoil rewrites the lists of an answer.
func respoil(body []byte, how Break) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return body
	}
	for name, value := range members {
		if name != "namespaces" && name != "identifiers" || len(value) == 0 {
			continue
		}
		switch how {
		case NullLists:
			members[name] = json.RawMessage("null")
		case NoLists:
			delete(members, name)
		case StrayRows:
			members[name] = json.RawMessage(`[["not","what","was","asked","for"]]`)
		case BadRows:
			members[name] = json.RawMessage(`[42,"text",{"name":7}]`)
		}
	}
	out, err := json.Marshal(members)
	if err != nil {
		return body
	}
	return out
}

func begin(w http.ResponseWriter, a answer, length int) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if length >= 0 {
		w.Header().Set("Content-Length", strconv.Itoa(length))
	}
	w.WriteHeader(a.status)
}

// reset closes the connection at once, without a proper end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// write sends an answer the way this remote sends answers.
func write(w http.ResponseWriter, r *http.Request, a answer, q Quirks) {
	header := http.Header{}
	for name, values := range a.header {
		header[name] = values
	}
	for name, values := range q.Headers {
		header[name] = values
	}
	a.header = header
	bodiless := a.status == 204 || a.status == 304 || r.Method == http.MethodHead
	if len(a.body) > 0 {
		a.body = lay(a.body, q.Layout)
		if q.ContentType != "" {
			header.Set("Content-Type", q.ContentType)
		}
		if q.Gzip && !bodiless {
			header.Set("Content-Encoding", "gzip")
			a.body = compress(a.body)
		}
	}
	if q.CloseEach {
		header.Set("Connection", "close")
	}
	if q.EarlyHints {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
	}
	length := len(a.body)
	if bodiless {
		length = -1
	}
	if q.DropIdle {
		raw(w, r, a, bodiless)
		return
	}
	if q.Chunked && !bodiless {
		begin(w, a, -1)
		half := len(a.body) / 2
		_, _ = w.Write(a.body[:half])
		w.(http.Flusher).Flush()
		_, _ = w.Write(a.body[half:])
		return
	}
	begin(w, a, length)
	if !bodiless {
		_, _ = w.Write(a.body)
	}
}

// raw sends an answer that promises to keep the connection, and then closes it.
func raw(w http.ResponseWriter, r *http.Request, a answer, bodiless bool) {
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	fmt.Fprintf(buf, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	if !bodiless {
		a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	_ = a.header.Write(buf)
	_, _ = buf.WriteString("\r\n")
	if !bodiless {
		_, _ = buf.Write(a.body)
	}
	_ = buf.Flush()
}

func compress(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body)
	_ = z.Close()
	return b.Bytes()
}

// bomb is a small gzip body that inflates to BombSize bytes of one JSON object.
var bomb = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		panic(err)
	}
	_, _ = z.Write([]byte(`{"metadata-location":"s3://b/m.json","metadata":{"x":"`))
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range BombSize / len(block) {
		_, _ = z.Write(block)
	}
	_, _ = z.Write([]byte(`"}}`))
	_ = z.Close()
	return b.Bytes()
})
