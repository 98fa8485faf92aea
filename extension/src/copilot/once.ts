// Each attempt at a question and each tool call is carried out once, whatever is
// delivered twice.

/** How many are remembered. */
const KEPT = 500;

export class Once<R> {
  private readonly known = new Map<string, Promise<R>>();

  /** The result for a key: of f at the first time, and the same from then on. */
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

  forget(): void {
    this.known.clear();
  }
}
