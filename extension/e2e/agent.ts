// A coding agent that speaks the Agent Client Protocol on its standard input and output. It records in which folder
// it was started, and says so in its answer. The tests give its path to agentvoice.agent. With the argument
// signed-out it opens no session.

import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly cwd?: string };
}

const record = process.argv[2] ?? '';
const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const answer = (id: Message['id'], result: object): void => send({ id, result });

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as Message;
  switch (method) {
    case 'initialize':
      answer(id, { protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: 'scripted', version: '1' } });
      break;
    case 'session/new':
      if (process.argv[3] === 'signed-out') {
        send({ id, error: { code: -32000, message: 'Authentication required' } });
        break;
      }
      appendFileSync(record, `${JSON.stringify({ process: process.cwd(), session: params?.cwd })}\n`);
      answer(id, { sessionId: 's' });
      break;
    case 'session/prompt':
      send({ method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `I work in ${basename(process.cwd())}.` } } } });
      answer(id, { stopReason: 'end_turn' });
      break;
  }
});
