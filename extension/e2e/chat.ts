// Scenarios with VS Code's Chat view: @voice, and the Chat view as the assistant.

import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { question } from './copilot.ts';
import { until } from './wait.ts';
import { type World, conversation } from './world.ts';

/** The answers in the Chat view. */
function answers(w: World): Locator {
  return w.window.page.locator('.interactive-session .interactive-response');
}

async function openChat(w: World): Promise<void> {
  await w.window.command('Chat: Open Chat');
  await w.window.page.locator('.interactive-session .interactive-input-part .view-line').first().waitFor();
}

/** Types a question to @voice and sends it. */
async function askVoice(w: World, text: string): Promise<void> {
  const { page } = w.window;
  await page.locator('.interactive-session .interactive-input-part .monaco-editor').first().click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(`@voice ${text}`); // in one step, so that no suggestion is accepted
  await page.locator('.interactive-session .interactive-input-part').getByRole('button', { name: /^Send/ }).first().click();
}

export function chat(): void {
  conversation('@voice: what is typed in the Chat view is a turn of the conversation, answered there and aloud', async (w) => {
    w.copilot.answers({ parts: [{ text: 'It has three entries.' }] });
    w.copilot.forget();
    const begin = Date.now();
    await openChat(w);
    await askVoice(w, 'how long is the list');
    const request = await w.copilot.nth('request');
    assert.ok(question(request).endsWith('how long is the list'), question(request));
    await answers(w).filter({ hasText: 'It has three entries.' }).waitFor();
    await until('the voice', () => w.room.heardSince(begin) > 500);
    await w.panel.labelAfter('Speaking', begin);
    await w.panel.label('Listening');
    assert.equal((await w.panel.lines('user')).at(-1), 'how long is the list');
    assert.equal((await w.panel.lines('assistant')).at(-1), 'It has three entries.');
    assert.equal(w.copilot.all('request').length, 1);
    assert.deepEqual(w.copilot.all('chat'), [], 'the default participant is not asked as well');
    await w.picture('windows', 'chat-voice');
  });

  conversation('@voice, stopped before its first word: the request in the Chat view ends, and so does the question', async (w) => {
    w.copilot.answers({ parts: [{ gate: 'never' }, { text: 'Too late.' }] });
    w.copilot.forget();
    await openChat(w);
    await askVoice(w, 'how long does it take');
    const request = await w.copilot.nth('request');
    await w.panel.label('Waiting for Copilot');
    await w.panel.button('stop-speaking').click(); // in the panel; the Chat view is notified
    await answers(w).last().filter({ hasText: 'stopped before an answer' }).waitFor();
    await w.panel.label('Listening');
    assert.equal((await w.copilot.nth('cancelled')).id, request.id);
    await askVoice(w, 'and this one');
    await w.copilot.nth('request', 2);
    await w.window.page.locator('.interactive-session .interactive-input-part').getByRole('button', { name: /^Cancel|^Stop/ }).first().click();
    await w.copilot.nth('cancelled', 2);
    await w.panel.label('Listening');
  });

  conversation('with the Chat view as the one who answers, @voice does not ask itself: a model answers, and once', async (w) => {
    await w.copilot.configure({ 'agentvoice.copilot.mode': 'chatView' });
    try {
      w.copilot.answers({ parts: [{ text: 'Four, to be exact.' }] });
      w.copilot.forget();
      await openChat(w);
      await askVoice(w, 'how many are there');
      await answers(w).filter({ hasText: 'Four, to be exact.' }).waitFor();
      await w.panel.label('Listening');
      assert.deepEqual([w.copilot.all('request').length, w.copilot.all('chat')], [1, []]);
    } finally {
      await w.copilot.configure({ 'agentvoice.copilot.mode': null });
    }
  });

  inChatView('a spoken question arrives there once, in agent mode, and the answer is read aloud as it grows', async (w) => {
    w.copilot.chats({ text: 'The parser splits the text at commas. ' }, { gate: 'rest' }, { text: 'It returns a list.' });
    const begin = Date.now();
    await w.say('question');
    const { prompt } = await w.copilot.nth('chat');
    await until('the first sentence', async () => (await lastAnswer(w))?.trim() === 'The parser splits the text at commas.');
    await until('the voice', () => w.room.heardSince(begin) > 1000);
    assert.deepEqual(w.copilot.all('chatAnswered'), [], 'it is read before the answer is complete');
    w.copilot.open('rest');
    await until('the answer', async () => (await lastAnswer(w)) === 'The parser splits the text at commas. It returns a list.');
    await w.panel.label('Listening');
    assert.equal((await w.panel.lines('user')).at(-1), prompt);
    assert.equal(w.copilot.all('chat').length, 1);
    assert.deepEqual(w.copilot.all('request'), [], 'no model is asked beside it');
    await w.picture('windows', 'chat-view');
  });

  inChatView('what it asks the user is said aloud and answered there, for the one call; the end is the true one', async (w) => {
    w.copilot.chats({ text: 'I deploy it.' }, { tool: 'fake_deploy', input: {} }, { text: 'It is deployed.' });
    await w.say('question');
    await until('the announcement', async () => (await lastAnswer(w))?.includes('The Chat view needs your approval or an answer.'));
    assert.deepEqual(w.copilot.all('tool'), [], 'nothing is allowed in the name of the user');
    await w.picture('windows', 'chat-view-approval');
    await w.window.page.locator('.interactive-session').getByRole('button', { name: /^Allow/ }).first().click();
    await w.copilot.nth('tool');
    await until('the end', async () => (await lastAnswer(w))?.endsWith('It is deployed. The Chat view is done.'));
    await w.panel.label('Listening');
  });

  inChatView('an interruption stops its own request', async (w) => {
    w.copilot.chats({ text: 'It takes a while.' }, { gate: 'never' }, { text: 'Too late.' });
    await w.say('question');
    await until('the first sentence', async () => (await lastAnswer(w)) === 'It takes a while.');
    await w.panel.button('stop-speaking').click();
    await w.copilot.nth('chatCancelled');
    await w.panel.label('Listening');
    assert.equal(await w.window.toasts().count(), 0);
  });

  inChatView('a draft in its input stays, and the voice says so', async (w) => {
    const line = w.window.page.locator('.interactive-session .interactive-input-part .view-line').first();
    await line.click();
    await w.window.page.keyboard.insertText('half a thought');
    await w.say('question');
    await until('the reason', async () => (await lastAnswer(w))?.startsWith('There is a draft in the Chat view'));
    await w.panel.label('Listening');
    assert.deepEqual(w.copilot.all('chat'), []);
    assert.equal((await line.innerText()).replaceAll('\u00a0', ' '), 'half a thought');
    await w.picture('windows', 'chat-view-draft');
    await line.click();
    await w.window.page.keyboard.press('ControlOrMeta+A');
    await w.window.page.keyboard.press('Delete');
  });
}

/** The panel's last answer, with its paragraphs joined into one line. */
async function lastAnswer(w: World): Promise<string | undefined> {
  return (await w.panel.lines('assistant')).at(-1)?.replace(/\s+/g, ' ');
}

/** A scenario in which the Chat view is the assistant. */
function inChatView(name: string, run: (w: World) => Promise<void>): void {
  conversation(`the Chat view answers: ${name}`, async (w) => {
    await w.copilot.configure({ 'agentvoice.copilot.mode': 'chatView' });
    try {
      await w.panel.get('session').filter({ hasText: 'Chat view' }).waitFor();
      w.copilot.forget();
      await run(w);
    } finally {
      w.copilot.chats();
      await w.copilot.configure({ 'agentvoice.copilot.mode': null });
    }
  });
}
