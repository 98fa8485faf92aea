// The help page for a failure: the daemon knows it, the user opens it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayOpen, remedies } from '../src/remedies';
import { english } from '../src/text';
import { Desk } from './headless';

void test('the button of a failure opens the page of the provider, and nothing opens one unasked', { timeout: 300_000 }, async () => {
  const d = new Desk('await state listening\nsession.failed quotaExceeded\n');
  try {
    d.configuration = { 'agentvoice.provider': 'openai' };
    await d.conversation.start();
    await d.until('the failure', (m) => m.problem?.code === 'quotaExceeded');
    assert.equal(d.model.problem?.hasHelp, true);
    assert.deepEqual(d.opened, []);
    await d.conversation.openHelp();
    assert.deepEqual(d.opened, ['https://platform.openai.com/settings/organization/billing/overview']);
  } finally {
    await d.close();
  }
});

void test('a failure without a page has no button for one', () => {
  const commands = (hasHelp: boolean): string[] => remedies('quotaExceeded', false, english, '', hasHelp).map((r) => r.command);
  assert.deepEqual(commands(true), ['agentvoice.openHelp', 'agentvoice.openSettings']);
  assert.deepEqual(commands(false), ['agentvoice.openSettings']);
});

void test('only pages of the web are opened', () => {
  assert.ok(mayOpen('https://platform.openai.com/api-keys'));
  for (const url of ['http://example.com/', 'file:///etc/passwd', 'command:workbench.action.quit', 'vscode://x/y', 'https://user:pass@example.com/', 'javascript:alert(1)', 'nonsense', '']) {
    assert.ok(!mayOpen(url), url);
  }
});
