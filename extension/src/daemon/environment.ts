// The environment that tells the bundled daemon about files in its package, for machines where nothing is
// installed for it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Path of ALSA's configuration on systems that have it. */
const ALSA = '/usr/share/alsa/alsa.conf';

/**
 * The environment for the daemon in a folder. Its model of recognition is in the
 * package; so is a configuration of ALSA, whose library stops the process where
 * there is none. What the user set, and what the system has, is left alone.
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
