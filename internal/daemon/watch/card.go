package watch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Card is the information that a running daemon publishes to programs of the same user.
type Card struct {
	ID      string    `json:"id"` // its sessions are ID-1, ID-2 and so on
	PID     int       `json:"pid"`
	Name    string    `json:"name"` // of the client that started it, such as "Visual Studio Code"
	Started time.Time `json:"started"`
	Token   string    `json:"token"`
}

func (c Card) String() string { return fmt.Sprintf("%s (process %d)", c.Name, c.PID) }

const (
	cardSuffix, socketSuffix = ".json", ".sock"
	// maxPath is the longest socket path, in bytes, that all systems accept.
	maxPath = 103
	// settling is how long a socket without a card may belong to a daemon that is
	// starting.
	settling = time.Minute
)

func socketOf(folder, id string) string { return filepath.Join(folder, id+socketSuffix) }
func cardOf(folder, id string) string   { return filepath.Join(folder, id+cardSuffix) }

// List returns the running daemons, oldest first, and removes the files of crashed
// ones. A missing folder counts as empty.
func List(folder string) ([]Card, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list running daemons: %w", err)
	}
	var list []Card
	for _, e := range entries {
		id, isSocket := strings.CutSuffix(e.Name(), socketSuffix)
		if isSocket {
			sweep(folder, id, e)
			continue
		}
		id, isCard := strings.CutSuffix(e.Name(), cardSuffix)
		if !isCard {
			continue
		}
		card, err := readCard(folder, id)
		if err != nil || dead(folder, id) {
			remove(folder, id)
			continue
		}
		list = append(list, card)
	}
	slices.SortFunc(list, func(a, b Card) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// sweep removes a socket whose daemon was killed before it wrote its card.
func sweep(folder, id string, e fs.DirEntry) {
	if _, err := os.Stat(cardOf(folder, id)); err == nil {
		return
	}
	if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > settling && dead(folder, id) {
		remove(folder, id)
	}
}

// readCard reads a card. Cards are renamed into place, so they are complete.
func readCard(folder, id string) (card Card, err error) {
	b, err := os.ReadFile(cardOf(folder, id))
	if err != nil {
		return card, err
	}
	err = json.Unmarshal(b, &card)
	if err == nil && card.ID != id {
		err = errors.New("the card is that of another daemon")
	}
	return card, err
}

// writeCard writes a card atomically.
func writeCard(folder string, card Card) error {
	b, err := json.Marshal(card)
	if err != nil {
		return err
	}
	begun := filepath.Join(folder, card.ID+".new")
	if err := os.WriteFile(begun, b, 0o600); err != nil {
		return err
	}
	if err := os.Rename(begun, cardOf(folder, card.ID)); err != nil {
		return errors.Join(err, os.Remove(begun))
	}
	return nil
}

// dead reports whether nothing listens on a socket any more. A socket that cannot be
// probed counts as alive.
func dead(folder, id string) bool {
	conn, err := net.DialTimeout("unix", socketOf(folder, id), time.Second)
	if err == nil {
		_ = conn.Close()
		return false
	}
	return errors.Is(err, fs.ErrNotExist) || refused(err)
}

// refused reports whether a dial error means that nothing listens. Windows has its own
// error number for that.
func refused(err error) bool {
	const wsaeconnrefused = syscall.Errno(10061)
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, wsaeconnrefused)
}

// remove deletes a daemon's files that still exist.
func remove(folder, id string) {
	_ = os.Remove(cardOf(folder, id))
	_ = os.Remove(socketOf(folder, id))
}
