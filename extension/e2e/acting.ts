// The assistant acts in the editor with its own tools: requested, approved and reported by voice, and
// shown in the editor. After the question, no key, click or dialog is involved.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Moving } from './moving.ts';
import { folder } from './paths.ts';
import { time } from './table.ts';
import { until } from './wait.ts';
import { type World, scenario, settings } from './world.ts';

/** A project with a misspelled name, and a test for it. */
const PROJECT: Readonly<Record<string, string>> = {
  'jsconfig.json': '{"compilerOptions": {"module": "nodenext"}, "include": ["*.js"]}\n',
  'package.json': '{"name": "sums", "type": "module", "scripts": {"test": "node --test"}}\n',
  'sum.js': '/** The sum of numbers. */\nexport function totl(numbers) {\n  return numbers.reduce((a, b) => a + b, 0);\n}\n',
  'sum.test.js': "import assert from 'node:assert';\nimport test from 'node:test';\nimport { totl } from './sum.js';\n\ntest('a sum', () => assert.equal(totl([1, 2, 3]), 6));\n",
};

export function acting(): void {
  scenario('"rename this and run the tests": shown as a diff, allowed by voice, run, and told aloud', async (w) => {
    await w.closeWindow();
    for (const [name, text] of Object.entries(PROJECT)) {
      mkdirSync(w.server.workspace, { recursive: true });
      writeFileSync(join(w.server.workspace, name), text);
    }
    // The browser draws the film on the same processor, which makes the natural voice too slow.
    w.server.configure({ ...settings, 'agentvoice.tools.withoutQuestion': ['editor_*'], 'agentvoice.voice.engine': 'fast' });
    await w.openWindow();
    await w.openPanel();
    w.copilot.answers(
      { parts: [{ text: 'I will look.' }, { tool: 'editor_open', input: { path: 'sum.js', line: 2 } }] },
      { afterTool: true, when: 'The cursor is in line 2 of sum.js', parts: [{ tool: 'editor_rename_symbol', input: { path: 'sum.js', symbol: 'totl', newName: 'total' } }] },
      { afterTool: true, when: 'Changed and saved', parts: [{ tool: 'editor_run_tests', input: {} }] },
      { afterTool: true, when: 'Exit code 0', parts: [{ text: 'It is called total now, and the tests pass.' }] },
      { afterTool: true, parts: [{ text: 'That did not work.' }] },
    );
    await w.start();
    w.copilot.forget();
    const moving = await Moving.start(w.window.page, join(w.dir, 'frames'));
    const begin = Date.now();
    await w.say('rename');

    // Opening the file needs no approval. The rename needs one, and is shown as a diff.
    await question(w, 'editor_rename_symbol', 'Yes or no: May I rename totl to total, in 2 files?');
    await w.window.page.locator('.tab').filter({ hasText: /^Proposed change: / }).waitFor();
    await w.picture('windows', 'acting-diff');
    assert.match(disk(w, 'sum.js'), /totl/, 'nothing is changed before the yes');
    await w.reply('agree');

    await question(w, 'editor_run_tests', 'Yes or no: May I run the tests? It would run npm test.');
    assert.match(disk(w, 'sum.js'), /function total\(/);
    assert.match(disk(w, 'sum.test.js'), /import \{ total \}/);
    assert.equal(await w.window.page.locator('.tab').filter({ hasText: 'Proposed change' }).count(), 0, 'the diff is closed');
    await w.picture('windows', 'acting-renamed');
    const allowed = Date.now();
    await w.reply('agree');

    await until('the result', async () => (await w.panel.lines('assistant')).at(-1)?.endsWith('the tests pass.'));
    time('from the yes to the result of the tests', Date.now() - allowed, 'with npm test');
    await until('the result to be heard', () => w.room.heardSince(allowed) > 1000);
    await w.picture('windows', 'acting-tests');
    await w.panel.label('Listening');
    time('rename this and run the tests', Date.now() - begin, 'spoken, with two questions');
    await moving.save(join(folder('windows'), 'acting.webp'));

    assert.deepEqual(await w.panel.frame.locator('[data-testid="tool-status"]').allInnerTexts(), ['Opened sum.js', 'Renamed totl to total', `Ran npm test in ${basename(w.server.workspace)}, passed`]);

    const requests = w.copilot.all('request');
    assert.equal(requests.length, 4);
    assert.ok(requests[0]?.tools.includes('editor_apply_edit'));
    const results = requests.slice(1).map((r) => r.messages.at(-1)?.results?.[0]?.text ?? '');
    assert.match(results[2] ?? '', /^Exit code 0\./);
    assert.match(results[2] ?? '', /pass 1\b/);
    assert.equal(await w.window.dialog().count(), 0);
    await w.closeWindow();
  });
}

/** Waits until the approval question was spoken and the user may answer. */
async function question(w: World, tool: string, words: string): Promise<void> {
  await until(`the question about ${tool}`, async () => (await w.panel.get('approval').isVisible()) && (await w.panel.get('approval-name').innerText()) === tool);
  const asked = Date.now();
  assert.ok((await w.panel.get('approval-question').innerText()).startsWith(words));
  await until('the question', () => w.room.heardSince(asked) > 1000);
  await w.panel.label('Waiting for your answer');
  assert.equal(await w.window.dialog().count(), 0);
}

function disk(w: World, name: string): string {
  return readFileSync(join(w.server.workspace, name), 'utf8');
}
