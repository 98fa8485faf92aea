// A microphone and a speaker without a sound card: a private PulseAudio. The daemon's microphone hears
// what is said in the room, and what the daemon plays is recorded.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './wait.ts';

/** Sample rate of the speaker's recording. */
const RATE = 16_000;
/** Samples per level measurement: 20 ms. */
const PIECE = RATE / 50;
/** Level above which the speaker counts as playing, as the RMS of 16-bit samples: -50 dBFS. */
const AUDIBLE = 100;
/** Range of the room's noise, in 16-bit samples: -75 dBFS. */
const QUIET = 20;

export class Room {
  /** The environment that makes a process use this room. */
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

  /** Opens a room with its files in dir. The path must be short: a socket path is at most 107 bytes. */
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
    // Like on a desktop, the server comes before programs that compute, where the system lets it.
    room.spawn('pulseaudio', [
      '--daemonize=no', '--exit-idle-time=-1', '--disallow-exit', '-n', '-F', join(dir, 'script'),
      '--disable-shm=yes', '--realtime=no', '--high-priority=yes',
    ]);
    await until('the sound server', () => room.pactl('list', 'short', 'sources')?.includes('microphone'));
    // Keeps both active: an unused sink plays in steps of two seconds.
    room.spawn('parec', ['-d', 'mouth.monitor', '--latency-msec=10']).stdout?.resume();
    const heard = room.spawn('parec', [
      '-d', 'loudspeaker.monitor', '--format=s16le', `--rate=${RATE}`, '--channels=1', '--latency-msec=10',
    ]);
    heard.stdout?.on('data', (data: Buffer) => room.hear(data));
    room.murmur();
    return room;
  }

  /** Plays the noise of a quiet room into the microphone for ever: one without any sound would be told as broken. */
  private murmur(): void {
    const second = Int16Array.from({ length: RATE }, () => Math.round((Math.random() - 0.5) * QUIET));
    const player = this.spawn('pacat', ['-d', 'mouth', '--format=s16le', `--rate=${RATE}`, '--channels=1', '--latency-msec=500'], 'pipe');
    const { stdin } = player;
    const feed = (): void => {
      while (stdin?.write(new Uint8Array(second.buffer)) === true);
    };
    stdin?.on('drain', feed).on('error', () => undefined); // the player was stopped
    feed();
  }

  /** Plays a WAV file into the microphone, and returns at its end. */
  async say(wav: string): Promise<void> {
    // The server gets the recording ahead of time: a small buffer would run dry on a busy machine, and
    // the gaps would end the utterance.
    const player = this.spawn('paplay', ['-d', 'mouth', wav]);
    const status = await new Promise((resolve) => player.once('exit', resolve));
    if (status !== 0) {
      throw new Error(`paplay could not play ${wav}: status ${String(status)}`);
    }
  }

  /** When the speaker was last heard, as wall-clock milliseconds; undefined if never. */
  lastHeard(): number | undefined {
    return this.loud.at(-1);
  }

  /** How many milliseconds the speaker was heard since a wall-clock time. */
  heardSince(at: number): number {
    return this.loud.filter((t) => t >= at).length * (1000 * PIECE) / RATE;
  }

  /** Stops the sound server and its processes. */
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

  private spawn(program: string, args: string[], stdin: 'ignore' | 'pipe' = 'ignore'): ChildProcess {
    const child = spawn(program, args, { env: this.childEnv(), stdio: [stdin, 'pipe', 'ignore'] });
    this.children.push(child);
    return child;
  }

  private childEnv(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.env, XDG_RUNTIME_DIR: this.dir, HOME: this.dir, LC_ALL: 'C' };
  }
}
