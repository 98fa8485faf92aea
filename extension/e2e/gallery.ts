// Scenarios with a headless daemon in virtual time: each state is held for its screenshots and
// accessibility check, and the panel's latency is measured over a hundred transitions.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Shown } from './panel.ts';
import * as paths from './paths.ts';
import { DARK, GATE, Stage, labelOf } from './stage.ts';
import { budget, quantile, time } from './table.ts';
import type { Passed } from './tap.ts';
import { until } from './wait.ts';
import { type World, scenario } from './world.ts';

/** Themes by folder name, with the marker class of the panel's page. */
const THEMES = {
  light: { name: 'Default Light Modern', mark: 'vscode-light' },
  dark: { name: DARK, mark: 'vscode-dark' },
  'high-contrast': { name: 'Default High Contrast', mark: 'vscode-high-contrast' },
  'high-contrast-light': { name: 'Default High Contrast Light', mark: 'vscode-high-contrast-light' },
} as const;
type Theme = keyof typeof THEMES;

const ANSWER =
  'The parser stops at the last comma, so the **last field** is lost. Add it after the loop:\n\n' +
  '```go\nout = append(out, line[start:])\nreturn out\n```\n\nThen the test for three fields passes.';

/** Every kind of Markdown in an answer: a file, a table, tasks, and collapsed code. */
const RICH =
  'The tail is dropped in `parser.go:12`.\n\n| Test | Before | After |\n|:--|--:|:-:|\n| three fields | fails | ok |\n| quoted | fails | ok |\n\n' +
  '- [x] find the cause\n- [ ] write a test\n\n```go parser_test.go\n' + Array.from({ length: 10 }, (_, i) => `// Case ${i}.\nfunc Test${i}(t *testing.T) {\n\tcheck(t, fields("a,b"), ${i}, nil)\n}`).join('\n') + '\n```\n';

/** The script of the headless daemon. */
const SCRIPT = `
auto capture 1s
auto speech 200ms 6s
auto flush 40ms
await state listening
${GATE}
vad.start
stt.partial "why does the parser lose"
${GATE}
vad.end
stt.final "why does the parser lose the last field"
${GATE}
vad.start
${GATE}
after 300ms
vad.end
stt.final "do the tests pass"
${GATE}
microphone.muted
${GATE}
microphone.works
${GATE}
device.lost speaker
${GATE}
device.restored speaker
${GATE}
say "which file is it in"
${GATE}
device.lost
${GATE}
device.restored
${GATE}
auto connection off
conn.lost
${GATE}
session.failed connectionFailed
${GATE}
auto connection 0ms
${GATE}
session.failed authentication
`;

async function setTheme(w: World, theme: Theme): Promise<void> {
  const { name, mark } = THEMES[theme];
  await w.copilot.configure({ 'workbench.colorTheme': name });
  await w.panel.frame.locator(`body.${mark}`).waitFor();
}

/** Widths of the side bar in CSS pixels, by the suffix of their pictures. The last one is VS Code's own. */
const WIDTHS = { '-narrow': 200, '-wide': 640, '': 300 } as const;

/** States that also get a screenshot of the whole window and the status bar. */
const WHOLE: ReadonlySet<string> = new Set(['03-listening', '07-speaking', '09-approval', '10-muted']);

/** Checks the current panel and takes its screenshots in each theme and width; returns the violations. */
async function capture(w: World, name: string): Promise<string[]> {
  const faults = await checkAria(w, name);
  for (const theme of Object.keys(THEMES) as Theme[]) {
    await setTheme(w, theme);
    for (const [suffix, width] of Object.entries(WIDTHS)) {
      await w.window.sideBar(width);
      await w.window.page.locator('.part.sidebar').screenshot({ path: join(paths.folder(theme), `${name}${suffix}.png`) });
      if (theme === 'light') {
        faults.push(...(await checkFits(w, `${name} at ${width} px`)));
      }
      if (theme === 'light' && suffix !== '') {
        faults.push(...(await checkAxe(w, `${name} at ${width} px`)));
      }
    }
    if (WHOLE.has(name)) {
      await w.picture(theme, `window-${name}`);
      await w.window.page.locator('.part.statusbar').screenshot({ path: join(paths.folder(theme), `statusbar-${name}.png`) });
    }
    faults.push(...(await checkAxe(w, `${name} in ${theme}`)));
  }
  return faults;
}

/** What does not fit: the page scrolls sideways, or a control of the dock is cut off. */
async function checkFits(w: World, what: string): Promise<string[]> {
  const found = await w.panel.frame.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    const cut = Array.from(document.querySelectorAll<HTMLElement>('button, textarea, select')).filter((e) => {
      const { left, right, width } = e.getBoundingClientRect();
      return e.checkVisibility() && e.closest('.sr, pre, .table') === null && width > 0 && (left < -1 || right > clientWidth + 1);
    });
    cut.push(...Array.from(document.querySelectorAll<HTMLElement>('.hint, .state .label')).filter((e) => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 1));
    return [...(scrollWidth > clientWidth ? [`the page is ${scrollWidth} px wide`] : []), ...cut.map((e) => `cut off: ${e.outerHTML.slice(0, 120)}`)];
  });
  return found.map((f) => `${what}: ${f}`);
}

/** All screenshots of the panel in a theme and width side by side, as states.png with the width's suffix. */
async function contactSheet(w: World, theme: Theme, suffix: keyof typeof WIDTHS): Promise<void> {
  const dir = paths.folder(theme);
  const names = readdirSync(dir).flatMap((f) => /^(\d\d-.*)-wide\.png$/.exec(f)?.[1] ?? []).sort();
  const figures = names.map((name) =>
    `<figure><img src="data:image/png;base64,${readFileSync(join(dir, `${name}${suffix}.png`), 'base64')}"><figcaption>${name.slice(3).replaceAll('-', ' ')}</figcaption></figure>`);
  const page = await w.window.page.context().newPage();
  await page.setViewportSize({ width: 2000, height: 1400 });
  await page.setContent(`<style>
    main { display: flex; flex-wrap: wrap; gap: 12px; padding: 12px; background: ${theme === 'light' ? '#ddd' : '#444'}; font: 14px sans-serif; }
    figure { margin: 0; width: ${suffix === '-wide' ? 640 : 206}px; text-align: center; color: ${theme === 'light' ? '#222' : '#eee'}; }
    img { width: 100%; }
  </style><main>${figures.join('')}</main>`);
  await page.locator('main').screenshot({ path: join(dir, `states${suffix}.png`) });
  await page.close();
}

/** Runs axe on the panel's page only, because the workbench is not ours. */
async function checkAxe(w: World, what: string): Promise<string[]> {
  const { frame } = w.panel;
  if (!(await frame.evaluate(() => 'axe' in window))) {
    await frame.evaluate(axe.source);
  }
  const { violations } = await frame.evaluate(() => {
    // The page is transparent, which axe treats as white; the workbench paints its side bar behind it.
    document.documentElement.style.background = 'var(--vscode-sideBar-background)';
    return (window as unknown as { axe: typeof axe }).axe.run(document.body);
  });
  return violations.map((v) => `${what}: ${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(' | ')}`);
}

/** A new control is disabled for less than this, in milliseconds. */
const ARMED = 600;

/** Timeout for the accessibility tree, in milliseconds. */
const ARIA = 5000;

/**
 * Compares the accessibility tree with the committed file. AGENTVOICE_E2E_ARIA=write writes
 * the files instead.
 */
async function checkAria(w: World, name: string): Promise<string[]> {
  const found = async (): Promise<string> => (await w.panel.frame.locator('body').ariaSnapshot()).replace(/\d{1,2}:\d{2}( [AP]M)?/g, 'TIME') + '\n';
  const file = join(paths.root, 'extension', 'e2e', 'aria', `${name}.yaml`);
  if (process.env['AGENTVOICE_E2E_ARIA'] === 'write') {
    mkdirSync(join(file, '..'), { recursive: true });
    await w.window.page.waitForTimeout(ARMED);
    writeFileSync(file, await found());
    return [];
  }
  const wanted = existsSync(file) ? readFileSync(file, 'utf8') : '';
  try {
    // The label appears before the rest of its step.
    await until('the panel', async () => (await found()) === wanted, ARIA);
    return [];
  } catch {
    writeFileSync(join(paths.folder('aria'), `${name}.yaml`), await found());
    return [`${name}: a screen reader finds something else than in ${file}: see out/e2e/aria`];
  }
}

/**
 * The delay from each transition to the frame that shows its label, or a later label if the
 * next transition came before a frame was painted.
 */
export function latencies(states: readonly Passed[], shown: readonly Shown[]): number[] {
  const found: number[] = [];
  const steps = states.map((s) => ({ at: s.at, label: labelOf(s) })).filter((s, i, all) => s.label !== all[i - 1]?.label);
  let from = 0;
  for (const [i, step] of steps.entries()) {
    const later = new Set(steps.slice(i, i + 3).map((s) => s.label));
    const at = shown.findIndex((s, k) => k >= from && s.at >= step.at && later.has(s.text));
    const hit = shown[at];
    if (hit !== undefined) {
      found.push(hit.at - step.at);
      from = hit.text === step.label ? at + 1 : at;
    }
  }
  return found;
}

/** Maximum delay between a transition and its label, in milliseconds. */
const LABEL = 50;

/** Time to show a state, in milliseconds. Reading the label instead would hold up the page. */
const SHOWN = 150;

/** Turns of the measurement, with five transitions each. */
const TURNS = 22;

export function latency(): void {
  scenario('the label follows each of 100 transitions', async (w) => {
    const turns = Array.from({ length: TURNS }, (_, i) => `${GATE}\nsay "question ${i + 1}"`).join('\n');
    const stage = await Stage.open(w, 'latency', `auto speech 50ms 200ms\nawait state listening\n${turns}\n`);
    w.copilot.answers({ parts: [{ text: 'An answer.', afterMs: 30 }] });
    await w.start();
    for (let turn = 1; turn <= TURNS; turn++) {
      const before = stage.tap.messages().length;
      const since = <T>(method: string, holds: (params: T) => boolean): boolean =>
        stage.tap.messages().slice(before).some(({ message }) => message.method === method && holds(message.params as T));
      await stage.next();
      // All of it: text that arrives after time was advanced is spoken later.
      await until('the answer', () => since<{ role: string; final: boolean }>('agentvoice.transcript', (p) => p.role === 'assistant' && p.final));
      await w.window.page.waitForTimeout(SHOWN);
      await stage.tap.advance(50);
      await w.window.page.waitForTimeout(SHOWN);
      await stage.tap.advance(200);
      await until('Listening', () => since<{ state: string }>('agentvoice.state', (p) => p.state === 'listening'));
      await w.window.page.waitForTimeout(SHOWN);
    }
    const states = stage.tap.of('agentvoice.state');
    const found = latencies(states, (await w.panel.shown()).labels);
    assert.ok(found.length >= 100, `${found.length} of ${states.length} transitions were measured`);
    budget('state label, p50', quantile(found, 0.5), LABEL, `${found.length} transitions, to the frame that shows it`);
    budget('state label, p95', quantile(found, 0.95), LABEL);
    const empty = await emptyView(w);
    time('label of an empty view, p50', quantile(empty, 0.5), "from its extension's message, to the frame that shows it");
  });
}

/** How long an extension's messages take to the frame of a view with nothing in it, in milliseconds. */
async function emptyView(w: World): Promise<number[]> {
  w.copilot.open('emptyView');
  try {
    await w.openWindow();
    await w.window.page.locator('.activitybar .action-item a[aria-label^="Empty View"]').first().click();
    const frame = await w.window.webview('[data-testid="empty"]');
    return await frame.evaluate(() => (window as unknown as { measure: () => Promise<number[]> }).measure());
  } finally {
    w.copilot.close('emptyView');
    await w.closeWindow();
  }
}

/** Maximum time to paint a delta, in milliseconds, and the transcript's number of lines. */
const PAINT = 50;
const LINES = 5_000;
/** Number of lines of an answer. */
const ANSWER_LINES = 50;
const DELTAS = 200;

/** Measures from a view's message to the frame after the one that shows it. The test sends the page what the extension would send. */
export function painting(): void {
  scenario(`a delta is painted at once in a transcript of ${LINES} lines, and a selection in it stays`, async (w) => {
    const stage = await Stage.open(w, 'painting', 'await state listening\n');
    const { frame } = w.panel;
    await frame.evaluate(() => {
      const seen = window as unknown as { view: unknown };
      addEventListener('message', ({ data }: MessageEvent<{ type: string; view?: unknown }>) => data.type === 'view' && (seen.view = data.view));
    });
    await w.start();
    await stage.settled();
    const found = await frame.evaluate(async ({ lines, each, deltas }) => {
      const { view } = window as unknown as { view: { seq: number } };
      const line = (id: number, who: 'user' | 'assistant', text: string, final: boolean): object =>
        ({ id, kind: 'speech', who, name: who, text, final, time: new Date(id).toISOString() });
      const text = (n: number): string => Array.from({ length: n }, (_, i) => `${i + 1}. A line of an answer, with **bold** words and a \`name\`.\n`).join('');
      const send = (...shown: object[]): void => void dispatchEvent(new MessageEvent('message', { data: { type: 'view', view, lines: shown } }));
      const painted = (): Promise<void> => new Promise((done) => {
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = (): void => done();
          port2.postMessage(0);
        });
      });
      send(...Array.from({ length: lines / each }, (_, i) => line(1000 + i, i % 2 === 0 ? 'user' : 'assistant', text(each), true)));
      await painted();
      const times: number[] = [];
      send(line(5000, 'assistant', text(2), false));
      await painted();
      const words = document.querySelector('[data-line="5000"] [data-at]')!.firstChild!;
      getSelection()!.setBaseAndExtent(words, 2, words, 6);
      const whole = text(each);
      for (let i = 1; i <= deltas; i++) {
        const begin = performance.now();
        send(line(5000, 'assistant', whole.slice(0, text(2).length + Math.round((i / deltas) * (whole.length - text(2).length))), false));
        await painted();
        times.push(performance.now() - begin);
      }
      return { times, selected: getSelection()!.toString(), shown: document.querySelectorAll('[data-line] li').length };
    }, { lines: LINES, each: ANSWER_LINES, deltas: DELTAS });
    assert.equal(found.selected, 'line');
    assert.ok(found.shown >= LINES / 2, `${found.shown} items`);
    budget('delta to paint, p50', quantile(found.times, 0.5), PAINT, `${LINES} lines, ${DELTAS} deltas`);
    budget('delta to paint, p95', quantile(found.times, 0.95), PAINT);
    await w.panel.end();
    await w.closeWindow();
  });
}

/** Timeout of the gallery, in milliseconds: 20 states in four themes and three widths. */
const GALLERY = 900_000;

export function gallery(): void {
  scenario('each state is accessible, and looks as in its picture in four themes and three widths', async (w) => {
    const stage = await Stage.open(w, 'gallery', SCRIPT);
    const { tap } = stage;
    const { panel } = w;
    await w.window.openFile('parser.go');
    await w.window.page.mouse.move(900, 600); // keeps tooltips out of the screenshots
    const faults: string[] = [];
    const picture = async (name: string): Promise<void> => {
      await stage.settled();
      faults.push(...(await capture(w, name)));
    };
    // The panel names the model once it has looked for one, at the latest when other models appear.
    await w.copilot.offers();
    await w.copilot.offers('large');
    await panel.get('session').filter({ hasText: 'Test model' }).waitFor();
    await picture('01-ready');
    await w.start('Preparing');
    await picture('02-preparing');
    await tap.advance(1000);
    await panel.label('Listening');
    await picture('03-listening');
    await stage.next();
    await panel.frame.locator('[data-testid="line"][data-final="false"]').waitFor();
    await picture('04-hearing');

    w.copilot.answers({ parts: [{ gate: 'answer' }, { text: ANSWER }] });
    await stage.next();
    await panel.label('Waiting for Copilot');
    await picture('05-waiting');
    w.copilot.open('answer');
    await panel.label('Thinking');
    await picture('06-thinking');
    await tap.advance(200);
    await panel.label('Speaking');
    await tap.advance(3000);
    await panel.get('caption').waitFor();
    await picture('07-speaking');
    await stage.next();
    await panel.label('Interrupted');
    await picture('08-interrupted');

    w.copilot.answers(
      { parts: [{ text: 'I would run them.' }, { tool: 'fake_runTests', input: { pattern: 'parser', watch: false } }] },
      { afterTool: true, parts: [{ text: 'One of 42 tests fails: the one for three fields.' }] },
    );
    await stage.next();
    await panel.get('approval').waitFor();
    await stage.reach('Speaking');
    await stage.reach('Waiting for your answer'); // the answer and then the question were spoken
    await picture('09-approval');
    await panel.get('approve').click();
    await panel.frame.locator('[data-testid="tool-status"][data-status="completed"]').waitFor();
    await until('the answer', async () => (await panel.lines('assistant')).at(-1)?.includes('42 tests'));
    await stage.reach('Speaking');
    await stage.reach('Listening');

    await panel.button('toggle-mute').click();
    await panel.get('mic-text').filter({ hasText: 'muted' }).waitFor();
    await picture('10-muted');
    await panel.button('toggle-mute').click();
    await panel.button('pause').click();
    await panel.label('Paused');
    await picture('11-paused');
    await panel.button('pause').click();
    await panel.label('Listening');
    await stage.next();
    await panel.get('problem').waitFor();
    await picture('19-microphone-muted');
    await stage.next();
    await panel.get('problem').waitFor({ state: 'hidden' });
    await stage.next();
    await panel.get('problem').waitFor();
    await panel.label('Listening'); // what the user says is heard all the same
    await picture('20-speaker-lost');
    await stage.next();
    await panel.get('problem').waitFor({ state: 'hidden' });

    w.copilot.answers({ parts: [{ text: RICH }] });
    await panel.get('composer').fill('what is left');
    await panel.get('composer').press('Enter');
    await until('the whole answer', async () => (await panel.lines('assistant')).at(-1)?.includes('Test9'));
    await stage.reach('Speaking');
    await stage.reach('Listening');
    await picture('18-answer');

    w.copilot.answers({ when: 'quota', parts: [{ fail: 'quota' }] }, { parts: [{ gate: 'later' }, { text: 'In parser.go.' }] });
    await stage.next();
    await panel.label('Waiting for Copilot');
    await panel.get('composer').fill('and in which line'); // what is typed waits, what is said would be added to the question
    await panel.get('composer').press('Enter');
    await panel.get('queue').waitFor();
    await stage.next();
    await panel.label('Paused');
    await picture('12-device-lost');
    await stage.next();
    await panel.label('Waiting for Copilot');
    await panel.get('queue').waitFor();
    await picture('13-queue');
    w.copilot.open('later');
    await until('both answers', async () => {
      await stage.advance();
      const answers = (await panel.lines('assistant')).filter((l) => l === 'In parser.go.').length;
      return answers === 2 && (await panel.get('state-label').innerText()) === 'Listening';
    });
    await panel.get('composer').fill('quota');
    await panel.get('composer').press('Enter');
    await panel.get('problem').waitFor();
    await stage.reach('Listening'); // the explanation was spoken
    await picture('14-quota');
    await stage.next();
    await panel.label('Paused');
    await picture('15-reconnecting');
    await stage.next();
    await panel.label('Problem');
    await picture('16-problem');
    await stage.next();
    await stage.reach('Listening');
    await stage.next();
    await panel.label('Ready');
    await panel.get('problem').waitFor();
    await picture('17-credentials');
    for (const theme of Object.keys(THEMES) as Theme[]) {
      for (const suffix of Object.keys(WIDTHS) as (keyof typeof WIDTHS)[]) {
        await contactSheet(w, theme, suffix);
      }
    }
    assert.deepEqual(faults, []);
    await w.closeWindow();
  }, GALLERY);
}
