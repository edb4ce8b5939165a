package testbed

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// images are disks that are files with a filesystem in them, mounted where no other process sees them. What the filesystem
// has not been told to keep is in memory alone, and shutting it down without its journal loses just that.
type images struct {
	disks map[*node]*image
}

// image is one node's disk.
type image struct {
	file, mount string

	mu      sync.Mutex // guards what follows
	mounted bool
	full    bool
}

// newImages makes a disk of so many bytes for each node, with what is in the node's data directory already.
func newImages(nodes []*node, size int64) (disks, error) {
	s := &images{disks: map[*node]*image{}}
	for _, n := range nodes {
		disk := &image{file: filepath.Join(n.dir, "disk.img"), mount: filepath.Join(n.dir, "disk")}
		s.disks[n] = disk
		if err := disk.make(size); err != nil {
			return nil, errors.Join(fmt.Errorf("disk of %s: %w", n.id, err), s.close())
		}
		on := filepath.Join(disk.mount, "data")
		if err := copyTree(on, n.data()); err != nil {
			return nil, errors.Join(fmt.Errorf("disk of %s: %w", n.id, err), s.close())
		}
		n.mounted = on
	}
	return s, nil
}

func (s *images) supports(nemesis.Capability) error { return nil }

func (s *images) losePower(nodes []*node) error {
	var faults []error
	for _, n := range nodes {
		faults = append(faults, s.disks[n].shutDown())
	}
	for _, n := range nodes {
		faults = append(faults, s.disks[n].remount())
	}
	return errors.Join(faults...)
}

func (s *images) fill(n *node, full bool) error {
	disk := s.disks[n]
	disk.mu.Lock()
	defer disk.mu.Unlock()
	disk.full = full
	if err := disk.settle(); err != nil {
		return fmt.Errorf("fill the disk of %s: %w", n.id, err)
	}
	return nil
}

// close copies what is on the disks to plain directories, and removes the disks.
func (s *images) close() error {
	var faults []error
	for n, disk := range s.disks {
		if n.mounted != "" {
			n.mounted = ""
			faults = append(faults, empty(n.data()), copyTree(n.data(), filepath.Join(disk.mount, "data")))
		}
		faults = append(faults, disk.remove())
	}
	return errors.Join(faults...)
}

func (i *image) make(size int64) error {
	if err := os.MkdirAll(i.mount, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(i.file, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(i.file, size); err != nil {
		return err
	}
	// Nothing is kept back for root, which is who runs here.
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", "-m", "0", i.file).CombinedOutput(); err != nil {
		return fmt.Errorf("mkfs.ext4: %w: %s", err, bytes.TrimSpace(out))
	}
	return i.attach()
}

func (i *image) attach() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := mountImage(i.file, i.mount); err != nil {
		return err
	}
	i.mounted = true
	return i.settle()
}

func (i *image) detach() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.mounted {
		return nil
	}
	if err := unmount(i.mount); err != nil {
		return err
	}
	i.mounted = false
	return nil
}

// remove takes away all that make has made, so far as it has.
func (i *image) remove() error {
	if err := i.detach(); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(i.file), os.RemoveAll(i.mount))
}

// noLogFlush is what shuts a filesystem down as a loss of power does: nothing more is written, not even the journal.
const (
	shutDownRequest = 0x8004587d // EXT4_IOC_SHUTDOWN
	noLogFlush      = 2
)

func (i *image) shutDown() error {
	root, err := os.Open(i.mount)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := unix.IoctlSetPointerInt(int(root.Fd()), shutDownRequest, noLogFlush); err != nil {
		return fmt.Errorf("shut down the filesystem on %s: %w", i.mount, err)
	}
	return nil
}

func (i *image) remount() error {
	if err := i.detach(); err != nil {
		return err
	}
	return i.attach()
}

// settle fills the disk or gives the space back, as full says. mu is held.
func (i *image) settle() error {
	ballast := filepath.Join(i.mount, "ballast")
	if !i.full {
		if err := os.Remove(ballast); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	file, err := os.OpenFile(ballast, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	end := info.Size()
	for piece := int64(16 << 20); piece >= 4<<10; {
		switch err := unix.Fallocate(int(file.Fd()), 0, end, piece); {
		case err == nil:
			end += piece
		case errors.Is(err, unix.ENOSPC):
			piece /= 2
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("take space: %w", err)
		}
	}
	return file.Sync()
}

// mountImage mounts a file that holds a filesystem, through a loop device that goes when it is unmounted.
func mountImage(file, target string) error {
	backing, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer backing.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer control.Close()
	for range 100 { // others look for a free device at the same time
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return fmt.Errorf("find a loop device: %w", err)
		}
		device := fmt.Sprintf("/dev/loop%d", number)
		loop, err := os.OpenFile(device, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		config := unix.LoopConfig{Fd: uint32(backing.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}}
		err = unix.IoctlLoopConfigure(int(loop.Fd()), &config)
		if errors.Is(err, unix.EBUSY) {
			loop.Close()
			continue
		}
		if err == nil {
			err = unix.Mount(device, target, "ext4", unix.MS_NOATIME, "")
		}
		loop.Close() // the mount holds it now; without one it is free again
		if err != nil {
			return fmt.Errorf("mount %s by %s: %w", file, device, err)
		}
		return nil
	}
	return fmt.Errorf("mount %s: no loop device is free", file)
}

// unmount waits a little for who still has files open there, as a process does that was just killed.
func unmount(target string) error {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	var err error
	for range 500 {
		if err = unix.Unmount(target, 0); !errors.Is(err, unix.EBUSY) {
			break
		}
		<-look.C
	}
	if err != nil {
		return fmt.Errorf("unmount %s: %w", target, err)
	}
	return nil
}

// rehearseDisk makes a disk below dir, has it lose power, and removes it.
func rehearseDisk(dir string) error {
	disk := &image{file: filepath.Join(dir, "disk.img"), mount: filepath.Join(dir, "disk")}
	if err := disk.make(16 << 20); err != nil {
		return errors.Join(err, disk.remove())
	}
	return errors.Join(disk.shutDown(), disk.remove())
}
