// package.json and the user-visible texts agree with the code, with the daemon's settings, and across
// languages.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SETTINGS } from '../src/protocol.gen';

const root = join(__dirname, '..', '..');
const read = <T>(...path: string[]): T => JSON.parse(readFileSync(join(root, ...path), 'utf8')) as T;

interface Setting { readonly default: unknown; readonly scope: string; readonly markdownDescription: string; readonly order: number; readonly tags?: readonly string[] }
interface Manifest {
  readonly contributes: {
    readonly configuration: readonly { readonly title: string; readonly properties: Record<string, Setting> }[];
    readonly commands: readonly { readonly command: string; readonly title: string; readonly enablement?: string }[];
    readonly keybindings: readonly { readonly command: string; readonly key: string; readonly mac: string; readonly when?: string }[];
    readonly menus: Record<string, readonly { readonly command: string; readonly when?: string }[]>;
    readonly viewsWelcome?: readonly { readonly when?: string }[];
  };
  readonly capabilities: { readonly untrustedWorkspaces: { readonly supported: string; readonly restrictedConfigurations: readonly string[] } };
  readonly extensionKind: readonly string[];
}

const manifest = read<Manifest>('package.json');
const english = read<Record<string, string>>('package.nls.json');

test('the settings of package.json are those that the daemon knows, with its words', () => {
  const generated = read<{ properties: Record<string, Setting> }>('settings.gen.json').properties;
  const ours = Object.assign({}, ...manifest.contributes.configuration.slice(0, -1).map((c) => c.properties)) as Record<string, Setting>;
  assert.deepEqual(Object.keys(ours).sort(), SETTINGS.map((s) => s.name).sort(), 'run npm run manifest in extension/');
  for (const [name, { tags: _, ...setting }] of Object.entries(ours)) {
    const words = english[setting.markdownDescription.slice(1, -1)]?.replace(/ \[[^\]]+\]\(command:agentvoice\.\w+\)$/, '');
    assert.deepEqual({ ...setting, markdownDescription: words }, generated[name], name);
  }
});

test('signal processing and time-outs are advanced, and what people choose is not', () => {
  const advanced = manifest.contributes.configuration.flatMap((c) => Object.entries(c.properties)).filter(([, s]) => s.tags?.includes('advanced')).map(([name]) => name.replace('agentvoice.', ''));
  for (const name of ['audio.echoCancellation', 'audio.gainControl', 'turnDetection.threshold', 'turnDetection.silenceMs', 'copilot.stallMs', 'suspend.maxMs', 'network.proxy']) {
    assert.ok(advanced.includes(name), name);
  }
  for (const name of ['provider', 'voice.rate', 'voice.silent', 'audio.inputDevice', 'turnDetection.mode', 'wake.enabled', 'copilot.mode']) {
    assert.ok(!advanced.includes(name), name);
  }
});

test('the marketplace has what it shows of the extension', () => {
  const page = read<Record<string, unknown>>('package.json');
  for (const member of ['displayName', 'description', 'icon', 'galleryBanner', 'categories', 'keywords', 'license', 'homepage', 'bugs', 'qna', 'repository', 'preview', 'pricing']) {
    assert.ok(page[member] !== undefined, member);
  }
});

test('the extension\'s own settings are none of the daemon\'s, and what a workspace must not decide is the user\'s', () => {
  const own = manifest.contributes.configuration.at(-1)?.properties ?? {};
  const known = new Set<string>(SETTINGS.map((s) => s.name));
  assert.deepEqual(Object.keys(own).filter((name) => known.has(name)), []);
  for (const name of ['agentvoice.daemon.path', 'agentvoice.daemon.arguments', 'agentvoice.copilot.vendor', 'agentvoice.copilot.instructions', 'agentvoice.privacy.muteWhenLocked', 'agentvoice.privacy.keepTranscript', 'agentvoice.tools.harmless']) {
    assert.equal(own[name]?.scope, 'application', name);
  }
  const { supported, restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
  assert.equal(supported, 'limited');
  for (const name of restrictedConfigurations) {
    assert.ok(name in own, name);
  }
  assert.deepEqual(manifest.extensionKind, ['ui']);
});

test('keys and menus lead to commands that there are, and no two keys are the same', () => {
  const commands = new Set(manifest.contributes.commands.map((c) => c.command));
  const { keybindings, menus } = manifest.contributes;
  for (const { command } of [...keybindings, ...Object.values(menus).flat()]) {
    assert.ok(commands.has(command), command);
  }
  for (const platform of ['key', 'mac'] as const) {
    assert.equal(new Set(keybindings.map((k) => k[platform])).size, keybindings.length);
  }
  const bound = new Set(keybindings.map((k) => k.command.replace('agentvoice.', '')));
  for (const wanted of ['toggle', 'holdToTalk', 'stopSpeaking', 'toggleMute', 'approve', 'reject', 'repeat']) {
    assert.ok(bound.has(wanted), wanted);
  }
});

test('each context key of a condition is set, and each that is set is in a condition', () => {
  const sources = readFileSync(join(root, 'src', 'window.ts'), 'utf8');
  const set = new Set([...sources.matchAll(/setContext\('(agentvoice\.\w+)'/g)].map((m) => m[1]));
  const { commands, keybindings, menus, viewsWelcome = [] } = manifest.contributes;
  const conditions = [...commands.map((c) => c.enablement), ...[...keybindings, ...Object.values(menus).flat(), ...viewsWelcome].map((e) => e.when)].join(' ').replaceAll('agentvoice.panel', '');
  const used = new Set(conditions.match(/agentvoice\.\w+/g));
  assert.deepEqual([...set].sort(), [...used].sort());
});

test('the microphone can be muted and unmuted wherever the user may be heard or is muted, also without a conversation', () => {
  const wanted = 'agentvoice.active || agentvoice.muted || agentvoice.wake';
  assert.equal(manifest.contributes.commands.find((c) => c.command === 'agentvoice.toggleMute')?.enablement, wanted);
  assert.equal(manifest.contributes.keybindings.find((k) => k.command === 'agentvoice.toggleMute')?.when, wanted);
});

// VS Code forwards a webview's keys as events that cannot be cancelled, so Alt with a menu's letter
// opens that menu, whatever the key is bound to.
test('no key opens a menu of the editor while the panel has the focus', () => {
  const menus = ['File', 'Edit', 'Selection', 'View', 'Go', 'Run', 'Terminal', 'Help'].map((name) => name.charAt(0).toLowerCase());
  for (const { key, command } of manifest.contributes.keybindings) {
    const [letter = '', ...modifiers] = key.split('+').reverse();
    assert.ok(!modifiers.includes('alt') || modifiers.includes('ctrl') || !menus.includes(letter), `${command}: ${key}`);
  }
});

test('package.json has words for all it says, in every language', () => {
  const used = new Set([...readFileSync(join(root, 'package.json'), 'utf8').matchAll(/"%([^%"]+)%"/g)].map((m) => m[1]));
  assert.deepEqual(Object.keys(english).filter((key) => !used.has(key)), [], 'not used');
  for (const file of ['package.nls.json', 'package.nls.de.json', 'package.nls.ja.json']) {
    const words = read<Record<string, string>>(file);
    assert.deepEqual([...used].filter((key) => key === undefined || !words[key]), [], `missing in ${file}`);
    assert.deepEqual(Object.keys(words), Object.keys(english), file);
    for (const [key, text] of Object.entries(words)) {
      const links = (s: string | undefined): string[] => [...(s ?? '').matchAll(/\]\((command:[^)]+)\)|`([^`]+)`/g)].map((m) => m[0]).sort();
      if (key.startsWith('walkthrough')) {
        assert.deepEqual(links(text).filter((l) => l.includes('command:')), links(english[key]).filter((l) => l.includes('command:')), `${key} in ${file}`);
      }
    }
  }
});

test('every word that the code says is translated, with its places for arguments', () => {
  const said = new Set<string>();
  for (const file of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.ts') && !file.endsWith('.gen.ts')) {
      const source = readFileSync(join(root, 'src', file), 'utf8');
      for (const m of source.matchAll(/(?<![\w$])(?:this\.|vscode\.l10n\.)?t\(\s*'((?:[^'\\]|\\.)*)'/g)) {
        said.add(m[1] ?? '');
      }
      assert.doesNotMatch(source, /(?<![\w$])t\(\s*[`"]/, `${file}: a translated text has to be a plain string`);
    }
  }
  assert.ok(said.size > 100, `only ${said.size} were found`);
  for (const language of ['de', 'ja']) {
    const words = read<Record<string, string>>('l10n', `bundle.l10n.${language}.json`);
    assert.deepEqual([...said].filter((text) => !(text in words)), [], `not translated into ${language}`);
    assert.deepEqual(Object.keys(words).filter((text) => !said.has(text)), [], `no longer said, in ${language}`);
    for (const [text, translated] of Object.entries(words)) {
      const places = (s: string): string[] => [...s.matchAll(/\{\d\}/g)].map((m) => m[0]).sort();
      assert.deepEqual(places(translated), places(text), text);
    }
  }
});

/** What fits in one line of a side bar of 300 px, in characters: full width counts twice. */
const HINT = 46;

test('the hint below the state fits in its line, in every language', () => {
  const source = readFileSync(join(root, 'src', 'view.ts'), 'utf8');
  const body = source.slice(source.indexOf('function hintOf'), source.indexOf('function primaryOf'));
  const hints = [...body.matchAll(/\bt\('([^']*)'/g)].map((m) => m[1] ?? '');
  assert.ok(hints.length > 10, `only ${hints.length} were found`);
  for (const language of [undefined, 'de', 'ja']) {
    const words = language === undefined ? {} : read<Record<string, string>>('l10n', `bundle.l10n.${language}.json`);
    const width = (s: string): number => [...s].reduce((n, c) => n + (c > '\u2fff' ? 2 : 1), 0);
    assert.deepEqual(hints.map((hint) => words[hint] ?? hint).filter((text) => width(text) > HINT), [], language);
  }
});
