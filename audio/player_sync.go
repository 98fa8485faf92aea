package audio

// NewManualPlayer returns a player without a goroutine of its own, for
// simulations: notify is called by Settle alone, so that what happens is the same
// each time. A device that stops rendering is not noticed.
func NewManualPlayer(cfg PlayerConfig, notify func(PlayerEvent)) *Player {
	p := NewPlayer(cfg, notify)
	// The notifier ends as by Close, and the player stays open; finished stays
	// closed, so that Close waits for nobody.
	close(p.quit)
	<-p.finished
	p.quit = make(chan struct{})
	return p
}

// Settle calls notify with what has happened since the last Settle. It belongs to
// a player of NewManualPlayer, and is called by one goroutine at a time, after
// Render and after each call of the producer or the control side that matters.
func (p *Player) Settle() { p.deliver() }
