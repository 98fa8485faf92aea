// Small units: devices with equal names, the hold-to-talk key, the locked screen.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choices, nameOf } from '../src/devices';
import { HoldKey } from '../src/holdKey';
import { lockOf } from '../src/lock';
import type { Device } from '../src/protocol.gen';
import { microphoneSettings, remedies } from '../src/remedies';
import { english } from '../src/text';

test('a key is held from its first report until its repetitions stop', () => {
  const seen: boolean[] = [];
  let timer: { ms: number; f: () => void } | undefined;
  const key = new HoldKey((down) => seen.push(down), (ms, f) => {
    timer = { ms, f };
    return () => (timer = undefined);
  });
  key.pressed();
  assert.deepEqual([seen, timer?.ms], [[true], 1000], 'a system may wait long before it repeats');
  key.pressed();
  key.pressed();
  assert.deepEqual([seen, timer?.ms], [[true], 250]);
  timer?.f();
  assert.deepEqual(seen, [true, false]);
  key.release();
  assert.deepEqual(seen, [true, false], 'it was up already');
  key.pressed();
  assert.deepEqual([seen, timer?.ms], [[true, false, true], 1000]);
});

test('what the session\'s bus says about the lock of the screen is understood', () => {
  assert.equal(lockOf("/org/freedesktop/login1/session/_32: org.freedesktop.DBus.Properties.PropertiesChanged ('org.freedesktop.login1.Session', {'LockedHint': <true>}, @as [])"), true);
  assert.equal(lockOf("... {'LockedHint': <false>}"), false);
  assert.equal(lockOf('/org/gnome/ScreenSaver: org.gnome.ScreenSaver.ActiveChanged (true,)'), true);
  assert.equal(lockOf('/org/freedesktop/login1/session/_32: org.freedesktop.login1.Session.Unlock ()'), false);
  assert.equal(lockOf("{'IdleHint': <true>}"), undefined);
});

const device = (id: string, name: string, over: Partial<Device> = {}): Device => ({ id, name, isDefault: false, isSelected: false, channels: 1, sampleRate: 48_000, ...over });

test('two devices of one name are told apart, and the one that is chosen is the one that is used', () => {
  const devices = [
    device('windows wasapi:USB Audio', 'USB Audio', { isDefault: true, isSelected: true }), device('mme:USB Audio', 'USB Audio'), device('mme:USB Audio#2', 'USB Audio'),
    device('pulse:alsa_input.usb-1', 'Webcam'), device('pulse:alsa_input.usb-2', 'Webcam'), device('mme:Headset', 'Headset'),
  ];
  const rows = choices(devices, english);
  assert.deepEqual(rows.map((r) => [r.label, r.description, r.value]), [
    ['System default', 'follows the system', undefined],
    ['$(check) USB Audio', 'windows wasapi, default', 'windows wasapi:USB Audio'],
    ['USB Audio', 'mme', 'mme:USB Audio'],
    ['USB Audio', 'mme #2', 'mme:USB Audio#2'],
    ['Webcam', 'pulse:alsa_input.usb-1', 'pulse:alsa_input.usb-1'],
    ['Webcam', 'pulse:alsa_input.usb-2', 'pulse:alsa_input.usb-2'],
    ['Headset', '', 'Headset'],
  ]);
  assert.equal(new Set(rows.map((r) => r.label + r.description)).size, rows.length);
  assert.deepEqual([nameOf('mme:USB Audio#2', devices), nameOf('Headset', devices), nameOf('gone:x', devices)], ['USB Audio (mme #2)', 'Headset', 'gone:x']);
});

test('a microphone that is not permitted leads to a page of this system, and on Linux to none of another', () => {
  const commands = (platform: string): string[] => remedies('microphoneDenied', false, english, platform).map((r) => r.command);
  assert.deepEqual(commands('linux'), ['agentvoice.selectMicrophone', 'agentvoice.start']);
  assert.deepEqual([microphoneSettings('linux'), microphoneSettings('freebsd')], [undefined, undefined]);
  for (const [platform, scheme] of [['darwin', 'x-apple.systempreferences:'], ['win32', 'ms-settings:']] as const) {
    assert.deepEqual(commands(platform), ['agentvoice.microphoneSettings', 'agentvoice.start']);
    assert.ok(microphoneSettings(platform)?.startsWith(scheme));
  }
});
