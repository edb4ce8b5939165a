// Command candidate is one process that wants to lead, as operators do it: client-go's leader election with a LeaseLock
// and client-go's default times. It prints a line when it begins to lead and when it stops.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file")
	at := flag.String("context", "", "which node to speak to")
	id := flag.String("id", "", "holder identity")
	name := flag.String("lease", "", "name of the Lease, in namespace elections")
	flag.Parse()
	if err := run(*kubeconfig, *at, *id, *name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, at, id, name string) error {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: at},
	).ClientConfig()
	if err != nil {
		return err
	}
	client, err := coordination.NewForConfig(config)
	if err != nil {
		return err
	}
	leaderelection.RunOrDie(context.Background(), leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "elections", Name: name},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: id},
		},
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { fmt.Println("leading") },
			OnStoppedLeading: func() { fmt.Println("lost") },
			OnNewLeader:      func(leader string) { fmt.Println("sees", leader) },
		},
	})
	return nil
}
