// Why the rest of an answer is missing, in words.

import type { AnswerEnd } from './protocol.gen';
import type { Translate } from './text';

/** Says why the rest of an answer is missing. */
export function cutNote(end: AnswerEnd, t: Translate): string {
  switch (end) {
    case 'length':
      return t('Cut off: length limit. Ask for the rest.');
    case 'turnLimit':
      return t('Cut off: limit of steps. Ask to continue.');
    case 'filter':
      return t('Cut off: content filter');
    case 'stall':
      return t('Cut off: the rest did not come');
    default:
      return t('Cut off: the answer broke off');
  }
}
