// The lifecycle of the daemon's process, with processes that the test starts and kills, and virtual
// time.

import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { test as nodeTest } from 'node:test';
import { Unusable } from '../src/daemon/find';
import { Restarts } from '../src/daemon/restarts';
import { type Clock, type Event, HEARTBEAT, type Host, type Log, Sidecar, logLine } from '../src/daemon/sidecar';
import { PROTOCOL_VERSION } from '../src/protocol.gen';
import { english } from '../src/text';

/** Timeout of a test, long enough for a slow machine. */
const test = (name: string, f: () => Promise<void> | void): void => void nodeTest(name, { timeout: 300_000 }, f);

const MINUTE = 60_000;

test('a daemon that dies is started again four times, and given up at the fifth death in three minutes', () => {
  const r = new Restarts();
  const verdicts = [0, 1, 2, 3, 4].map((i) => r.died(i * 1000));
  assert.deepEqual(verdicts.map((v) => v.again), [true, true, true, true, false]);
  assert.deepEqual(verdicts.map((v) => (v.again ? v.delay : -1)), [100, 200, 400, 800, -1]);
});

test('deaths that are far apart are forgiven by time', () => {
  const r = new Restarts();
  for (let i = 0; i < 20; i++) {
    assert.equal(r.died(i * MINUTE).again, true);
  }
});

test('circuit breaker reset by any transition: nothing but time and the user resets it', async () => {
  const world: World = new World((e): unknown => e.is === 'running' && world.kill()); // it starts successfully each time, and crashes
  await world.sidecar.start();
  await world.until((events) => events.some((e) => e.is === 'failed'));
  assert.deepEqual(world.kinds(), [
    'starting', 'running', 'restarting', 'running', 'restarting', 'running', 'restarting', 'running', 'restarting', 'running', 'failed',
  ]);
  const last = world.events.at(-1);
  assert.ok(last?.is === 'failed' && last.problem.code === 'daemonGivenUp' && last.problem.retryable);
  assert.match(last.problem.message, /5 times within three minutes/);
  // An explicit start is a new attempt with all its restarts.
  world.each = (): void => undefined;
  await world.sidecar.start();
  assert.equal(world.kinds().at(-1), 'running');
  world.kill();
  await world.until((events) => events.at(-1)?.is === 'running' && events.at(-2)?.is === 'restarting');
  await world.sidecar.stop();
});

test('who starts it the moment it is given up begins anew, and does not wait for the dead one', async () => {
  let anew: Promise<unknown> | undefined;
  const world: World = new World((e): void => {
    if (e.is === 'failed') {
      world.still = false;
      anew = world.sidecar.start();
    }
  });
  world.still = true; // it exits before it sends anything
  await assert.rejects(world.sidecar.start());
  await world.until(() => anew !== undefined);
  await anew;
  assert.equal(world.kinds().at(-1), 'running');
  await world.sidecar.stop();
});

test('two who want the daemon get one', async () => {
  const world = new World();
  const [a, b] = await Promise.all([world.sidecar.start(), world.sidecar.start()]);
  assert.equal(a, b);
  assert.equal(world.launched, 1);
  await world.sidecar.stop();
  assert.equal(world.kinds().at(-1), 'stopped');
});

test('a daemon that cannot be used is said once, with its cause, and the next start is an attempt of its own', async () => {
  const world = new World();
  world.refuse = new Unusable('daemonMissing', 'It is not there.', 'Install it.');
  await assert.rejects(world.sidecar.start());
  await assert.rejects(world.sidecar.start());
  assert.deepEqual(world.kinds(), ['starting', 'failed', 'starting', 'failed']);
  assert.ok(world.events[1]?.is === 'failed' && world.events[1].problem.code === 'daemonMissing');
  world.refuse = undefined;
  await world.sidecar.start();
  assert.equal(world.kinds().at(-1), 'running');
  await world.sidecar.stop();
});

test('a daemon that speaks another version of the protocol is refused with both', async () => {
  const world = new World();
  world.version = '9.0';
  await assert.rejects(world.sidecar.start());
  const [, failed] = world.events;
  assert.ok(failed?.is === 'failed' && failed.problem.code === 'daemonProtocol');
  assert.match(failed.problem.message, /9\.0/);
  assert.ok(failed.problem.message.includes(PROTOCOL_VERSION));
});

test('a heartbeat goes out while the window answers, and none while it does not', async () => {
  const world = new World();
  await world.sidecar.start();
  await world.beats(1); // the first one immediately
  world.clock.advance(HEARTBEAT);
  await world.beats(2);
  world.lives = false;
  world.clock.advance(HEARTBEAT);
  await world.asked(2);
  world.lives = true;
  world.clock.advance(HEARTBEAT);
  await world.beats(3);
  assert.equal(world.heard.filter((m) => m === 'client/heartbeat').length, 3);
  await world.sidecar.stop();
});

test('a daemon that does not end by itself is ended', async () => {
  const world = new World();
  world.stubborn = true;
  await world.sidecar.start();
  const stopping = world.sidecar.stop();
  await world.until(() => world.heard.includes('exit'));
  world.clock.advance(2_000);
  await stopping;
  assert.equal(world.kinds().at(-1), 'stopped');
});

test('lines of the daemon\'s log keep their level', () => {
  const seen: string[] = [];
  const log: Log = { info: () => seen.push('info'), warn: () => seen.push('warn'), error: () => seen.push('error'), debug: () => seen.push('debug') };
  for (const line of ['{"level":"info"}', '{"level":"fatal"}', '{"level":"trace"}', 'panic: x', '', '{"level":"warn"}']) {
    logLine(line, log);
  }
  assert.deepEqual(seen, ['info', 'error', 'debug', 'warn', 'warn']);
});

/** Time that stands still until advanced; timers that are due immediately (a restart) run at once. */
class TestClock implements Clock {
  private at = 0;
  private timers: { due: number; f: () => void }[] = [];

  now(): number {
    return this.at;
  }

  after(ms: number, f: () => void): () => void {
    const timer = { due: this.at + ms, f };
    this.timers.push(timer);
    if (ms < 1_000) {
      setImmediate(() => this.timers.includes(timer) && this.fire(timer));
    }
    return () => (this.timers = this.timers.filter((t) => t !== timer));
  }

  advance(ms: number): void {
    this.at += ms;
    for (const timer of this.timers.filter((t) => t.due <= this.at)) {
      this.fire(timer);
    }
  }

  private fire(timer: { due: number; f: () => void }): void {
    this.timers = this.timers.filter((t) => t !== timer);
    timer.f();
  }
}

/** Plays the daemon's part of the handshake, and prints its input on standard error. */
const PLAYER = `
let rest = Buffer.alloc(0);
const send = (m) => { const b = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...m })); process.stdout.write('Content-Length: ' + b.length + '\\r\\n\\r\\n' + b); };
const snapshot = { state: 'idle', since: '', metadata: { sessionId: '' }, localizedLabel: '○ Ready', queue: { count: 0, ids: [] }, paused: { conversation: false, voice: false }, session: { state: 'inactive' }, connection: { state: 'disconnected', epoch: 0 }, seq: 0 };
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (;;) {
    const m = /^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(rest.toString('latin1'));
    if (m === null || rest.length < m[0].length + Number(m[1])) return;
    const body = JSON.parse(rest.subarray(m[0].length, m[0].length + Number(m[1])));
    rest = rest.subarray(m[0].length + Number(m[1]));
    process.stderr.write(JSON.stringify({ level: 'info', heard: body.method }) + '\\n');
    if (body.method === 'initialize') send({ id: body.id, result: { serverInfo: { name: 'p', version: '1' }, protocolVersion: process.argv[1], capabilities: {}, snapshot } });
    if (body.method === 'shutdown') send({ id: body.id, result: null });
    if (body.method === 'exit' && process.argv[2] !== 'stubborn') process.exit(0);
  }
});
`;

class World {
  readonly events: Event[] = [];
  readonly heard: string[] = [];
  readonly clock = new TestClock();
  readonly sidecar: Sidecar;
  launched = 0;
  refuse: Unusable | undefined;
  version: string = PROTOCOL_VERSION;
  stubborn = false;
  still = false;
  lives = true;
  private questions = 0;
  private child: ChildProcessWithoutNullStreams | undefined;
  private waiting: (() => void)[] = [];

  constructor(public each: (event: Event) => unknown = () => undefined) {
    const note = (line: string): void => {
      const heard = /"heard":"([^"]+)"/.exec(line)?.[1];
      if (heard !== undefined) {
        this.heard.push(heard);
        this.stir();
      }
    };
    const host: Host = {
      launch: () => this.launch(),
      greeting: () => ({ locale: 'en' }),
      wired: () => undefined,
      windowLives: () => {
        this.questions++;
        const answer = Promise.resolve(this.lives);
        setImmediate(() => this.stir());
        return answer;
      },
      clock: this.clock,
      log: { info: note, warn: () => undefined, error: () => undefined, debug: () => undefined },
      t: english,
    };
    this.sidecar = new Sidecar(host, (event) => {
      this.events.push(event);
      this.each(event);
      this.stir();
    });
  }

  private async launch(): Promise<ChildProcessWithoutNullStreams> {
    if (this.refuse !== undefined) {
      throw this.refuse;
    }
    this.launched++;
    this.child = spawn(process.execPath, ['-e', PLAYER, this.version, this.stubborn ? 'stubborn' : '']);
    await new Promise((resolve) => this.child?.once('spawn', resolve));
    if (this.still) {
      this.kill();
    }
    return this.child;
  }

  kill(): void {
    this.child?.kill('SIGKILL');
  }

  kinds(): string[] {
    return this.events.map((e) => e.is);
  }

  beats(n: number): Promise<void> {
    return this.until(() => this.heard.filter((m) => m === 'client/heartbeat').length >= n);
  }

  asked(n: number): Promise<void> {
    return this.until(() => this.questions >= n);
  }

  async until(holds: (events: Event[]) => boolean): Promise<void> {
    while (!holds(this.events)) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  private stir(): void {
    const now = this.waiting;
    this.waiting = [];
    now.forEach((f) => f());
  }
}
