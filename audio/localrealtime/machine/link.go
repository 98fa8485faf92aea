package machine

// Link is the state of the connection to the client.
type Link uint8

// The states of the link. Torn is absorbing.
const (
	Connecting Link = iota
	Open
	Ending // sends the reason to the client, and nothing else
	Torn
	liveLink
)

func (l Link) String() string {
	return [...]string{"connecting", "open", "ending", "torn", "live"}[l]
}

// Over reports whether all parts of the call have ended.
func (l Link) Over() bool { return l == Ending || l == Torn }

// Carries reports whether events can be sent to the client.
func (l Link) Carries() bool { return l == Open || l == Ending }

var linkParents = map[Link]Link{Connecting: liveLink, Open: liveLink, Ending: liveLink}

func linkRows() []line[Link] {
	hangUp := act(HangUp)
	return []line[Link]{
		row(Connecting, Opened, always{}, Open, Taken, act(Greet)),
		row(Connecting, ConnectTimeout, always{}, Torn, Taken, hangUp),
		row(Connecting, Expired, always{}, Torn, Taken, hangUp),
		row(Connecting, Fault, always{}, Torn, Taken, hangUp),
		row(Open, Expired, always{}, Ending, Taken, does(act(TellExpired), act(HangUpWhenSent))),
		row(Open, Fault, always{}, Ending, Taken, does(act(TellFault), act(HangUpWhenSent))),
		row(liveLink, HungUp, always{}, Torn, Taken, hangUp),
	}
}

// act returns an action without an id.
func act(d Do) func(*run) { return func(r *run) { r.emit(d, 0) } }

// link gives an input to the link. If the link ends, its inner parts end first.
func (r *run) link(on Kind) Outcome {
	row := r.t.link.Choose(r.Link, on, r)
	if row == nil {
		return Stale
	}
	if was := r.Link; !was.Over() && row.To.Over() {
		r.shut()
	}
	r.Link = row.Next(r.Link)
	row.Do(r)
	return row.Means
}
