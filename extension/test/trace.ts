// Traces of the wire: what a real daemon sent to a window, recorded once and replayed into the panel's model.

import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StreamMessageReader } from 'vscode-jsonrpc/node';
import { type Model, START, reduce } from '../src/model';
import { ModelSync } from '../src/sync';
import type { Wire } from '../src/wire';

/** A message of the daemon: a notification, or the result of a request of the window. */
export interface Sent {
  readonly method: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

/** The requests whose results the model uses. */
const ASKED = ['conversation/state', 'conversation/transcript'];

/** Records what a daemon sends. Its pipes stay usable. */
export function record(daemon: ChildProcessWithoutNullStreams, into: Sent[]): void {
  const asked = new Map<unknown, string>();
  const write = daemon.stdin.write.bind(daemon.stdin) as (chunk: unknown, ...rest: unknown[]) => boolean;
  daemon.stdin.write = (chunk: unknown, ...rest: unknown[]): boolean => {
    const found = /"id":(\d+),"method":"([^"]+)"/.exec(String(chunk));
    if (found?.[1] !== undefined && found[2] !== undefined) {
      asked.set(Number(found[1]), found[2]);
    }
    return write(chunk, ...rest);
  };
  new StreamMessageReader(daemon.stdout).listen((message) => {
    const { id, method, params, result } = message as { id?: unknown; method?: string; params?: unknown; result?: unknown };
    const request = asked.get(id) ?? '';
    if (method?.startsWith('agentvoice.') === true) {
      into.push({ method, params });
    } else if (ASKED.includes(request)) {
      into.push({ method: request, result });
    }
  });
}

const file = (name: string): string => join(__dirname, '..', '..', 'test', 'traces', `${name}.jsonl`);

/** The recorded trace of this name. With AGENTVOICE_TRACES=write, now becomes it. */
export function recorded(name: string, now?: readonly Sent[]): Sent[] {
  if (now !== undefined && process.env['AGENTVOICE_TRACES'] === 'write') {
    writeFileSync(file(name), now.map((sent) => `${JSON.stringify(sent)}\n`).join(''));
  }
  return readFileSync(file(name), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Sent);
}

/** The model of a window after a trace. */
export async function replay(trace: readonly Sent[]): Promise<Model> {
  let model = reduce(START, { is: 'daemon', phase: 'running' });
  const handlers = new Map<string, (params: unknown) => void>();
  const waiting: { method: string; resolve: (result: unknown) => void }[] = [];
  const wire = {
    on: (method: string, f: (params: unknown) => void) => void handlers.set(method, f),
    request: (method: string) => new Promise((resolve) => waiting.push({ method, resolve })),
  };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
  const clock = { now: () => 0, after: () => () => undefined };
  new ModelSync(wire as unknown as Wire, () => model, (change) => (model = reduce(model, change)), clock, log).listen();
  for (const { method, params, result } of trace) {
    if (result === undefined) {
      handlers.get(method)?.(params);
    } else {
      const at = waiting.findIndex((w) => w.method === method);
      waiting.splice(at, at < 0 ? 0 : 1)[0]?.resolve(result);
    }
    await new Promise(setImmediate); // continuations of requests
  }
  return model;
}
