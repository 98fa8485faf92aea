// The problem that the window shows: what causes one, what follows from it, and what resolves it.

import type { ErrorCode, Microphone, StateParams } from './protocol.gen';

/** ProblemCode identifies a failure, reported by the daemon or detected by the extension. */
export type ProblemCode =
  | ErrorCode
  | 'daemonMissing'
  | 'daemonPlatform'
  | 'daemonProtocol'
  | 'daemonBroken'
  | 'daemonGivenUp'
  | 'untrusted'
  | 'noSelection'
  | 'unexpected';

/** Problem is a failure to show to the user, root cause first. */
export interface Problem {
  readonly code: ProblemCode;
  readonly message: string;
  readonly remediation: string;
  readonly retryable: boolean;
  /** the daemon offers a help page */
  readonly hasHelp?: boolean | undefined;
  /** less specific failures that followed from it, newest last */
  readonly then: readonly string[];
}

/** Unspecific failures. They do not replace a more specific cause shown before. */
const GENERAL: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'internalError',
  'startTimeout',
  'suspendTimeout',
  'breakerOpen',
  'sessionFailed',
  'connectionFailed',
  'copilotFailed',
  'copilotTimeout',
  'audioFailed',
  'noConversation',
  'daemonGivenUp',
  'daemonBroken',
  'unexpected',
]);

/** Unspecific failures of parts that every conversation needs, so an earlier failed answer is not their cause. */
const MACHINERY: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'startTimeout',
  'suspendTimeout',
  'breakerOpen',
  'sessionFailed',
  'connectionFailed',
  'audioFailed',
  'daemonGivenUp',
  'daemonBroken',
]);

/** The problem after a transition. A working conversation resolves what prevented it; a failed answer stays until the next question. */
export function afterTransition(problem: Problem | undefined, p: StateParams): Problem | undefined {
  const lost = problem?.code === 'deviceLost' && p.metadata.reason === 'device'; // this one or another
  const works = !lost && ((p.state === 'listening' && p.cause === 'audio.ready' && problem?.code.startsWith('copilot') !== true)
    || (p.cause === 'device.restored' && problem?.code === 'deviceLost'));
  const blocked = p.state === 'suspended' && p.metadata.reason !== 'user'; // by another problem, which replaces the one of the last answer
  return works ? undefined : blocked ? afterQuestion(problem) : problem;
}

/** The problem after an answer, which resolves some, such as an exhausted quota. A tool or voice problem describes what that answer lacks, so it stays. */
export function afterAnswer(problem: Problem | undefined): Problem | undefined {
  return problem !== undefined && /^(copilot|answer|rateLimited)/.test(problem.code) ? undefined : problem;
}

/** The problem after the next question, which clears that of an answer; an infrastructure problem stays until the part works. */
export function afterQuestion(problem: Problem | undefined): Problem | undefined {
  return problem !== undefined && ofAnswer(problem.code) ? undefined : problem;
}

/** The problem after a report of the microphone. */
export function afterMicrophone(problem: Problem | undefined, mic: Microphone): Problem | undefined {
  const ofMicrophone = problem !== undefined && /^microphone(Muted|Silent|Clips|Quiet)$/.test(problem.code);
  return ofMicrophone && mic.fault === undefined ? undefined : problem;
}

function ofAnswer(code: ProblemCode): boolean {
  return /^(copilot|answer|rateLimited|tool|recognition|speech|utterance|text|queue|model|nothing|noSelection|invalid)/.test(code);
}

/** Keeps the root cause in front and appends less specific failures. */
export function withProblem(before: Problem | undefined, now: Omit<Problem, 'then'>): Problem {
  if (before !== undefined && before.code === now.code) {
    return { ...before, ...helped(now), message: now.message, remediation: now.remediation };
  }
  const unrelated = before !== undefined && ofAnswer(before.code) && MACHINERY.has(now.code);
  if (before !== undefined && GENERAL.has(now.code) && !GENERAL.has(before.code) && !unrelated) {
    return before.then.includes(now.message) ? before : { ...before, then: [...before.then, now.message] };
  }
  return { code: now.code, ...helped(now), message: now.message, remediation: now.remediation, retryable: now.retryable, then: [] };
}

const helped = (p: Omit<Problem, 'then'>): { hasHelp?: true } => (p.hasHelp === true ? { hasHelp: true } : {});
