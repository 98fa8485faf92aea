// Restart policy after a crash of the daemon.

/** Maximum number of consecutive restarts. */
const MAX_RESTARTS = 4;
/** Number of crashes within the window after which the daemon is not restarted. */
const MAX_DEATHS = 5;
/** Window in which crashes count, in milliseconds. */
const WINDOW = 3 * 60_000;
/** Milliseconds before the first restart; each further restart doubles the delay. */
const FIRST_DELAY = 100;

/** Verdict is the decision after a crash. */
export type Verdict = { readonly again: true; readonly delay: number; readonly restart: number } | { readonly again: false; readonly deaths: number };

/**
 * Restarts counts crashes within three minutes. Only time and an explicit start reset the count, so
 * that a daemon that starts successfully and crashes a second later, repeatedly, is given up too.
 */
export class Restarts {
  private deaths: number[] = [];

  /** Records a crash at a time in milliseconds. */
  died(now: number): Verdict {
    this.deaths = [...this.deaths.filter((at) => now - at < WINDOW), now];
    const restart = this.deaths.length;
    return restart >= MAX_DEATHS || restart > MAX_RESTARTS
      ? { again: false, deaths: restart }
      : { again: true, delay: FIRST_DELAY * 2 ** (restart - 1), restart };
  }

  /** The user requested a start. */
  forgive(): void {
    this.deaths = [];
  }
}
