package testbed

// choosePlace makes the network and the disks of the strongest mode that is wanted and there.
func (t *Testbed) choosePlace() (err error) {
	t.mode, t.why = Proxy, ""
	t.disks = folders{t.mode}
	t.net, err = newProxies(t.order, t.options.BasePort)
	return err
}
