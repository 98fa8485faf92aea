// Marks the text being spoken without changing the DOM, so that selection and focus survive. The
// style defines the colours.

/** SpokenMarks highlights the segment being spoken, and dims the text after it. */
export class SpokenMarks {
  private readonly now = mark('spoken-now');
  private readonly rest = mark('spoken-rest');

  /** Marks a source range in an answer; without an answer, clears the marks. */
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

/** The source position where the user clicked in an answer; undefined outside its text, or if text is selected. */
export function placeOfClick(): number | undefined {
  const selection = document.getSelection();
  if (selection === null || !selection.isCollapsed) {
    return undefined;
  }
  const span = selection.anchorNode?.parentElement?.closest<HTMLElement>('[data-at]');
  return span === null || span === undefined ? undefined : Number(span.dataset['at']) + selection.anchorOffset;
}

/** The start of the word at a position. */
export function wordAt(text: string, at: number): number {
  const before = /[\p{L}\p{N}'’_-]*$/u.exec(text.slice(0, at))?.[0].length ?? 0;
  return at - before;
}
