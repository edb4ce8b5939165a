// Command leasehold is the one binary: nodes, development clusters and administration.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "leasehold: no commands yet")
	os.Exit(2)
}
