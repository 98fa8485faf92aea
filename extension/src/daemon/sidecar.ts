// The daemon's process: starts on first use, restarts after a crash, gives up after too many crashes, and
// shuts down cleanly.

import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { ErrorCodes, ResponseError } from 'vscode-jsonrpc/node';
import { ERRORS, type InitializeParams, type InitializeResult, METHODS, PROTOCOL_VERSION } from '../protocol.gen';
import type { Translate } from '../text';
import { Wire } from '../wire';
import { Unusable, major } from './find';
import { Restarts } from './restarts';

/** Interval between two heartbeats, in milliseconds. */
export const HEARTBEAT = 5_000;
/** Timeout of initialize, in milliseconds. */
const HANDSHAKE = 15_000;
/** How long to wait for the exit event after the pipe broke, in milliseconds. */
const OBITUARY = 1_000;
/** How long it may take to exit by itself, in milliseconds. */
const FAREWELL = 1_500;

/** Clock is the sidecar's source of time. */
export interface Clock {
  now(): number;
  /** Runs f after the given milliseconds; the result cancels it. */
  after(ms: number, f: () => void): () => void;
}

export const realClock: Clock = {
  now: () => Date.now(),
  after: (ms, f) => {
    const timer = setTimeout(f, ms);
    return () => clearTimeout(timer);
  },
};

/** Log is the sidecar's log; it must not contain the user's words. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  debug(message: string): void;
}

/** Host is what the sidecar needs from the window. */
export interface Host {
  /** Finds, checks and starts the daemon. Throws Unusable. */
  launch(): Promise<ChildProcessWithoutNullStreams>;
  /** The params of initialize except the protocol version. */
  greeting(): Omit<InitializeParams, 'protocolVersion'>;
  /** Sets the handlers; called before reading starts. */
  wired(wire: Wire): void;
  /** Whether the window is responsive; checked before each heartbeat. */
  windowLives(): Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
  readonly t: Translate;
}

/** The sidecar's events. */
export type Event =
  | { readonly is: 'starting' }
  | { readonly is: 'running'; readonly result: InitializeResult; readonly again: boolean }
  | { readonly is: 'restarting'; readonly restart: number }
  | { readonly is: 'stopped' }
  | { readonly is: 'failed'; readonly problem: { code: 'daemonMissing' | 'daemonPlatform' | 'daemonProtocol' | 'daemonBroken' | 'daemonGivenUp'; message: string; remediation: string; retryable: boolean } };

interface Running {
  readonly wire: Wire;
  readonly daemon: ChildProcessWithoutNullStreams;
}

export class Sidecar {
  private readonly restarts = new Restarts();
  private running: Running | undefined;
  private starting: Promise<Wire> | undefined;
  private stopping = false;
  private cancelRestart: (() => void) | undefined;
  private stopHeartbeat: (() => void) | undefined;

  constructor(
    private readonly host: Host,
    private readonly tell: (event: Event) => void,
  ) {}

  /** The current wire, if connected. */
  get wire(): Wire | undefined {
    return this.running?.wire;
  }

  /** The daemon's process id, for diagnostics. */
  get pid(): number | undefined {
    return this.running?.daemon.pid;
  }

  /** Returns the wire of the running daemon, starting it if necessary. A failure is reported before this rejects. */
  start(): Promise<Wire> {
    if (this.running !== undefined) {
      return Promise.resolve(this.running.wire);
    }
    if (this.starting === undefined) {
      this.cancelRestart?.();
      this.cancelRestart = undefined;
      this.restarts.forgive();
      this.tell({ is: 'starting' });
      this.begin(false);
    }
    return this.starting ?? Promise.reject(new Error('the daemon did not start'));
  }

  private begin(again: boolean): void {
    this.stopping = false;
    const attempt = this.open(again).finally(() => {
      if (this.starting === attempt) {
        this.starting = undefined;
      }
    });
    this.starting = attempt;
    attempt.catch(() => undefined); // callers of start receive the rejection
  }

  private async open(again: boolean): Promise<Wire> {
    let daemon: ChildProcessWithoutNullStreams;
    try {
      daemon = await this.host.launch();
    } catch (err) {
      throw this.failed(err);
    }
    if (this.stopping) {
      daemon.kill();
      throw new Error('the window is closing');
    }
    this.readLog(daemon);
    const wire = new Wire(daemon);
    let alive = true;
    const exited = new Promise<never>((_resolve, reject) => {
      const gone = (how: string): void => {
        alive = false;
        reject(new Error(how));
      };
      daemon.once('error', (err) => gone(err.message));
      daemon.once('exit', (code, signal) => {
        gone(signal === null ? `status ${code ?? '?'}` : `signal ${signal}`);
        this.died(daemon, signal ?? `status ${code ?? '?'}`);
      });
    });
    exited.catch(() => undefined);
    wire.onError((err) => this.host.log.warn(`wire: ${err.message}`));
    this.host.wired(wire);
    wire.listen();
    try {
      const result = await this.shakeHands(wire, exited);
      this.running = { wire, daemon };
      this.host.log.info(`daemon ${result.serverInfo.version} runs, process ${daemon.pid ?? '?'}, protocol ${result.protocolVersion}`);
      this.tell({ is: 'running', result, again });
      void wire.notify('initialized').catch(() => undefined); // if the daemon died meanwhile, its exit event reports it
      this.beat(wire);
      return wire;
    } catch (err) {
      wire.dispose();
      if (alive && err instanceof ResponseError && err.code === ErrorCodes.PendingResponseRejected) {
        await this.withTimeout(exited, OBITUARY).catch(() => undefined); // a broken pipe is often the first sign of a crash
      }
      if (alive) {
        daemon.removeAllListeners('exit');
        daemon.kill();
        throw this.failed(err);
      }
      throw err; // died counts the crash
    }
  }

  private async shakeHands(wire: Wire, exited: Promise<never>): Promise<InitializeResult> {
    try {
      const answer = wire.request('initialize', { ...this.host.greeting(), protocolVersion: PROTOCOL_VERSION });
      const result = await this.withTimeout(Promise.race([answer, exited]), HANDSHAKE);
      if (major(result.protocolVersion) !== major(PROTOCOL_VERSION)) {
        throw this.otherProtocol(result.protocolVersion);
      }
      return result;
    } catch (err) {
      if (err instanceof ResponseError && err.code === ERRORS.unsupportedProtocolVersion.code) {
        throw this.otherProtocol('?');
      }
      throw err;
    }
  }

  /** The result of p, or a rejection after the given milliseconds. */
  private withTimeout<T>(p: Promise<T>, ms: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = this.host.clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
      p.finally(stop).then(resolve, reject);
    });
  }

  private otherProtocol(theirs: string): Unusable {
    const t = this.host.t;
    return new Unusable(
      'daemonProtocol',
      t('The daemon speaks another version of the protocol ({0}) than this extension ({1}).', theirs, PROTOCOL_VERSION),
      t('Update the one that is older.'),
    );
  }

  /** The message when restarting would not help. */
  private failed(err: unknown): unknown {
    const { t, log } = this.host;
    const cause = err instanceof Error && err.cause instanceof Error ? `: ${err.cause.message}` : '';
    log.error(`the daemon cannot be used: ${err instanceof Error ? err.message : String(err)}${cause}`);
    const problem = err instanceof Unusable
      ? { code: err.code, message: err.message, remediation: err.remediation, retryable: false }
      : { code: 'daemonBroken' as const, message: t('The daemon does not start.'), remediation: t('Try again. See the log for details.'), retryable: true };
    this.starting = undefined; // allows the next start to retry
    this.tell({ is: 'failed', problem });
    return err;
  }

  private died(daemon: ChildProcessWithoutNullStreams, how: string): void {
    if (this.running?.daemon === daemon) {
      this.running.wire.dispose();
      this.running = undefined;
    }
    this.starting = undefined; // allows the next start to retry
    this.stopHeartbeat?.();
    this.stopHeartbeat = undefined;
    if (this.stopping) {
      this.tell({ is: 'stopped' });
      return;
    }
    const { clock, log, t } = this.host;
    const verdict = this.restarts.died(clock.now());
    if (!verdict.again) {
      log.error(`the daemon died (${how}), for the ${verdict.deaths}th time in three minutes: it is not started again`);
      this.tell({
        is: 'failed',
        problem: {
          code: 'daemonGivenUp',
          message: t('Agent Voice stopped {0} times within three minutes and will not be restarted.', verdict.deaths),
          remediation: t('See the log for the cause, then restart it.'),
          retryable: true,
        },
      });
      return;
    }
    log.warn(`the daemon died (${how}): restart ${verdict.restart} in ${verdict.delay} ms`);
    this.tell({ is: 'restarting', restart: verdict.restart });
    this.cancelRestart = clock.after(verdict.delay, () => {
      this.cancelRestart = undefined;
      this.begin(true);
    });
  }

  private beat(wire: Wire): void {
    const next = (): void => {
      this.stopHeartbeat = this.host.clock.after(HEARTBEAT, () => {
        void this.host.windowLives().then((lives) => {
          if (this.running?.wire !== wire) {
            return;
          }
          if (lives) {
            void wire.notify('client/heartbeat').catch(() => undefined);
          } else {
            this.host.log.warn('the window does not answer: no heartbeat');
          }
          next();
        });
      });
    };
    void wire.notify(METHODS.clientHeartbeat).catch(() => undefined);
    next();
  }

  private readLog(daemon: ChildProcessWithoutNullStreams): void {
    let rest = '';
    daemon.stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = (lines.pop() ?? '').slice(-64 * 1024);
      lines.forEach((line) => logLine(line, this.host.log));
    });
  }

  /** Shuts the daemon down, and kills it after a timeout. Never rejects. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.cancelRestart?.();
    this.cancelRestart = undefined;
    this.stopHeartbeat?.();
    this.stopHeartbeat = undefined;
    await this.starting?.catch(() => undefined);
    const now = this.running;
    if (now === undefined) {
      return;
    }
    const gone = new Promise<void>((resolve) => now.daemon.once('exit', () => resolve()));
    const cancel = this.host.clock.after(FAREWELL, () => now.daemon.kill('SIGKILL'));
    try {
      await now.wire.request('shutdown');
      await now.wire.notify('exit');
    } catch {
      now.daemon.kill();
    }
    await gone;
    cancel();
  }
}

/** A line of the daemon's log: a JSON object, or the output of a crash. */
export function logLine(line: string, log: Log): void {
  if (line.trim() === '') {
    return;
  }
  let level = 'warn';
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed === 'object' && parsed !== null && 'level' in parsed) {
      level = String(parsed.level);
    }
  } catch {
    // not JSON
  }
  switch (level) {
    case 'trace':
    case 'debug':
      log.debug(line);
      break;
    case 'info':
      log.info(line);
      break;
    case 'warn':
      log.warn(line);
      break;
    default:
      log.error(line);
  }
}

/** The message for a request that the daemon refused. */
export function refusal(err: unknown): { code: keyof typeof ERRORS; message: string; remediation: string; retryable: boolean } | undefined {
  if (!(err instanceof ResponseError)) {
    return undefined;
  }
  const data: unknown = err.data;
  if (typeof data === 'object' && data !== null && 'code' in data && 'remediation' in data && typeof data.code === 'string' && data.code in ERRORS) {
    const code = data.code as keyof typeof ERRORS;
    return { code, message: err.message, remediation: String(data.remediation), retryable: ERRORS[code].retryable };
  }
  return undefined;
}
