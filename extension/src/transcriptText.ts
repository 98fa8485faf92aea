// The transcript as Markdown, in the order in which the panel shows it.

import type { ShownCall } from './shownCall';
import type { Translate } from './text';
import type { ShownLine } from './view';

/** The transcript as Markdown, or an empty text. Times are those of the machine. */
export function markdownOf(lines: readonly ShownLine[], t: Translate, clock: (time: string) => string): string {
  const blocks = lines.filter((l) => l.text.trim() !== '').map((l) => blockOf(l, t, clock));
  return blocks.length === 0 ? '' : `# ${t('Agent Voice: Transcript')}\n\n${blocks.join('\n\n')}\n`;
}

function blockOf(line: ShownLine, t: Translate, clock: (time: string) => string): string {
  if (line.kind === 'divider') {
    return `---\n\n*${line.text}*`;
  }
  if (line.call !== undefined) {
    return callOf(line.call, t);
  }
  const note = line.note === undefined ? '' : `\n\n*${line.note}*`;
  return `**${line.name}** (${clock(line.time)})\n\n${line.text.trim()}${note}`;
}

function callOf({ row, input }: ShownCall, t: Translate): string {
  const words = row.map(({ text, code }) => (code ? `\`${text}\`` : text)).join('');
  return `> ${words}${input === '' ? '' : `\n\n${t('Input')}:\n\n${fenced(input)}`}`;
}

/** A code block whose fence is longer than any in the text. */
function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}\n${text}\n${fence}`;
}
