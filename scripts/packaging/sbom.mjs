// Completes the SBOM of the Go modules (CycloneDX) with the libraries, models and other files of a package:
//
//   node scripts/packaging/sbom.mjs MODULES.json FOLDER VERSION OUT.json
//
// Each file that is no licence text is a component with its SHA-256.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const [modules, folder, version, out] = process.argv.slice(2);
const bom = JSON.parse(readFileSync(modules, 'utf8'));
delete bom.serialNumber; // the same files make the same list
delete bom.metadata.timestamp;
bom.metadata.component = { ...bom.metadata.component, name: 'agentvoice', version, type: 'application' };

const files = (dir) =>
  readdirSync(dir, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? files(join(dir, e.name)) : [join(dir, e.name)]));
for (const file of files(folder).sort()) {
  const name = relative(folder, file).split(sep).join('/');
  if (name.startsWith('licenses/') || name.endsWith('.md') || name === 'LICENSE') continue;
  bom.components.push({
    type: /\.(so|dylib|dll)(\.|$)/.test(name) ? 'library' : /\.(onnx|ort|bin)$/.test(name) ? 'machine-learning-model' : 'file',
    'bom-ref': `file:${name}`,
    name,
    hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(readFileSync(file)).digest('hex') }],
  });
}
writeFileSync(out, JSON.stringify(bom, null, 1) + '\n');
