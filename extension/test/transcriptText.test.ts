// The exported transcript.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { english } from '../src/text';
import { markdownOf } from '../src/transcriptText';
import { type ShownLine, shownLines } from '../src/view';
import { recorded, replay } from './trace';

const clock = (): string => '10:16';

test('the exported transcript has what the panel shows, in its order, with the calls and their input', async () => {
  const { lines } = await replay(recorded('calls-after-text'));
  assert.equal(markdownOf(shownLines(english)(lines), english, clock), readFileSync(join(__dirname, '..', '..', 'test', 'traces', 'calls-after-text.md'), 'utf8'));
});

test('interrupted answers, restarts and code fences are marked; an empty transcript is empty', () => {
  const line = { kind: 'speech', who: 'assistant', name: 'Copilot', text: 'It reads ', final: true, time: '' } as const;
  const call = { callId: 'c', hash: '', name: 'write', input: 'a ``` b', status: 'failed', row: [{ text: 'Failed: ' }, { text: 'write', code: true }], question: '', destructive: false, commands: [], click: false, say: '', members: [] } as const;
  const lines: ShownLine[] = [
    { ...line, id: 1, note: 'Interrupted' }, { ...line, id: 2, text: '' }, { ...line, id: 3, kind: 'tool', text: 'write', call },
    { ...line, id: 4, kind: 'divider', who: 'none', text: 'Agent Voice was restarted.' },
  ];
  assert.equal(markdownOf(lines, english, clock), `# Agent Voice: Transcript

**Copilot** (10:16)

It reads

*Interrupted*

> Failed: \`write\`

Input:

\`\`\`\`
a \`\`\` b
\`\`\`\`

---

*Agent Voice was restarted.*
`);
  assert.equal(markdownOf([], english, clock), '');
});
