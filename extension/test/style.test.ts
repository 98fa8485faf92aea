// The panel's style sheet.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const css = readFileSync(join(__dirname, '..', '..', 'webview', 'panel.css'), 'utf8').replace(/\/\*.*?\*\//gs, '');

test('no state sets a custom property on the body, which would restyle the whole transcript', () => {
  const rules = [...css.matchAll(/([^{}]+)\{([^{}]*)\}/g)].map(([, selector = '', body = '']) => ({ selector: selector.trim(), body }));
  const setting = rules.filter(({ body }) => /(^|[;\s])--[a-z]+:/.test(body));
  assert.ok(setting.some(({ selector }) => selector.startsWith('body[data-tone')), 'no rule for a tone was found');
  // A state of the body itself, not of a descendant.
  const whole = (selector: string): boolean => selector.includes('[data-') && /^body\S*$/.test(selector.replace(/\([^)]*\)/g, ''));
  assert.deepEqual(setting.filter(({ selector }) => selector.split(/,(?![^(]*\))/).some((s) => whole(s.trim()))).map(({ selector }) => selector), []);
});
