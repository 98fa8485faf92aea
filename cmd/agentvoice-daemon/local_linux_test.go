//go:build cgo

package main

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// TestLocalConversationStaysLocal: a conversation with the local engines opens no
// connection to another machine, asks no proxy for one, and leaves no file in the user's
// cache (docs/privacy.md). The runtime of the models did all three.
//
//test:long
func TestLocalConversationStaysLocal(t *testing.T) {
	for _, voice := range []string{"fast", "natural"} {
		t.Run(voice, func(t *testing.T) { stayLocal(t, voice) })
	}
}

func stayLocal(t *testing.T, voice string) {
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close() //nolint:errcheck // nothing is written to it
	var asked atomic.Int32
	go func() {
		for {
			c, err := proxy.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			_ = c.Close()
		}
	}()

	silero, err := assets.Silero()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(os.Args[0], "talk", "--audio-in", "wav:"+filepath.Join("..", "..", "internal", "tools", "recording", "questions", "current-branch.wav"),
		"--audio-out", "null", "--set", "agentvoice.voice.engine="+voice)
	cmd.Args[0] = "agentvoice-daemon"
	at := "http://" + proxy.Addr().String()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "AGENTVOICE_ASSETS="+filepath.Dir(silero),
		assets.RecordEnv+"="+filepath.Join(home, "record"), assets.WatchEnv+"="+filepath.Join(home, "watch"),
		"HTTP_PROXY="+at, "HTTPS_PROXY="+at, "http_proxy="+at, "https_proxy="+at, "ALL_PROXY="+at)
	out := filepath.Join(home, "out")
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = f, f
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	remote := map[string]bool{}
	for ended := false; !ended; {
		select {
		case err := <-done:
			if ended = true; err != nil {
				text, _ := os.ReadFile(out)
				t.Fatalf("talk: %v\n%s", err, text)
			}
		case <-time.After(20 * time.Millisecond):
			for _, pid := range familyOf(cmd.Process.Pid) {
				for _, addr := range remotes(pid) {
					remote[addr] = true
				}
			}
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the proxy was asked for %d connections", n)
	}
	for addr := range remote {
		t.Errorf("a connection to %s was opened", addr)
	}
	entries, err := os.ReadDir(filepath.Join(home, "cache"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "agentvoice" {
			t.Errorf("the folder %s was made in the user's cache", e.Name())
		}
	}
}

// familyOf returns a process and its descendants.
func familyOf(root int) []int {
	all := []int{root}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for grew := true; grew; {
		grew = false
		for _, stat := range stats {
			text, err := os.ReadFile(stat)
			if err != nil {
				continue // it has ended
			}
			_, rest, _ := strings.Cut(string(text), ") ")
			fields := strings.Fields(rest)
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			if len(fields) < 2 || slices.Contains(all, pid) {
				continue
			}
			if parent, _ := strconv.Atoi(fields[1]); slices.Contains(all, parent) {
				all, grew = append(all, pid), true
			}
		}
	}
	return all
}

// remotes returns the addresses outside of this machine that a process is connected to.
func remotes(pid int) (out []string) {
	own := map[string]bool{}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		to, _ := os.Readlink(link)
		if inode, socket := strings.CutPrefix(to, "socket:["); socket {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	for _, kind := range []string{"tcp", "tcp6", "udp", "udp6"} {
		table, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, kind))
		for line := range strings.Lines(string(table)) {
			f := strings.Fields(line)
			if len(f) < 10 || !own[f[9]] {
				continue
			}
			host, _, _ := strings.Cut(f[2], ":")
			ip, err := hex.DecodeString(host)
			if err != nil {
				continue
			}
			for i := 0; i < len(ip); i += 4 { // each word is in the byte order of the machine
				slices.Reverse(ip[i : i+4])
			}
			if addr := net.IP(ip); !addr.IsUnspecified() && !addr.IsLoopback() {
				out = append(out, kind+" "+addr.String())
			}
		}
	}
	return out
}
