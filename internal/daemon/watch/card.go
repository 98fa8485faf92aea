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

// Card is what a running daemon says of itself to programs of its user.
type Card struct {
	ID      string    `json:"id"` // its sessions are ID-1, ID-2 and so on
	PID     int       `json:"pid"`
	Name    string    `json:"name"` // of who started it, such as "Visual Studio Code"
	Started time.Time `json:"started"`
	Token   string    `json:"token"`
}

func (c Card) String() string { return fmt.Sprintf("%s (process %d)", c.Name, c.PID) }

const (
	cardSuffix, socketSuffix = ".json", ".sock"
	// maxPath is the longest path of a socket that every system takes, in bytes.
	maxPath = 103
	// settling is how long a socket without a card may be that of a daemon that begins.
	settling = time.Minute
)

func socketOf(folder, id string) string { return filepath.Join(folder, id+socketSuffix) }
func cardOf(folder, id string) string   { return filepath.Join(folder, id+cardSuffix) }

// List finds the daemons that run, oldest first, and removes what crashed ones left. A
// folder that does not exist has none.
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

// sweep removes a socket without a card that a daemon left which was killed in between.
func sweep(folder, id string, e fs.DirEntry) {
	if _, err := os.Stat(cardOf(folder, id)); err == nil {
		return
	}
	if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > settling && dead(folder, id) {
		remove(folder, id)
	}
}

// readCard reads a card. It is renamed into place, so it is whole.
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

// writeCard puts a card into the folder, as a whole.
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

// dead says whether nobody listens on a socket any more. One that cannot be asked is not.
func dead(folder, id string) bool {
	conn, err := net.DialTimeout("unix", socketOf(folder, id), time.Second)
	if err == nil {
		_ = conn.Close()
		return false
	}
	return errors.Is(err, fs.ErrNotExist) || refused(err)
}

// refused says whether an error of dialing means that nobody listens. Windows has a
// number of its own for it.
func refused(err error) bool {
	const wsaeconnrefused = syscall.Errno(10061)
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, wsaeconnrefused)
}

// remove takes away what a daemon left, as far as it is there.
func remove(folder, id string) {
	_ = os.Remove(cardOf(folder, id))
	_ = os.Remove(socketOf(folder, id))
}
