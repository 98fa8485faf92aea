// When a daemon that died is started again.

/** How many restarts there are in a row. */
const MAX_RESTARTS = 4;
/** So many deaths within the window are too many. */
const MAX_DEATHS = 5;
/** In milliseconds. */
const WINDOW = 3 * 60_000;
/** Milliseconds before the first restart; each further one waits twice as long. */
const FIRST_DELAY = 100;

/** Verdict on a death. */
export type Verdict = { readonly again: true; readonly delay: number; readonly restart: number } | { readonly again: false; readonly deaths: number };

/**
 * Restarts counts deaths within three minutes. Nothing but time and the user's
 * own wish makes it forget one: a daemon that starts well and dies a second later,
 * over and over, is given up too.
 */
export class Restarts {
  private deaths: number[] = [];

  /** A death, at a time in milliseconds. */
  died(now: number): Verdict {
    this.deaths = [...this.deaths.filter((at) => now - at < WINDOW), now];
    const restart = this.deaths.length;
    return restart >= MAX_DEATHS || restart > MAX_RESTARTS
      ? { again: false, deaths: restart }
      : { again: true, delay: FIRST_DELAY * 2 ** (restart - 1), restart };
  }

  /** The user wants it again. */
  forgive(): void {
    this.deaths = [];
  }
}
