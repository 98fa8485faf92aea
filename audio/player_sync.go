package audio

// NewManualPlayer returns a player without a goroutine, for simulations: only Settle
// calls notify, so that runs are reproducible. It does not detect a stalled device.
func NewManualPlayer(cfg PlayerConfig, notify func(PlayerEvent)) *Player {
	p := NewPlayer(cfg, notify)
	// Stop the notifier as Close does but keep the player open. finished stays
	// closed, so Close does not block.
	close(p.quit)
	<-p.finished
	p.quit = make(chan struct{})
	return p
}

// Settle calls notify with the events since the last Settle, for a player from
// NewManualPlayer. Call it from one goroutine at a time, after Render and after each
// relevant call of the producer or the controller.
func (p *Player) Settle() { p.deliver() }
