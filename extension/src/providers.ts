// The configured services for hearing and speaking, equivalent to the daemon's Settings.Hears and
// Settings.Speaks.

import { PROVIDERS, type Provider } from './protocol.gen';

/** Reads a setting of agentvoice; empty if it is not set. */
export type Read = (name: string) => string;

export function hears(read: Read): Provider {
  return provider(read('hearing.provider') || read('provider'));
}

export function speaks(read: Read): Provider {
  const of = provider(read('provider'));
  const language = (read('transcription.language') || read('locale') || 'en').split('-')[0]?.toLowerCase();
  const asked = (read('voice.wire') || 'auto') !== 'auto' || read('voice.model') !== '' || read('voice.endpoint') !== '' || language !== 'en';
  if (read('voice.provider') === '' && hears(read) === of && !asked && (of === 'openai' || of === 'azure')) {
    return 'local';
  }
  return provider(read('voice.provider') || of);
}

/** The selected services that need a key, or all services if none does. */
export function keyed(read: Read): readonly Provider[] {
  const chosen = PROVIDERS.filter((p) => p !== 'local' && (p === hears(read) || p === speaks(read)));
  return chosen.length > 0 ? chosen : PROVIDERS.filter((p) => p !== 'local');
}

function provider(name: string): Provider {
  return PROVIDERS.find((p) => p === name) ?? 'local';
}
