// Command jepsen is the chaos harness's command line.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "jepsen: the chaos harness is not built yet; it arrives with the jepsen room")
	os.Exit(2)
}
