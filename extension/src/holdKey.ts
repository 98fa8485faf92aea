// Hold-to-talk key. The editor reports repeated key presses while a key is held, but no release, so the key
// counts as released when the repeats stop.

/** Longest delay before the first repeat, in milliseconds. */
const FIRST = 1_000;
/** Longest interval between two repeats, in milliseconds. */
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

  /** The key was pressed or repeats. */
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

  /** The key was released. */
  release(): void {
    if (this.stop !== undefined) {
      this.stop();
      this.stop = undefined;
      this.hold(false);
    }
  }
}
