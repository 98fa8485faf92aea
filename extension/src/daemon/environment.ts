// The environment that tells the bundled daemon about files in its package, for machines where nothing is
// installed for it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Path of ALSA's configuration on systems that have it. */
const ALSA = '/usr/share/alsa/alsa.conf';

/**
 * The environment of the bundled daemon. Its recognition model is in the package, and so is an ALSA
 * configuration, because libasound aborts the process without one. Values set by the user or
 * present on the system take precedence.
 */
export function environment(
  folder: string,
  own: NodeJS.ProcessEnv,
  exists: (path: string) => boolean = existsSync,
  os: string = process.platform,
): NodeJS.ProcessEnv {
  const env = { ...own };
  const models = join(folder, 'assets', 'pocketsphinx');
  if (env['AGENTVOICE_POCKETSPHINX_MODELS'] === undefined && exists(models)) {
    env['AGENTVOICE_POCKETSPHINX_MODELS'] = models;
  }
  const alsa = join(folder, 'assets', 'alsa', 'alsa.conf');
  if (os === 'linux' && env['ALSA_CONFIG_PATH'] === undefined && !exists(ALSA) && exists(alsa)) {
    env['ALSA_CONFIG_PATH'] = alsa;
  }
  return env;
}
