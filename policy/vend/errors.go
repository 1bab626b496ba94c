package vend

import (
	"errors"
	"time"

	"github.com/icefield/icefield/mounts"
)

// sentences say to a client what happened and what to do. None repeats what the
// token service said: that names roles, accounts and requests.
var sentences = map[Reason]string{ // read only
	Denied:      "the token service of the store refused to give storage credentials for {object}; whoever runs this catalog has to look at the role, its trust and its policies",
	Throttled:   "the token service of the store was asked for credentials too often; try again later",
	Unreachable: "the token service of the store cannot be reached, so there are no storage credentials for {object}; try again later",
	Slow:        "the token service of the store did not answer in time, so there are no storage credentials for {object}; try again later",
	Busy:        "too many storage credentials are being made right now; try again later",
	TooLong:     "the location of {object} is too long for the policy that would bind its storage credentials",
	Login:       "there are no storage credentials for {object}, since this catalog's own login at the store does not work; whoever runs it has to look at that",
	Broken:      "the token service of the store gave an answer that holds no storage credentials of use for {object}",
}

// retryAfter is how long a client that is to try again waits, where the token
// service says nothing, and at most.
const (
	retryAfter    = 2 * time.Second
	maxRetryAfter = time.Minute
)

// failed is the error of an exchange that failed. Nothing was changed by it.
func failed(req mounts.Request, err error) *mounts.Error {
	var f *Failure
	if !errors.As(err, &f) {
		f = &Failure{Reason: Broken, Err: err}
	}
	e := &mounts.Error{Kind: mounts.BadGateway, Op: req.Op(), Ident: req.Object(), Msg: sentences[f.Reason], Answered: true, Err: err}
	switch f.Reason {
	case Throttled, Unreachable, Slow, Busy:
		e.Kind, e.RetryAfter = mounts.Unavailable, retryAfter
		if f.RetryAfter > 0 {
			e.RetryAfter = min(f.RetryAfter, maxRetryAfter)
		}
	}
	return e
}

// nothingMade adds to the error of an exchange before a change that the change
// was not made.
func nothingMade(err error, says string) error {
	e := *mounts.AsError(err)
	e.Msg += says
	return &e
}

// afterwards makes of the error of an exchange one that does not deny the change
// before it.
func afterwards(err error) error {
	e := *mounts.AsError(err)
	e.Kind, e.OutcomeUnknown, e.RetryAfter = mounts.BadGateway, true, 0
	e.Msg = "{object} was made, but " + e.Msg + "; load it to get them"
	return &e
}

// unreadable is the error of metadata that does not say where its table lies.
func unreadable(req mounts.Request, err error) error {
	return &mounts.Error{Kind: mounts.Internal, Op: req.Op(), Ident: req.Object(), Answered: true, Err: err,
		Msg: "the metadata of {object} does not say where it lies, so there are no storage credentials for it"}
}
