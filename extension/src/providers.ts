// Which services the settings name for hearing and for speaking: as Settings.Hears and
// Settings.Speaks of the daemon.

import { PROVIDERS, type Provider } from './protocol.gen';

/** Reads a setting of agentvoice; empty where it is not set. */
export type Read = (name: string) => string;

export function hears(read: Read): Provider {
  return provider(read('hearing.provider') || read('provider'));
}

export function speaks(read: Read): Provider {
  return provider(read('voice.provider') || read('provider'));
}

/** The services that need a key; all there are when none of the chosen does. */
export function keyed(read: Read): readonly Provider[] {
  const chosen = PROVIDERS.filter((p) => p !== 'local' && (p === hears(read) || p === speaks(read)));
  return chosen.length > 0 ? chosen : PROVIDERS.filter((p) => p !== 'local');
}

function provider(name: string): Provider {
  return PROVIDERS.find((p) => p === name) ?? 'local';
}
