package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/protocol/jsonrpc"
)

// Reasons why following a daemon ended.
var (
	// ErrEnded reports that the daemon ended cleanly.
	ErrEnded = errors.New("the daemon ended")
	// ErrOff reports that the user no longer allows watchers.
	ErrOff = errors.New("agentvoice.privacy.watch was switched off")
	// ErrCrashed reports that the daemon did not end cleanly.
	ErrCrashed = errors.New("the daemon crashed or was killed")
)

// Client follows one daemon.
type Client struct {
	folder string
	card   Card
	conn   net.Conn
	stream *jsonrpc.Stream
	last   protocol.ErrorCode // the code with which the daemon announced the disconnect
	// Snapshot is the state that the messages from Next continue from.
	Snapshot protocol.Snapshot
}

// Message is a notification of a daemon.
type Message struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// Dial follows a daemon. The error is a *jsonrpc2.Error if the daemon refuses.
func Dial(ctx context.Context, folder string, card Card, follow protocol.WatchParams) (*Client, error) {
	ctx, stop := context.WithTimeout(ctx, helloMax)
	defer stop()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socketOf(folder, card.ID))
	switch {
	case err != nil && (refused(err) || errors.Is(err, fs.ErrNotExist)):
		return nil, fmt.Errorf("%v: %w", card, ErrEnded) // it ended after it was listed
	case err != nil:
		return nil, fmt.Errorf("connect to %v: %w", card, err)
	}
	c := &Client{folder: folder, card: card, conn: conn}
	c.stream = jsonrpc.NewStream(conn, conn, nil)
	late := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer late()
	follow.Token = card.Token
	if err := c.open(follow); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

// open sends initialize and reads its answer.
func (c *Client) open(follow protocol.WatchParams) error {
	r := &jsonrpc2.Request{Method: protocol.MethodInitialize, ID: jsonrpc2.ID{Num: 1}}
	err := r.SetParams(protocol.InitializeParams{
		ClientInfo: protocol.ClientInfo{Name: "watch"}, ProtocolVersion: protocol.Version, Watch: follow,
	})
	if err == nil {
		err = c.stream.WriteObject(r)
	}
	var answer jsonrpc2.Response
	if err == nil {
		err = c.stream.ReadObject(&answer)
	}
	switch {
	case err != nil:
		return fmt.Errorf("connect to %v: %w; it may have too many watchers", c.card, c.ended(err))
	case answer.Error != nil:
		return answer.Error
	}
	var result protocol.InitializeResult
	if err := json.Unmarshal(*answer.Result, &result); err != nil {
		return fmt.Errorf("%v answers in another way than expected; update both programs: %w", c.card, err)
	}
	c.Snapshot = result.Snapshot
	return nil
}

// Next waits for the next notification. The error is ErrEnded, ErrOff or ErrCrashed.
func (c *Client) Next() (Message, error) {
	var m Message
	if err := c.stream.ReadObject(&m); err != nil {
		return m, c.ended(err)
	}
	if m.Method == protocol.NotifyNotification {
		var p protocol.NotificationParams
		if err := json.Unmarshal(m.Params, &p); err == nil {
			c.last = p.Code
		}
	}
	return m, nil
}

// ended determines how a connection ended. A daemon that ends cleanly says so, and
// removes its card before it hangs up, so even a watcher too slow to receive the
// message can tell. The system closes the files of a killed process one by one, so its
// socket may exist for a moment longer.
func (c *Client) ended(err error) error {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
		return err // closed or timed out on this side
	}
	switch c.last {
	case protocol.CodeShuttingDown:
		return ErrEnded
	case protocol.CodeWatchRefused:
		return ErrOff
	}
	for late := time.Now().Add(time.Second); time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
		if _, missing := os.Stat(cardOf(c.folder, c.card.ID)); errors.Is(missing, fs.ErrNotExist) {
			return ErrEnded
		}
		if dead(c.folder, c.card.ID) {
			return ErrCrashed // the card stays for other watchers, until the next List
		}
	}
	return fmt.Errorf("%v hung up: %w", c.card, err)
}

// Close stops following. It ends a pending Next.
func (c *Client) Close() error { return c.conn.Close() }

// SetDeadline sets the deadline for Next.
func (c *Client) SetDeadline(t time.Time) error { return c.conn.SetReadDeadline(t) }
