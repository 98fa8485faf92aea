// A program of its own that holds a text in memory while its window is loaded again: neither the extension nor its
// daemon outlive that, and whatever the editor would keep for an extension or a page, it writes to disk.
//
//   node keeper.js PATH MILLISECONDS
//
// It reads a line with a token and then the text from standard input, closes standard output, gives the text once, to whoever connects to
// PATH and sends the token, and ends. Without that it ends after the time.

import { rmSync, rmdirSync } from 'node:fs';
import { type Socket, createServer } from 'node:net';
import { dirname } from 'node:path';

/** The length of a token in bytes. */
const TOKEN = 64;

const [path = '', milliseconds = ''] = process.argv.slice(2);
if (path === '' || milliseconds === '') {
  process.exit(2);
}

function end(): never {
  if (process.platform !== 'win32') {
    rmSync(path, { force: true });
    try {
      rmdirSync(dirname(path)); // only if it is empty
    } catch {
      // it is not ours, or is gone
    }
  }
  process.exit();
}

const read = new Promise<{ token: string; text: string }>((resolve) => {
  let all = '';
  process.stdin.setEncoding('utf8').on('data', (part: string) => (all += part));
  process.stdin.once('end', () => resolve({ token: all.slice(0, TOKEN), text: all.slice(TOKEN + 1) }));
});

async function give(socket: Socket): Promise<void> {
  socket.on('error', () => undefined);
  let sent = '';
  for await (const part of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    sent += part.toString();
    if (sent.length >= TOKEN) {
      break;
    }
  }
  const { token, text } = await read;
  if (sent !== token) {
    socket.destroy();
  } else {
    socket.end(text, end);
  }
}

createServer((socket) => void give(socket)).listen(path, () => void read.then(() => process.stdout.end()));
setTimeout(end, Number(milliseconds));
