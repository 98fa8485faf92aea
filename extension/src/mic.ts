// The microphone in words.

import type { Model } from './model';
import type { Translate } from './text';

/** Mic is the state of the microphone for the user. */
export type Mic = 'starting' | 'closed' | 'open' | 'muted' | 'paused' | 'waitsForKey' | 'wake';

/** The wake phrase, or an empty text. */
export function phraseOf(m: Model): string {
  return m.snapshot?.microphone.phrase ?? '';
}

/** What the microphone does, in words. */
export function micText(mic: Mic, m: Model, t: Translate): string {
  switch (mic) {
    case 'starting':
      return t('Microphone is starting');
    case 'open':
      return faultText(m, t) ?? t('Microphone is on');
    case 'muted':
      return m.snapshot?.microphone.mutedBy === 'locked' ? t('Muted: the screen was locked') : t('Microphone is muted');
    case 'waitsForKey':
      return t('Microphone waits for the key');
    case 'paused':
      return t('Microphone is paused');
    case 'wake':
      return t('Microphone listens for “{0}”', phraseOf(m));
    default:
      return t('Microphone is off');
  }
}

/** What is wrong with an open microphone. */
function faultText(m: Model, t: Translate): string | undefined {
  switch (m.snapshot?.microphone.fault) {
    case 'microphoneMuted':
      return t('Microphone is muted in the sound settings');
    case 'microphoneSilent':
      return t('Microphone delivers no sound');
    case 'microphoneClips':
      return t('Microphone is too loud');
    case 'microphoneQuiet':
      return t('Microphone is too quiet');
    default:
      return undefined;
  }
}

/** Whether an open microphone does not deliver the user's voice at all. */
export function isDeaf(m: Model): boolean {
  const fault = m.snapshot?.microphone.fault;
  return fault === 'microphoneMuted' || fault === 'microphoneSilent';
}
