// Processes each attempt at a question and each tool call once, even if a message is delivered twice.

/** Maximum number of remembered keys. */
const KEPT = 500;

export class Once<R> {
  private readonly known = new Map<string, Promise<R>>();

  /** The result for a key: calls f the first time and returns the same result afterwards. */
  run(key: string, f: () => Promise<R>): Promise<R> {
    const before = this.known.get(key);
    if (before !== undefined) {
      return before;
    }
    const result = f();
    this.known.set(key, result);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= KEPT) {
        break;
      }
      this.known.delete(oldest);
    }
    return result;
  }

  /** Forgets a result, because something else has the key from now on. */
  drop(key: string): void {
    this.known.delete(key);
  }

  forget(): void {
    this.known.clear();
  }
}
