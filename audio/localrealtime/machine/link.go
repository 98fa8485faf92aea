package machine

// Link is the state of the way to the client.
type Link uint8

// The states of the link. Torn is absorbing.
const (
	Connecting Link = iota
	Open
	Ending // the client is told why, and nothing else any more
	Torn
	liveLink
)

func (l Link) String() string {
	return [...]string{"connecting", "open", "ending", "torn", "live"}[l]
}

// Over says whether nothing of the call goes on.
func (l Link) Over() bool { return l == Ending || l == Torn }

// Carries says whether the client can be sent events.
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

// act is an action without a number.
func act(d Do) func(*run) { return func(r *run) { r.emit(d, 0) } }

// link ends what is within before it does anything of its own.
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
