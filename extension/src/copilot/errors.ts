// Maps failures of a language model to protocol codes. By code, the daemon decides whether to retry and which
// explanation to speak, and the panel offers the remedy.

import type { CopilotError, ErrorCode } from '../protocol.gen';

/** Errors are identified by their contents, because the class of a language model error comes from a different extension host. */
interface Carried {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

const RETRYABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['copilotUnavailable', 'copilotFailed', 'copilotEmpty', 'rateLimited']);

const QUOTA = /quota|premium request|allowance|billing|usage limit|free plan|payment|402/i;
const RATE = /rate.?limit|too many requests|429/i;
const FILTERED = /filter|content.?policy|responsible ai|off.?topic|blocked by|unsafe/i;
const LENGTH = /response (is |was )?too long|length limit|max(imum)?[ _-]?(output[ _-]?)?tokens|token limit.*(output|response)/i;
const STEPS = /max(imum)?[ _-]?(turn|tool call|request|iteration)s?[ _-]?(limit|requests|reached)|tool call limit/i;
const OFFLINE = /ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|EPIPE|network|offline|fetch failed|socket|proxy|certificate|50[0234]\b/i;
const SIGNED_OUT = /sign(ed)? ?(in|out)|not logged in|unauthori[sz]ed|401|token expired|no copilot (token|subscription)/i;

/** Whether the request was cancelled. */
export function isCancelled(err: unknown): boolean {
  const e = carried(err);
  return e.name === 'Canceled' || e.name === 'CancellationError' || e.message === 'Canceled';
}

/** The failure as a protocol error. Its message is the provider's text, shown only in the panel. */
export function failure(err: unknown): CopilotError {
  const code = codeOf(err);
  const after = RATE.test(words(err)) ? /retry.?after\D{0,10}(\d{1,4})/i.exec(words(err))?.[1] : undefined;
  return {
    code,
    message: String(carried(err).message ?? ''),
    retryable: RETRYABLE.has(code),
    ...(after === undefined ? {} : { retryAfterMs: Number(after) * 1000 }),
  };
}

/** The code of a failure. */
export function codeOf(err: unknown): ErrorCode {
  const { code } = carried(err);
  const text = words(err);
  switch (code) {
    case 'NoPermissions':
      return 'copilotNoConsent';
    case 'NotFound':
      return 'copilotUnavailable';
    case 'Blocked':
      // The editor reports Blocked for an exhausted quota, a rate limit and a filtered answer.
      return RATE.test(text) ? 'rateLimited' : FILTERED.test(text) && !QUOTA.test(text) ? 'copilotBlocked' : 'copilotQuota';
    case 'ChatQuotaExceeded':
      return 'copilotQuota';
    case 'ChatRateLimited':
      return 'rateLimited';
  }
  if (LENGTH.test(text)) {
    return 'answerCutLength';
  }
  if (STEPS.test(text)) {
    return 'answerCutTurns';
  }
  if (QUOTA.test(text)) {
    return 'copilotQuota';
  }
  if (RATE.test(text)) {
    return 'rateLimited';
  }
  if (SIGNED_OUT.test(text) || OFFLINE.test(text)) {
    return 'copilotUnavailable';
  }
  return FILTERED.test(text) ? 'copilotBlocked' : 'copilotFailed';
}

function carried(err: unknown): Carried {
  return typeof err === 'object' && err !== null ? err : { message: err };
}

/** The messages of an error and its causes, for matching. */
function words(err: unknown, depth = 0): string {
  const e = carried(err);
  const own = `${String(e.code ?? '')} ${String(e.message ?? '')}`;
  return e.cause === undefined || depth > 3 ? own : `${own} ${words(e.cause, depth + 1)}`;
}
