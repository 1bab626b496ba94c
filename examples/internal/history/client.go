package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// result is what a client knows after a call.
type result int

const (
	applied  result = iota + 1 // answered with success
	refused                    // answered that nothing was done, and why
	rejected                   // answered that nothing was done, for no reason of the catalog's state (503)
	unknown                    // sent, and no answer says what became of it
	notSent                    // no connection
)

// answer is one answer of a server.
type answer struct {
	result  result
	status  int
	kind    string // of the error
	message string
	body    []byte
}

// caller sends requests to the replicas, each to one of them.
type caller struct {
	servers []string
	prefix  string
	client  *http.Client
}

func newCaller(servers []string, prefix string) *caller {
	return &caller{servers: servers, prefix: prefix, client: &http.Client{
		Timeout:   60 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}}
}

// call sends one request to a replica. Answers that nobody could give are
// failures, with the answer in their text.
func (c *caller) call(replica int, method, path, key string, body any) (answer, error) {
	var payload io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		payload = bytes.NewReader(text)
	}
	target := c.servers[replica] + "/v1"
	if c.prefix != "" {
		target += "/" + c.prefix
	}
	request, err := http.NewRequest(method, target+path, payload)
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return answer{result: lost(err)}, nil
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode}
	if a.body, err = io.ReadAll(response.Body); err != nil {
		a.result = unknown
		return a, nil
	}
	return a.judge(method + " " + path)
}

// lost tells a request that no server has seen from one whose answer is missing.
func lost(err error) result {
	var broken *net.OpError
	if errors.As(err, &broken) && broken.Op == "dial" {
		return notSent
	}
	return unknown
}

func (a answer) judge(request string) (answer, error) {
	if a.status == http.StatusOK || a.status == http.StatusNoContent {
		a.result = applied
		return a, nil
	}
	var failure struct {
		Error struct {
			Message, Type string
			Code          int
		}
	}
	if err := json.Unmarshal(a.body, &failure); err != nil || failure.Error.Code != a.status {
		return a, errors.New(request + ": an error that is not of the protocol: " + string(a.body))
	}
	a.kind, a.message = failure.Error.Type, failure.Error.Message
	switch a.status {
	case http.StatusNotFound, http.StatusConflict:
		a.result = refused
	case http.StatusServiceUnavailable:
		a.result = rejected
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		a.result = unknown
	default:
		return a, errors.New(request + ": " + http.StatusText(a.status) + ": " + a.message)
	}
	return a, nil
}

// requirementFailed reports a conflict that says something of the state.
func (a answer) requirementFailed() bool {
	return a.status == http.StatusConflict && strings.HasPrefix(a.message, "Requirement failed")
}

func tablePath(namespace, table string) string {
	return "/namespaces/" + url.PathEscape(namespace) + "/tables/" + url.PathEscape(table)
}

// table is what a client reads of a table.
type table struct {
	Location string `json:"metadata-location"`
	Metadata struct {
		Location  string `json:"location"`
		Current   *int64 `json:"current-snapshot-id"`
		Sequence  int64  `json:"last-sequence-number"`
		Snapshots []struct {
			ID     int64  `json:"snapshot-id"`
			Parent *int64 `json:"parent-snapshot-id"`
		} `json:"snapshots"`
		Log []struct {
			ID int64 `json:"snapshot-id"`
		} `json:"snapshot-log"`
	} `json:"metadata"`
}

// current is the main branch's snapshot, 0 for none.
func (t *table) current() int64 {
	if t.Metadata.Current == nil || *t.Metadata.Current < 0 {
		return 0
	}
	return *t.Metadata.Current
}
