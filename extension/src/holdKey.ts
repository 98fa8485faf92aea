// A key that is held. The editor tells an extension that a key went down, again
// and again while it is held, and never that it went up: so it is up when the
// repetitions stop.

/** Until the first repetition, in milliseconds: what systems let pass at most. */
const FIRST = 1_000;
/** Between two repetitions, in milliseconds. */
const NEXT = 250;

export class HoldKey {
  private stop: (() => void) | undefined;
  private repeats = 0;

  constructor(
    private readonly hold: (down: boolean) => void,
    private readonly after = (ms: number, f: () => void): (() => void) => {
      const timer = setTimeout(f, ms);
      return () => clearTimeout(timer);
    },
  ) {}

  /** The key went down, or is still down. */
  pressed(): void {
    if (this.stop === undefined) {
      this.repeats = 0;
      this.hold(true);
    } else {
      this.stop();
      this.repeats++;
    }
    this.stop = this.after(this.repeats === 0 ? FIRST : NEXT, () => this.release());
  }

  /** The key is up. */
  release(): void {
    if (this.stop !== undefined) {
      this.stop();
      this.stop = undefined;
      this.hold(false);
    }
  }
}
