// Writes the settings that the daemon knows into package.json, from
// settings.gen.json, in groups, and their English words into package.nls.json. With --check
// it writes nothing, and fails where they do not agree.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const read = (name) => JSON.parse(readFileSync(join(here, name), 'utf8'));

const generated = read('settings.gen.json');
const manifest = read('package.json');
const words = read('package.nls.json');

/** The groups of the settings page, by the first part of a setting's name. */
const GROUPS = {
  service: ['provider', 'endpoint', 'deployment', 'model', 'locale', 'session', 'network'],
  hearing: ['hearing', 'transcription', 'models', 'vocabulary', 'words', 'wake', 'turnDetection', 'interruption'],
  voice: ['voice', 'speech', 'cues'],
  audio: ['audio'],
  assistant: ['agent', 'chat', 'speculation', 'copilot', 'conversation', 'suspend', 'fault'],
  privacy: ['privacy', 'budget'],
};
/** Signal processing, time-outs and what only networks behind a firewall need: few people change them. */
const ADVANCED = /Ms$|\.maxRetries$|^agentvoice\.(audio\.(?!inputDevice|outputDevice)|turnDetection\.(threshold|eagerness)$|network\.|session\.)/;

/** What the extension adds to a description. */
const LINKS = {
  'agentvoice.voice.name': ' [Choose Voice](command:agentvoice.selectVoice)',
  'agentvoice.agent': ' [Choose Assistant](command:agentvoice.selectAssistant)',
};

const groups = Object.fromEntries(Object.keys(GROUPS).map((name) => [name, {}]));
for (const [name, setting] of Object.entries(generated.properties)) {
  const key = `setting.${name.replace(/^agentvoice\./, '')}`;
  words[key] = setting.markdownDescription + (LINKS[name] ?? '');
  const first = name.split('.')[1];
  const group = Object.keys(GROUPS).find((g) => GROUPS[g].includes(first));
  if (group === undefined) {
    throw new Error(`manifest.mjs: ${name} is in no group: add ${first} to one`);
  }
  groups[group][name] = { ...setting, markdownDescription: `%${key}%`, ...(ADVANCED.test(name) ? { tags: ['advanced'] } : {}) };
}
const own = manifest.contributes.configuration.at(-1); // the extension's own
manifest.contributes.configuration = [...Object.entries(groups).map(([name, properties]) => ({ title: `%settings.${name}%`, properties })), own];

const want = {
  'package.json': JSON.stringify(manifest, null, 2) + '\n',
  'package.nls.json': JSON.stringify(words, null, 2) + '\n',
};
for (const [name, text] of Object.entries(want)) {
  if (!process.argv.includes('--check')) {
    writeFileSync(join(here, name), text);
  } else if (readFileSync(join(here, name), 'utf8') !== text) {
    console.error(`${name} does not have the daemon's settings: run npm run manifest in extension/`);
    process.exitCode = 1;
  }
}
