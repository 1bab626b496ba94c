//go:build peers

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of a process's times in /proc (USER_HZ, 100 on every Linux).
const tick = time.Second / 100

// cpu is the processor time that a process and its children have used, in the
// kernel and outside. It is 0 where there is no /proc. Unlike a rate it hardly
// depends on what else the machine is doing.
func cpu(pid int) time.Duration {
	var used time.Duration
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended in between
		}
		// The name, in parentheses, may hold anything; the third field follows it.
		id, rest, _ := strings.Cut(string(text), " ")
		fields := strings.Fields(rest[strings.LastIndexByte(rest, ')')+1:])
		if len(fields) < 13 || id != strconv.Itoa(pid) && fields[1] != strconv.Itoa(pid) {
			continue
		}
		var user, system time.Duration
		if _, err := fmt.Sscan(fields[11], (*int64)(&user)); err != nil {
			continue
		}
		if _, err := fmt.Sscan(fields[12], (*int64)(&system)); err != nil {
			continue
		}
		used += (user + system) * tick
	}
	return used
}
