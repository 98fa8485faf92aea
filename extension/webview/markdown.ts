// What an answer's Markdown looks like in the panel: blocks of code, lists and
// headings, code and stress inside a line. Each piece knows where in the source
// it stands, since "heard until here" is a place in the source.

/** Piece is a run of characters that look the same. */
export interface Piece {
  readonly kind: 'plain' | 'code' | 'strong' | 'em';
  readonly text: string;
  /** where its text begins in the source */
  readonly start: number;
}

export type Block =
  | { readonly kind: 'paragraph' | 'heading' | 'item'; readonly start: number; readonly pieces: readonly Piece[]; readonly mark?: string }
  | { readonly kind: 'fence'; readonly start: number; readonly language: string; readonly text: string };

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
const HEADING = /^ {0,3}#{1,6}\s+/;
const ITEM = /^\s*(?:([-*+])|(\d{1,3}[.)]))\s+/;

/** The blocks of a text. An open fence at the end is code so far. */
export function blocks(source: string): Block[] {
  const out: Block[] = [];
  let paragraph: { start: number; end: number } | undefined;
  const close = (): void => {
    if (paragraph !== undefined) {
      out.push({ kind: 'paragraph', start: paragraph.start, pieces: inline(source.slice(paragraph.start, paragraph.end), paragraph.start) });
      paragraph = undefined;
    }
  };
  let at = 0;
  while (at < source.length) {
    const end = lineEnd(source, at);
    const line = source.slice(at, end);
    const fence = FENCE.exec(line);
    if (fence?.[1] !== undefined) {
      close();
      const code = codeBlock(source, end + 1, fence[1]);
      out.push({ kind: 'fence', start: at, language: fence[2] ?? '', text: code.text });
      at = code.next;
      continue;
    }
    const head = HEADING.exec(line);
    const item = ITEM.exec(line);
    if (line.trim() === '') {
      close();
    } else if (head !== null) {
      close();
      out.push({ kind: 'heading', start: at, pieces: inline(line.slice(head[0].length), at + head[0].length) });
    } else if (item !== null) {
      close();
      out.push({ kind: 'item', start: at, pieces: inline(line.slice(item[0].length), at + item[0].length), mark: item[2] ?? '•' });
    } else {
      paragraph = { start: paragraph?.start ?? at, end };
    }
    at = end + 1;
  }
  close();
  return out;
}

function lineEnd(source: string, from: number): number {
  const end = source.indexOf('\n', from);
  return end < 0 ? source.length : end;
}

function codeBlock(source: string, from: number, mark: string): { text: string; next: number } {
  let at = from;
  while (at < source.length) {
    const end = lineEnd(source, at);
    if (source.slice(at, end).trim().startsWith(mark)) {
      return { text: source.slice(from, Math.max(from, at - 1)), next: end + 1 };
    }
    at = end + 1;
  }
  return { text: source.slice(from), next: source.length };
}

const INLINE = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])/g;

function inline(text: string, start: number): Piece[] {
  const out: Piece[] = [];
  let from = 0;
  for (const m of text.matchAll(INLINE)) {
    if (m.index > from) {
      out.push({ kind: 'plain', text: text.slice(from, m.index), start: start + from });
    }
    const [kind, inner, mark] = m[1] !== undefined ? (['code', m[1], 1] as const)
      : m[2] !== undefined ? (['strong', m[2], 2] as const)
      : (['em', m[3] ?? '', 1] as const);
    out.push({ kind, text: inner, start: start + m.index + mark });
    from = m.index + m[0].length;
  }
  if (from < text.length) {
    out.push({ kind: 'plain', text: text.slice(from), start: start + from });
  }
  return out;
}

/** Cuts a piece where the voice stopped: what was heard, and what was not. */
export function cut(piece: Piece, heard: number): [heard: string, unheard: string] {
  const at = Math.min(piece.text.length, Math.max(0, heard - piece.start));
  return [piece.text.slice(0, at), piece.text.slice(at)];
}
