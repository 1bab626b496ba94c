package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// IdP is a token endpoint that does what a test wants. Without an answer it
// gives out "token-1", "token-2", each for an hour.
type IdP struct {
	*httptest.Server
	mu      sync.Mutex
	changed *sync.Cond
	asked   []Asked
	answer  func(Asked) Told
	closing chan struct{}
}

// Asked is one request to it.
type Asked struct {
	N          int // counted from 1
	Form       url.Values
	ID, Secret string // of HTTP Basic, decoded as RFC 6749 has it
	Bearer     string
	Header     http.Header
}

// Told is one answer of it.
type Told struct {
	Status int
	Header map[string]string
	Body   string
	// Hang answers when Release is closed, or never.
	Hang    bool
	Release chan struct{}
}

// NewIdP starts one.
func NewIdP(t testing.TB) *IdP {
	p := &IdP{closing: make(chan struct{})}
	p.changed = sync.NewCond(&p.mu)
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() { close(p.closing); p.Server.Close() })
	return p
}

// URL is the token endpoint.
func (p *IdP) URL() string { return p.Server.URL + "/token" }

// Answer replaces what is answered; nil is the healthy one.
func (p *IdP) Answer(f func(Asked) Told) { p.mu.Lock(); defer p.mu.Unlock(); p.answer = f }

// Count is how many requests came.
func (p *IdP) Count() int { p.mu.Lock(); defer p.mu.Unlock(); return len(p.asked) }

// Last is the newest request.
func (p *IdP) Last() Asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) == 0 {
		return Asked{}
	}
	return p.asked[len(p.asked)-1]
}

// Await waits until n requests came.
func (p *IdP) Await(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.asked) < n {
		p.changed.Wait()
	}
}

func (p *IdP) serve(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	a := Asked{Form: r.PostForm, Header: r.Header}
	if id, secret, ok := r.BasicAuth(); ok {
		a.ID, _ = url.QueryUnescape(id)
		a.Secret, _ = url.QueryUnescape(secret)
	}
	a.Bearer, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if strings.HasPrefix(a.Bearer, "Basic ") {
		a.Bearer = ""
	}
	p.mu.Lock()
	a.N = len(p.asked) + 1
	p.asked = append(p.asked, a)
	answer := p.answer
	p.changed.Broadcast()
	p.mu.Unlock()
	told := Issue(fmt.Sprintf("token-%d", a.N), 3600)
	if answer != nil {
		told = answer(a)
	}
	if told.Hang {
		select {
		case <-told.Release:
		case <-p.closing:
			return
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	for name, value := range told.Header {
		w.Header().Set(name, value)
	}
	if told.Status != 0 {
		w.WriteHeader(told.Status)
	}
	_, _ = w.Write([]byte(told.Body))
}

// Issue is an answer with a token; without a lifetime if that is 0.
func Issue(token string, expiresIn int) Told {
	body := map[string]any{"access_token": token, "token_type": "Bearer", "issued_token_type": accessTokenType}
	if expiresIn != 0 {
		body["expires_in"] = expiresIn
	}
	raw, _ := json.Marshal(body)
	return Told{Status: 200, Body: string(raw)}
}

// Refuse is an error of RFC 6749.
func Refuse(status int, code string) Told {
	raw, _ := json.Marshal(map[string]string{"error": code, "error_description": "because"})
	return Told{Status: status, Body: string(raw)}
}
