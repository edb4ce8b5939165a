package workload

import "golang.org/x/sys/unix"

// monotonic is the time on a clock that all processes of the machine share, in nanoseconds. It is also Go's.
func monotonic() (int64, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, err
	}
	return now.Nano(), nil
}
