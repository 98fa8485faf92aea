// Tool approvals over the real wire. The scripts are testdata/script/tool-*.txt.

import assert from 'node:assert/strict';
import { test as nodeTest } from 'node:test';
import { callHash } from '../src/copilot/callHash';
import type { CopilotMessage, ToolStatus } from '../src/protocol.gen';
import { type Assistant, Editor, type Tools, cancellation, completed } from './editor';

/** Timeout of a test, long enough for a slow machine. */
const test = (name: string, f: () => Promise<void>): void => void nodeTest(name, { timeout: 300_000 }, f);

async function withEditor(script: string, assistant: Assistant, tools: Tools, f: (e: Editor) => Promise<void>): Promise<void> {
  const editor = await Editor.open(script, assistant, tools);
  try {
    await f(editor);
    await editor.close();
  } finally {
    editor.kill();
  }
}

/** Calls a tool, and reports its result in the next round. */
const checks =
  (name: string, input: unknown): Assistant =>
  async (params, say, _token, want) => {
    const outcome = params.messages.filter((m) => m.role === 'tool').at(-1);
    if (outcome === undefined) {
      await say('Let me see.');
      await want('call-1', name, input);
    } else {
      await say(`It says: ${outcome.content}.`);
    }
    return completed;
  };

/** The hash of the call that was shown last. */
const shown = (e: Editor): string => e.all('agentvoice.tool').at(-1)?.hash ?? '';
const statuses = (e: Editor): ToolStatus[] => e.all('agentvoice.tool').map((t) => t.status);

const has = (e: Editor, status: ToolStatus): Promise<void> => e.until(status, () => statuses(e).includes(status));

const last = (messages: readonly CopilotMessage[] = []): CopilotMessage | undefined => messages.at(-1);

test('a tool is asked about, allowed by a click, and runs once; its result is in the next round', async () => {
  const tools: Tools = async () => ({ content: '1 failed' });
  await withEditor('tool-click.txt', checks('runTests', { path: 'src/parser.test.ts' }), tools, async (e) => {
    await e.request('conversation/start');
    await has(e, 'waitingForApproval');
    const question = e.all('agentvoice.tool').at(-1);
    assert.match(question?.question ?? '', /^May I use the tool run tests on parser\.test\.ts\?/);
    assert.equal(e.invoked.length, 0);
    for (const hash of [undefined, '', callHash('runTests', {})]) {
      await assert.rejects(e.request('copilot/approveTool', { callId: 'call-1', approved: true, ...(hash === undefined ? {} : { hash }) }), { code: -32077 });
    }
    await e.request('copilot/approveTool', { callId: 'call-1', approved: true, hash: shown(e) });
    await has(e, 'completed');
    await e.until('the second round', () => e.asked.length === 2);
    assert.deepEqual(e.invoked, [{ callId: 'call-1', name: 'runTests', input: { path: 'src/parser.test.ts' }, hash: callHash('runTests', { path: 'src/parser.test.ts' }) }]);
    assert.deepEqual(last(e.asked[1]?.messages), {
      role: 'tool', content: '1 failed', callId: 'call-1', name: 'runTests', input: { path: 'src/parser.test.ts' }, status: 'completed',
    });
    assert.deepEqual([e.asked[1]?.requestId, e.asked[1]?.round, e.asked[1]?.attempt], [e.asked[0]?.requestId, 1, 1]);
    await e.settledIn('speaking');
    await e.request('headless/advance', { ms: 5000 });
    assert.deepEqual(statuses(e), ['requested', 'waitingForApproval', 'running', 'completed']);
    const said = e.all('agentvoice.transcript').filter((t) => t.role === 'assistant' && t.final);
    assert.deepEqual(said.map((t) => t.text), ['Let me see.\n\nIt says: 1 failed.']);
    assert.equal(e.states().at(-1)?.state, 'listening');
  });
});

test('a call that the user allowed beforehand runs without a question, unless it runs a command', async () => {
  const reads: Tools = async () => ({ content: 'two lines' });
  const asks = (name: string, input: unknown): Assistant => async (params, say, _token, want) => {
    if (params.messages.some((m) => m.role === 'tool')) {
      await say('Done.');
    } else {
      await want('call-1', name, input, { destructive: false, allowed: true });
    }
    return completed;
  };
  await withEditor('tool-click.txt', asks('editor_read_file', { path: 'a.ts' }), reads, async (e) => {
    await e.request('conversation/start');
    await e.until('the second round', () => e.asked.length === 2);
    assert.deepEqual(statuses(e), ['requested', 'running', 'completed']);
    assert.deepEqual([e.invoked.length, last(e.asked[1]?.messages)?.content], [1, 'two lines']);
  });
  await withEditor('tool-click.txt', asks('editor_run_command', { command: 'ls' }), reads, async (e) => {
    await e.request('conversation/start');
    await has(e, 'waitingForApproval');
    assert.equal(e.invoked.length, 0);
  });
});

test('a tool that is not allowed does not run, and the assistant is told', async () => {
  const never: Tools = async () => assert.fail('it ran');
  await withEditor('tool-click.txt', checks('runTests', {}), never, async (e) => {
    await e.request('conversation/start');
    await has(e, 'waitingForApproval');
    await e.request('copilot/approveTool', { callId: 'call-1', approved: false });
    await e.until('the second round', () => e.asked.length === 2);
    assert.deepEqual([last(e.asked[1]?.messages)?.role, last(e.asked[1]?.messages)?.status], ['tool', 'rejected']);
    await assert.rejects(e.request('copilot/approveTool', { callId: 'call-1', approved: true, hash: shown(e) }), { code: -32004 });
    assert.equal(e.invoked.length, 0);
  });
});

test('a yes has to name what cannot be undone', async () => {
  const tools: Tools = async () => ({ content: 'deleted' });
  await withEditor('tool-voice.txt', checks('delete_file', { filePath: 'old.txt' }), tools, async (e) => {
    await e.request('conversation/start');
    await has(e, 'completed');
    assert.equal(e.invoked.length, 1);
    const yes = e.all('agentvoice.transcript').filter((t) => t.role === 'user' && t.final).map((t) => t.text);
    assert.deepEqual(yes, ['remove the old file', 'yes', 'yes, delete it']);
    await e.until('the second round', () => e.asked.length === 2);
    assert.deepEqual(
      e.asked[1]?.messages.filter((m) => m.role === 'user').map((m) => m.content),
      ['remove the old file'], // the answers to the approval were for the daemon
    );
  });
});

test('a tool that runs on after the user said stop is not run again, and its result is kept', async () => {
  const tools: Tools = async (_params, token) => {
    await cancellation(token);
    return { content: '1 failed' }; // it could not be cancelled
  };
  await withEditor('tool-interrupted.txt', checks('runTests', {}), tools, async (e) => {
    await e.request('conversation/start');
    await has(e, 'waitingForApproval');
    await e.request('copilot/approveTool', { callId: 'call-1', approved: true, hash: shown(e) });
    await has(e, 'completed');
    await e.until('the next question', () => e.asked.length === 2);
    assert.deepEqual(e.asked[1]?.messages.map((m) => m.content).slice(-2), ['1 failed', 'what came of it']);
    await e.settledIn('speaking');
    assert.equal(e.invoked.length, 1);
  });
});
