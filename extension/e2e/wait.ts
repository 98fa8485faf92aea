// Waiting for what other processes do: they are asked again until it holds.

/** Bounds every wait, in milliseconds. It is no requirement: a busy machine takes this long, and no test passes by it. */
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
