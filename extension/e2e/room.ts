// A microphone and a loudspeaker where there is no sound card: a private PulseAudio.
// What is said in the room is heard by the daemon's microphone; what the daemon
// plays is recorded.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './wait.ts';

/** Samples a second of the recording of the loudspeaker. */
const RATE = 16_000;
/** Samples of a piece whose level is taken: 20 ms. */
const PIECE = RATE / 50;
/** The level above which the loudspeaker plays something, as an effective value of 16-bit samples: -50 dBFS. */
const AUDIBLE = 100;

export class Room {
  /** What makes a process use this room. */
  readonly env: Record<string, string>;
  private readonly dir: string;
  private readonly children: ChildProcess[] = [];
  private rest: Buffer = Buffer.alloc(0);
  private readonly loud: number[] = [];

  private constructor(dir: string) {
    this.dir = dir;
    this.env = {
      PULSE_SERVER: `unix:${join(dir, 's')}`,
      PULSE_COOKIE: join(dir, 'cookie'),
      PULSE_CLIENTCONFIG: join(dir, 'client.conf'),
      PULSE_RUNTIME_PATH: dir,
      ALSA_CONFIG_PATH: join(dir, 'asound.conf'),
    };
  }

  /** Opens a room whose files are in dir, a folder with a short path: a socket's path is at most 107 bytes. */
  static async open(dir: string): Promise<Room> {
    mkdirSync(dir, { recursive: true });
    const room = new Room(dir);
    const file = (name: string, content: string | Buffer): void => writeFileSync(join(dir, name), content, { mode: 0o600 });
    file('cookie', Buffer.alloc(256));
    file('client.conf', 'autospawn = no\n');
    file('asound.conf', 'pcm.!default { type pulse }\nctl.!default { type pulse }\n');
    file(
      'script',
      [
        `load-module module-native-protocol-unix auth-anonymous=1 socket=${join(dir, 's')}`,
        'load-module module-null-sink sink_name=mouth rate=48000 channels=1 channel_map=mono',
        'load-module module-null-sink sink_name=loudspeaker rate=48000 channels=2',
        'load-module module-remap-source source_name=microphone master=mouth.monitor channels=1 channel_map=mono',
        'set-default-sink loudspeaker',
        'set-default-source microphone',
        '',
      ].join('\n'),
    );
    room.spawn('pulseaudio', [
      '--daemonize=no', '--exit-idle-time=-1', '--disallow-exit', '-n', '-F', join(dir, 'script'),
      '--disable-shm=yes', '--realtime=no', '--high-priority=no',
    ]);
    await until('the sound server', () => room.pactl('list', 'short', 'sources')?.includes('microphone'));
    // Both are kept awake: a sink that nobody listens to plays in steps of two seconds.
    room.spawn('parec', ['-d', 'mouth.monitor', '--latency-msec=10']).stdout?.resume();
    const heard = room.spawn('parec', [
      '-d', 'loudspeaker.monitor', '--format=s16le', `--rate=${RATE}`, '--channels=1', '--latency-msec=10',
    ]);
    heard.stdout?.on('data', (data: Buffer) => room.hear(data));
    return room;
  }

  /** Plays a WAV file into the microphone, and returns when all of it was played. */
  async say(wav: string): Promise<void> {
    const player = this.spawn('paplay', ['--latency-msec=20', '-d', 'mouth', wav]);
    const status = await new Promise((resolve) => player.once('exit', resolve));
    if (status !== 0) {
      throw new Error(`paplay could not play ${wav}: status ${String(status)}`);
    }
  }

  /** When the loudspeaker was heard last, as a wall clock in milliseconds; undefined for never. */
  lastHeard(): number | undefined {
    return this.loud.at(-1);
  }

  /** For how many milliseconds the loudspeaker was heard since a time of the wall clock. */
  heardSince(at: number): number {
    return this.loud.filter((t) => t >= at).length * (1000 * PIECE) / RATE;
  }

  /** Ends the sound server and what belongs to it. */
  async close(): Promise<void> {
    for (const child of this.children) {
      child.kill('SIGKILL');
    }
    await Promise.all(this.children.map((c) => c.exitCode ?? c.signalCode ?? new Promise((resolve) => c.once('exit', resolve))));
  }

  private hear(data: Buffer): void {
    this.rest = Buffer.concat([this.rest, data]);
    const bytes = PIECE * 2;
    while (this.rest.length >= bytes) {
      let sum = 0;
      for (let i = 0; i < bytes; i += 2) {
        sum += this.rest.readInt16LE(i) ** 2;
      }
      if (Math.sqrt(sum / PIECE) > AUDIBLE) {
        this.loud.push(Date.now());
      }
      this.rest = this.rest.subarray(bytes);
    }
  }

  private pactl(...args: string[]): string | undefined {
    try {
      return execFileSync('pactl', args, { env: this.childEnv(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return undefined; // not yet
    }
  }

  private spawn(program: string, args: string[]): ChildProcess {
    const child = spawn(program, args, { env: this.childEnv(), stdio: ['ignore', 'pipe', 'ignore'] });
    this.children.push(child);
    return child;
  }

  private childEnv(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.env, XDG_RUNTIME_DIR: this.dir, HOME: this.dir, LC_ALL: 'C' };
  }
}
