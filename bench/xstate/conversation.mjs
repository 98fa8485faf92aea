// The conversation's region.

import { and, assign, enqueueActions, not, stateIn } from 'xstate'

import {
  arm, ask, begin, clearQueue, connected, connectionGone, content, counts, cutOff, drainedAll, endTurn,
  enqueueUtterance, giveUp, heardAll, knows, live, ofEpoch, ofGen, ofInstance, ofRequest, openTurn,
  publish, send, sendAfter, sendUnsent, silent, spokenOver, started, stop, stopWord, takeQueued, tell, timer, unsent,
  whole,
} from './parts.mjs'

/** The ways out of every state of a conversation. */
const out = (prior) => ({
  'user.stop': 'terminating',
  'session.failed': { guard: ofInstance, target: 'faulted' },
  'audio.failed': { guard: ofInstance, target: 'faulted' },
  'session.renewal': { guard: ofInstance, target: 'suspended', actions: assign({ prior, reasons: 2 }) },
  'device.lost': { guard: ofInstance, target: 'suspended', actions: assign({ prior, reasons: 8 }) },
  suspend: { target: 'suspended', actions: assign({ prior, reasons: ({ event }) => event.reason }) },
  'conn.lost': { guard: connected, target: 'suspended', actions: assign({ prior, reasons: connectionGone }) },
})

/** What is taken while the assistant has the floor. */
const waiting = {
  'user.text': { actions: enqueueUtterance },
  'stt.partial': { guard: and([connected, knows]) },
}

const listening = {
  entry: [
    publish('Listening'),
    enqueueActions(({ context, event, enqueue }) => {
      if (context.open !== 0 || context.pending.length > 0) enqueue(openTurn)
      else if (context.queue.length > 0) enqueue.raise({ type: 'queue.next', at: event.at, seq: event.seq })
    }),
  ],
  on: {
    ...out('listening'),
    'vad.start': { guard: and([connected, silent]), actions: openTurn },
    'stt.partial': { guard: and([connected, knows]) },
    'stt.final': [
      { guard: and([connected, knows, content, spokenOver]), target: 'processing', actions: [...cutOff, ...sendAfter] },
      { guard: and([connected, knows, content]), target: 'processing', actions: send(({ event }) => event.utterance) },
      { guard: and([connected, knows]), actions: endTurn('dropped') },
    ],
    'user.commit': { guard: not(silent), target: 'processing', actions: openTurn },
    'user.text': { target: 'processing', actions: send(({ event }) => event.utterance) },
    'user.retry': { guard: ({ context }) => context.retry !== 0, target: 'processing', actions: send(({ context }) => context.retry) },
    'queue.next': {
      guard: ({ context }) => context.queue.length > 0, target: 'processing',
      actions: [...send(({ context }) => context.queue[0]), takeQueued],
    },
    'user.interrupt': { actions: [clearQueue, tell('flush')] },
    'tts.bufferReady': { guard: started, target: 'speaking' },
    'tts.failed': { guard: ofGen, actions: giveUp('failed') },
    timer: { guard: timer('speech'), actions: giveUp('failed') },
  },
}

const processing = {
  initial: 'analysing',
  exit: stop('response'),
  on: {
    ...out('listening'),
    ...waiting,
    'stt.final': [
      { guard: and([connected, knows, stopWord]), target: 'listening', actions: giveUp('dropped') },
      { guard: and([connected, knows, content]), actions: enqueueUtterance },
    ],
    'user.interrupt': { target: 'listening', actions: giveUp('dropped') },
    'copilot.done': { guard: live, target: 'listening', actions: giveUp('failed') },
    timer: { guard: timer('response'), target: 'listening', actions: giveUp('failed') },
  },
  states: {
    analysing: {
      entry: [publish('Analysing'), ...arm('response')],
      on: {
        'copilot.request': {
          guard: live, target: 'waitingForCopilot',
          actions: assign(({ context, event }) => ({ current: { ...context.current, attempt: event.attempt } })),
        },
        'copilot.done': { guard: and([unsent, ofRequest]), actions: [...sendUnsent, ...arm('response')] },
      },
    },
    waitingForCopilot: {
      entry: publish('WaitingForCopilot'),
      on: {
        'copilot.delta': { guard: live, target: 'generatingResponse' },
        'copilot.segment': { guard: live, target: 'generatingResponse' },
      },
    },
    generatingResponse: {
      entry: [publish('GeneratingResponse'), ...stop('response')],
      on: {
        'tts.bufferReady': { guard: started, target: '#speaking' },
        'copilot.done': [
          { guard: and([live, whole, heardAll]), target: '#listening', actions: endTurn('answered') },
          { guard: and([live, whole]) },
        ],
        'tts.failed': { guard: ofGen, target: '#listening', actions: giveUp('failed') },
      },
    },
  },
}

const speaking = {
  entry: [
    assign(({ context }) => ({ current: { ...context.current, role: 'assistant' } })),
    publish('Speaking'),
    ask('StartPlayback', ({ context }) => ({ gen: context.line.gen })),
  ],
  on: {
    ...out('speaking'),
    ...waiting,
    'tts.drained': [
      { guard: and([ofGen, ({ context }) => context.line.ended, drainedAll]), target: 'listening', actions: endTurn('answered') },
      { guard: ofGen, target: 'processing.generatingResponse' },
    ],
    'vad.start': { guard: and([connected, silent]), target: 'inDoubt' },
    'user.interrupt': { target: 'interrupted', actions: clearQueue },
    'stt.final': { guard: and([connected, knows, content]), actions: enqueueUtterance },
    'user.playback': { actions: tell('playback', ({ event }) => ({ pause: event.pause })) },
    'tts.failed': { guard: ofGen, target: 'listening', actions: giveUp('failed') },
    timer: { guard: timer('speech'), target: 'listening', actions: giveUp('failed') },
  },
}

/** A voice over the assistant that may be a cough: the answer is paused. */
const inDoubt = {
  entry: [publish('Interrupted'), tell('playback', () => ({ pause: true })), ...arm('confirm')],
  exit: stop('confirm'),
  on: {
    ...out('speaking'),
    'user.text': { actions: enqueueUtterance },
    'stt.partial': { guard: and([connected, knows, counts]), target: 'listening' },
    'stt.final': { guard: and([connected, knows, content]), target: 'processing', actions: [...cutOff, ...sendAfter] },
    'user.interrupt': { target: 'interrupted', actions: clearQueue },
    timer: { guard: timer('confirm'), target: 'listening' },
  },
}

const interrupted = {
  entry: [publish('Interrupted'), ...cutOff, ...arm('interrupt')],
  exit: stop('interrupt'),
  on: {
    ...out('listening'),
    ...waiting,
    'tts.flushed': { guard: ({ context, event }) => event.gen === context.line.gen - 1, target: 'listening' },
    'stt.final': { guard: and([connected, knows, content]), actions: enqueueUtterance },
    timer: { guard: timer('interrupt'), target: 'listening' },
  },
}

/** What takes a reason to suspend away, and where the conversation goes on. */
const restored = (reason) => {
  const last = ({ context, event }) => (context.reasons & ~(reason ?? event.reason)) === 0
  const take = assign(({ context, event }) => ({ reasons: context.reasons & ~(reason ?? event.reason) }))
  const was = (prior) => and([last, ({ context }) => context.prior === prior])
  return [
    { guard: and([was('speaking'), not(heardAll)]), target: 'processing.generatingResponse', actions: [take, tell('respeak')] },
    { guard: was('speaking'), target: 'processing.generatingResponse', actions: take },
    { guard: was('preparing'), target: 'preparing', actions: take },
    { guard: last, target: 'listening', actions: take },
    { actions: take },
  ]
}

const suspendedState = {
  entry: [publish('Suspended'), tell('hold'), ask('HoldCapture'), ...arm('suspend')],
  exit: [ask('ReleaseCapture'), assign({ prior: '' }), ...stop('suspend')],
  on: {
    'user.stop': 'terminating',
    'session.failed': { guard: ofInstance, target: 'faulted' },
    'audio.failed': { guard: ofInstance, target: 'faulted' },
    'conn.failed': { guard: ofEpoch, target: 'faulted' },
    'conn.ready': restored(connectionGone).map((row) => ({ ...row, guard: row.guard ? and([ofEpoch, row.guard]) : ofEpoch })),
    'session.renewed': restored(2),
    'device.restored': restored(8),
    resume: restored(undefined),
    timer: { guard: timer('suspend'), target: 'faulted' },
  },
}

const ready = { session: 'ready' }

export const conversation = {
  initial: 'idle',
  states: {
    idle: {
      exit: stop('start'),
      on: {
        'user.start': { guard: stateIn({ audio: 'absent' }), actions: begin },
        'user.stop': { guard: not(stateIn({ audio: 'absent' })), target: 'terminating' },
        'session.ready': { guard: and([ofInstance, stateIn({ audio: 'opened' })]), target: 'preparing' },
        'audio.primed': { guard: and([ofInstance, stateIn(ready)]), target: 'preparing' },
        'session.failed': { guard: ofInstance, target: 'faulted' },
        'audio.failed': { guard: ofInstance, target: 'faulted' },
        timer: { guard: timer('start'), target: 'faulted' },
      },
    },
    preparing: {
      entry: [publish('Preparing'), ask('StartCapture', ({ context }) => ({ instance: context.instance })), tell('dial'), ...arm('prepare')],
      exit: stop('prepare'),
      on: {
        ...out('preparing'),
        'audio.ready': { guard: and([ofInstance, stateIn({ connection: 'open' })]), target: 'listening' },
        'conn.ready': { guard: and([ofEpoch, stateIn({ audio: 'capturing' })]), target: 'listening' },
        'conn.lost': { guard: ofEpoch, target: 'faulted' },
        'conn.failed': { guard: ofEpoch, target: 'faulted' },
        timer: { guard: timer('prepare'), target: 'faulted' },
      },
    },
    listening: { id: 'listening', ...listening },
    processing,
    speaking: { id: 'speaking', ...speaking },
    inDoubt,
    interrupted,
    suspended: suspendedState,
    faulted: {
      entry: [publish('Faulted'), ...giveUp('failed'), tell('close'), ...arm('fault')],
      exit: [...stop('fault'), ...stop('start')],
      on: {
        timer: { guard: timer('fault'), actions: begin },
        'user.start': { actions: begin },
        'session.ready': { guard: and([ofInstance, stateIn({ audio: 'opened' })]), target: 'preparing' },
        'audio.primed': { guard: and([ofInstance, stateIn(ready)]), target: 'preparing' },
        'user.stop': 'terminating',
        fatal: 'terminating',
      },
    },
    terminating: {
      entry: [publish('Terminating'), ...giveUp('dropped'), tell('close'), ...arm('terminate')],
      exit: stop('terminate'),
      on: {
        'conn.closed': { guard: and([stateIn({ audio: 'absent' }), stateIn({ session: 'inactive' })]), actions: ask('Post') },
        'audio.closed': { guard: and([stateIn({ connection: 'torn' }), stateIn({ session: 'inactive' })]), actions: ask('Post') },
        'session.closed': { guard: and([stateIn({ connection: 'torn' }), stateIn({ audio: 'absent' })]), actions: ask('Post') },
        reset: { target: 'idle', actions: [ask('PublishState', () => ({ to: 'Idle' })), assign({ history: [], retry: 0 })] },
        timer: { guard: timer('terminate'), target: 'idle' },
      },
    },
  },
}
