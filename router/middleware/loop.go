package middleware

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/icefield/icefield/mounts"
)

// ViaHeader lists the instances that a request came through, outermost first,
// separated by commas. An instance that calls a remote catalog appends its own
// id.
const ViaHeader = "X-Icefield-Via"

// maxHops is how many instances a request may have come through. A longer chain
// is taken for a loop through servers that do not keep their ids.
const maxHops = 8

const maxInstanceID = 128

// Loop refuses a request that came through this instance before, or through
// more than eight (kind Loop), and notes the others in the Call.
func Loop(fail Fail, instance string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lines := r.Header[ViaHeader]
		if len(lines) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		var via []string
		for _, line := range lines {
			for id := range strings.SplitSeq(line, ",") {
				if id = strings.TrimSpace(id); id == "" {
					continue
				}
				if instance != "" && id == instance {
					fail(w, r, &mounts.Error{Kind: mounts.Loop,
						Msg: "this request came through this server before: a mount leads back to it; fix that mount's catalog_url"})
					return
				}
				if len(id) > maxInstanceID || !onlyIDChars(id) {
					fail(w, r, &mounts.Error{Kind: mounts.BadRequest,
						Msg: "the header " + ViaHeader + " holds something that is not the id of an instance"})
					return
				}
				if via = append(via, id); len(via) > maxHops {
					fail(w, r, &mounts.Error{Kind: mounts.Loop,
						Msg: fmt.Sprintf("this request came through more than %d servers; a mount probably leads back to one of them", maxHops)})
					return
				}
			}
		}
		CallFrom(r.Context()).Via = via
		next.ServeHTTP(w, r)
	})
}
