//go:build !linux

package workload

import "errors"

func monotonic() (int64, error) {
	return 0, errors.New("electors in processes of their own need Linux, where they share a clock with the harness")
}
