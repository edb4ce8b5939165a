// Command manager is one replica of an operator: a controller-runtime manager that works only while it leads. Its work
// is Leases in namespace jobs: it takes each that nobody holds, and never touches it again. It prints a line when it
// stands by and when it leads.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file")
	at := flag.String("context", "", "which node to speak to")
	id := flag.String("id", "", "who takes jobs")
	lease := flag.String("lease", "", "name of the Lease, in namespace elections")
	duration := flag.Duration("lease-duration", 15*time.Second, "after which others may take the lead")
	flag.Parse()
	if err := run(*kubeconfig, *at, *id, *lease, *duration); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, at, id, lease string, duration time.Duration) error {
	log.SetLogger(logr.Discard())
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: at},
	).ClientConfig()
	if err != nil {
		return err
	}
	renewDeadline := duration * 2 / 3
	m, err := manager.New(config, manager.Options{
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{"jobs": {}}},
		LeaderElection:                true,
		LeaderElectionConfig:          config,
		LeaderElectionNamespace:       "elections",
		LeaderElectionID:              lease,
		LeaderElectionReleaseOnCancel: true, // main returns when the manager does
		LeaseDuration:                 &duration,
		RenewDeadline:                 &renewDeadline,
		Metrics:                       server.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	if err := m.Add(standby{}); err != nil {
		return err
	}
	if err := builder.ControllerManagedBy(m).For(&coordinationv1.Lease{}).Complete(worker{m.GetClient(), id}); err != nil {
		return err
	}
	ctx := signals.SetupSignalHandler()
	go func() {
		<-m.Elected()
		fmt.Println("leading")
	}()
	return m.Start(ctx)
}

// standby runs on every replica.
type standby struct{}

func (standby) NeedLeaderElection() bool { return false }

func (standby) Start(context.Context) error {
	fmt.Println("standing by")
	return nil
}

// worker runs on the leader.
type worker struct {
	client.Client
	id string
}

func (w worker) Reconcile(ctx context.Context, job reconcile.Request) (reconcile.Result, error) {
	var lease coordinationv1.Lease
	if err := w.Get(ctx, job.NamespacedName, &lease); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if lease.Spec.HolderIdentity != nil {
		return reconcile.Result{}, nil
	}
	lease.Spec.HolderIdentity = &w.id
	return reconcile.Result{}, w.Update(ctx, &lease)
}
