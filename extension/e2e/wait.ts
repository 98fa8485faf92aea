// Waits for other processes by polling.

/** Upper bound of every wait, in milliseconds. It is not a requirement: it suits a busy machine, and no test relies on it to pass. */
export const PATIENCE = 30_000;

const STEP = 25;

/** Waits until probe returns something other than undefined or false, and returns it. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  patience = PATIENCE,
): Promise<T> {
  const deadline = Date.now() + patience;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) {
      return found;
    }
    if (Date.now() > deadline) {
      throw new Error(`still waiting for ${what} after ${patience} ms`);
    }
    await new Promise((resolve) => setTimeout(resolve, STEP));
  }
}
