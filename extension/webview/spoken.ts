// What is being spoken, marked in the text without a change of the text: a selection
// and the focus stay. The style gives the marks their colours.

/** SpokenMarks marks the segment that is being said, and dims what is behind it. */
export class SpokenMarks {
  private readonly now = mark('spoken-now');
  private readonly rest = mark('spoken-rest');

  /** Marks from one place in the source to another in an answer; without an answer nothing is marked. */
  show(answer: Element | undefined, from: number, to: number): void {
    this.now?.clear();
    this.rest?.clear();
    if (answer === undefined || this.now === undefined || this.rest === undefined) {
      return;
    }
    for (const span of answer.querySelectorAll<HTMLElement>('[data-at]')) {
      const text = span.firstChild;
      const start = Number(span.dataset['at']);
      const length = span.textContent.length;
      if (text === null || start + length <= from) {
        continue;
      }
      const begin = Math.max(0, from - start);
      const end = Math.min(length, Math.max(0, to - start));
      if (end > begin) {
        this.now.add(range(text, begin, end));
      }
      if (end < length) {
        this.rest.add(range(text, Math.max(begin, end), length));
      }
    }
  }
}

function mark(name: string): Highlight | undefined {
  if (typeof CSS === 'undefined' || !('highlights' in CSS)) {
    return undefined;
  }
  const found = new Highlight();
  CSS.highlights.set(name, found);
  return found;
}

function range(text: Node, from: number, to: number): Range {
  const r = document.createRange();
  r.setStart(text, from);
  r.setEnd(text, to);
  return r;
}

/** The place in the source where the user clicked in an answer; undefined where it is in no text of it, or where text was selected. */
export function placeOfClick(): number | undefined {
  const selection = document.getSelection();
  if (selection === null || !selection.isCollapsed) {
    return undefined;
  }
  const span = selection.anchorNode?.parentElement?.closest<HTMLElement>('[data-at]');
  return span === null || span === undefined ? undefined : Number(span.dataset['at']) + selection.anchorOffset;
}

/** The beginning of the word at a place. */
export function wordAt(text: string, at: number): number {
  const before = /[\p{L}\p{N}'’_-]*$/u.exec(text.slice(0, at))?.[0].length ?? 0;
  return at - before;
}
