package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/icefield/icefield/mounts"
)

func TestKnownMetadataIsFoundWithoutBeingScanned(t *testing.T) {
	known := json.RawMessage(`{"format-version":2,"a":[1,2]}`)
	head, tail := `{"metadata-location":"l", "metadata" : `, ` ,"config":{"s3.region":"eu"}}`
	for _, c := range []struct {
		body string
		same bool
		ok   bool
	}{
		{head + string(known) + tail, true, true},
		{head + `{"format-version":2,"a":[1,3]}` + tail, false, true},
		{head + `{"format-version":2,"a":[1,2],"b":1}` + tail, false, true},
		{head + string(known) + `x` + tail, true, false},
		{head + string(known), true, false},
		{head + string(known)[:20], false, false},
	} {
		l, err := readKnowing([]byte(c.body), known)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.body, err)
		}
		if err == nil && (same(l.metadata, known) != c.same || l.location != "l" || l.config["s3.region"] != "eu") {
			t.Errorf("%s: %+v", c.body, l)
		}
		plain, plainErr := readKnowing([]byte(c.body), nil)
		if (plainErr == nil) != (err == nil) || err == nil && !bytes.Equal(plain.metadata, l.metadata) {
			t.Errorf("%s: read otherwise when nothing is known: %v", c.body, plainErr)
		}
	}
}

func TestTheMemoRemembersTheLastUpToItsSize(t *testing.T) {
	const each = 1000
	m := newMemo(10 * (each + perMemory + 2))
	doc := func(i int) json.RawMessage { return json.RawMessage(strings.Repeat(strconv.Itoa(i%10), each)) }
	for i := range 100 {
		m.remember(strconv.Itoa(i), doc(i), false)
		m.remember(strconv.Itoa(i), doc(i), false)
		if m.recall("0") == nil {
			t.Fatalf("what is used all the time is gone after %d", i)
		}
		if m.bytes > m.max {
			t.Fatalf("%d bytes remembered", m.bytes)
		}
	}
	if m.byURL.Len() < 9 || m.recall("99") == nil || m.recall("50") != nil {
		t.Errorf("%d documents remembered", m.byURL.Len())
	}
	m.remember("endless", make(json.RawMessage, m.max), false)
	if m.recall("endless") != nil || m.byURL.Len() < 9 {
		t.Error("a document that is too large took the place of others")
	}
	var none *memo
	none.remember("x", doc(1), false)
	if none.recall("x") != nil {
		t.Error("no memo remembers")
	}
}

func TestASecretAroundMetadataIsNotRememberedWithIt(t *testing.T) {
	body := []byte(`{"metadata":{"a":1},"storage-credentials":"hush"}`)
	m := newMemo(1 << 20)
	m.remember("u", json.RawMessage(body[12:19]), true)
	kept := m.recall("u")
	if string(kept) != `{"a":1}` || same(kept, body[12:19]) {
		t.Errorf("kept %s", kept)
	}
}

// Whoever keeps the metadata would keep the whole answer with it.
func TestMetadataLeavesABodyThatIsMostlySomethingElse(t *testing.T) {
	junk := strings.Repeat("x", 10_000)
	body := []byte(`{"metadata-location":"l","metadata":{"a":1},"x":[1],"config":{"junk":"` + junk + `"}}`)
	l, err := readKnowing(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.detach(len(body))
	for i := range body {
		body[i] = '?'
	}
	if string(l.metadata) != `{"a":1}` || string(l.extra["x"]) != "[1]" {
		t.Errorf("still part of the body: %s %s", l.metadata, l.extra["x"])
	}
}

func zipped(t *testing.T, data []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(data); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAnswersOfEverySizeAreReadWholeAndCountedUntilTheirClientIsAnswered(t *testing.T) {
	for _, size := range []int{0, 1, 1400, 32 << 10, firstBuffer - 1, firstBuffer, firstBuffer + 1, 5<<20 + 3} {
		want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		for name, resp := range map[string]*http.Response{
			"declared": {ContentLength: int64(size), Body: io.NopCloser(iotest.HalfReader(bytes.NewReader(want))), Header: http.Header{}},
			"unknown":  {ContentLength: -1, Body: io.NopCloser(bytes.NewReader(want)), Header: http.Header{}},
			"gzip":     {ContentLength: -1, Body: io.NopCloser(bytes.NewReader(zipped(t, want))), Header: http.Header{"Content-Encoding": {"gzip"}}},
		} {
			r := reader{memory: mounts.NewMemory(64 << 20)}
			scope := &mounts.Scope{}
			ctx := mounts.WithCaller(t.Context(), mounts.Caller{Scope: scope})
			got, err := r.read(ctx, resp, 8<<20, true)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %d bytes: %d, %v", name, size, len(got), err)
			}
			if held := r.memory.Held(); held < int64(cap(got)) || held > 4*int64(size)+64<<10 {
				t.Errorf("%s, %d bytes: %d counted", name, size, held)
			}
			scope.End()
			if held := r.memory.Held(); held != 0 {
				t.Errorf("%s, %d bytes: %d counted at last", name, size, held)
			}
		}
	}
}

func TestALengthThatIsOnlyPromisedCostsLittle(t *testing.T) {
	r := reader{memory: mounts.NewMemory(1 << 30)}
	resp := &http.Response{ContentLength: 200 << 20, Body: io.NopCloser(strings.NewReader("x")), Header: http.Header{}}
	counted := int64(0)
	_, err := r.whole(resp, 256<<20, func(n int) error { counted += int64(n); return nil })
	if !errors.Is(err, io.ErrUnexpectedEOF) || counted > firstBuffer {
		t.Errorf("%v, %d bytes counted", err, counted)
	}
}

func TestWithoutRoomAReadIsTurnedAwayAndAChangeIsRead(t *testing.T) {
	memory := mounts.NewMemory(1000)
	full := memory.Claim()
	if err := full.Grow(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	r := reader{memory: memory}
	const size = smallAnswer + 1
	answer := func() *http.Response {
		return &http.Response{ContentLength: size, Body: io.NopCloser(strings.NewReader(strings.Repeat("x", size))), Header: http.Header{}}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := r.read(ctx, answer(), 1<<20, true)
	e := mounts.AsError(noRoom(err))
	if !errors.Is(err, mounts.Unavailable) || e.RetryAfter <= 0 || !e.Answered {
		t.Errorf("%v: %+v", err, e)
	}
	if body, err := r.read(ctx, answer(), 1<<20, false); err != nil || len(body) != size {
		t.Errorf("the answer to a change: %d bytes, %v", len(body), err)
	}
}

// Slow clients with large answers must not close every mount: neither to health
// checks and settings, nor to the listings of others.
func TestWithoutRoomSmallAnswersAreReadNevertheless(t *testing.T) {
	memory := mounts.NewMemory(1 << 20)
	full := memory.Claim()
	if err := full.Grow(t.Context(), 1<<20); err != nil {
		t.Fatal(err)
	}
	r := reader{memory: memory}
	large := make([]byte, 0, keptBuffer)
	for name, zip := range map[string]bool{"as it is": false, "zipped": true} {
		for _, size := range []int{0, 1, 33 << 10, smallAnswer - 1} {
			r.scratch.Put(&large) // as after the answer of a listing
			data, header := bytes.Repeat([]byte("x"), size), http.Header{}
			if zip {
				data, header = zipped(t, data), http.Header{"Content-Encoding": {"gzip"}}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			body, err := r.read(ctx, &http.Response{ContentLength: -1, Body: io.NopCloser(bytes.NewReader(data)), Header: header}, 1<<20, true)
			cancel()
			if err != nil || len(body) != size {
				t.Errorf("%d bytes %s: %d read, %v", size, name, len(body), err)
			}
		}
	}
	full.Release()
	if held := memory.Held(); held != 0 {
		t.Errorf("%d bytes are counted at last", held)
	}
}
