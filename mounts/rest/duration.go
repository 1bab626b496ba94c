package rest

import (
	"math"
	"regexp"
	"strconv"
	"time"
)

// iso8601 is a duration of days, hours, minutes and seconds, or of weeks. Years
// and months have no certain length.
var iso8601 = regexp.MustCompile(`^P(?:(\d{1,9})W|(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:[.,]\d{1,9})?)S)?)?)$`)

const maxLifetime = 366 * 24 * time.Hour

// lifetimeOf reads an ISO 8601 duration ("PT30M"), as Java's Duration writes
// them. It is no more than a year.
func lifetimeOf(text string) (time.Duration, bool) {
	parts := iso8601.FindStringSubmatch(text)
	if parts == nil || len(text) < 3 || text[len(text)-1] == 'T' {
		return 0, false
	}
	var seconds float64
	for i, unit := range []float64{7 * 24 * 3600, 24 * 3600, 3600, 60, 1} {
		if parts[i+1] == "" {
			continue
		}
		number := []byte(parts[i+1])
		for j := range number {
			if number[j] == ',' {
				number[j] = '.'
			}
		}
		n, err := strconv.ParseFloat(string(number), 64)
		if err != nil {
			return 0, false
		}
		seconds += n * unit
	}
	if seconds > maxLifetime.Seconds() {
		return maxLifetime, true
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), true
}
