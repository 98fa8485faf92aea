// Writes the settings that the daemon knows into package.json, from
// settings.gen.json, and their English words into package.nls.json. With --check
// it writes nothing, and fails where they do not agree.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const read = (name) => JSON.parse(readFileSync(join(here, name), 'utf8'));

const generated = read('settings.gen.json');
const manifest = read('package.json');
const words = read('package.nls.json');

const properties = {};
for (const [name, setting] of Object.entries(generated.properties)) {
  const key = `setting.${name.replace(/^agentvoice\./, '')}`;
  words[key] = setting.markdownDescription;
  properties[name] = { ...setting, markdownDescription: `%${key}%` };
}
manifest.contributes.configuration[0] = { title: generated.title, properties };

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
