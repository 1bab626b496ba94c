package authn

import (
	"crypto/rand"
	"math/big"
	"strings"
)

// keyDigits is how many digits of base 62 hold 32 bytes.
const keyDigits = 43

// NewKey makes an API key of 32 random bytes: "icf_", the name, which must be fit
// for a key, and 43 letters and digits.
func NewKey(name string) string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	digits := new(big.Int).SetBytes(raw).Text(62)
	return KeyPrefix + name + "_" + strings.Repeat("0", keyDigits-len(digits)) + digits
}
