// The regions beside the conversation: session, devices, connection, turn
// detection, speech output and the assistant.

import { and, assign, enqueueActions, not, or } from 'xstate'

import {
  arm, ask, connected, dial, drainedAll, heard, heardAll, knows, live, newPiece, nextSegment,
  ofEpoch, ofGen, ofInstance, ofRequest, silent, started, stop, suspended, timer, whole,
} from './parts.mjs'

export const session = {
  initial: 'inactive',
  on: { open: '.activating' },
  states: {
    inactive: {},
    activating: {
      on: {
        'session.ready': { guard: ofInstance, target: 'ready' },
        'session.failed': { guard: ofInstance, target: 'error' },
        close: 'deactivating',
      },
    },
    ready: { on: { 'request.sent': 'running', 'session.failed': { guard: ofInstance, target: 'error' }, close: 'deactivating' } },
    running: {
      on: { 'copilot.done': { guard: live, target: 'ready' }, 'request.cancel': 'ready', close: 'deactivating' },
    },
    deactivating: {
      entry: ask('DeactivateSession', ({ context }) => ({ instance: context.instance })),
      on: { 'session.closed': { guard: ofInstance, target: 'inactive' } },
    },
    error: {},
  },
}

const closeAudio = { target: 'closing' }

export const audio = {
  initial: 'absent',
  on: { open: '.opening' },
  states: {
    absent: {},
    opening: { on: { 'audio.primed': { guard: ofInstance, target: 'opened' }, close: closeAudio } },
    opened: { on: { 'audio.ready': { guard: ofInstance, target: 'capturing' }, close: closeAudio } },
    capturing: { on: { close: closeAudio } },
    closing: {
      entry: ask('CloseAudio', ({ context }) => ({ instance: context.instance })),
      on: { 'audio.closed': { guard: ofInstance, target: 'absent' } },
    },
  },
}

export const connection = {
  initial: 'disconnected',
  on: { open: '.disconnected' },
  states: {
    disconnected: { on: { dial: { target: 'connecting', actions: dial } } },
    connecting: {
      on: {
        'conn.ready': { guard: ofEpoch, target: 'open' },
        'conn.failed': { guard: ofEpoch, target: 'disconnected' },
        close: 'closing',
      },
    },
    open: { on: { 'conn.lost': { guard: ofEpoch, target: 'reconnecting', actions: dial }, close: 'closing' } },
    reconnecting: {
      on: {
        'conn.ready': { guard: ofEpoch, target: 'open' },
        'conn.failed': { guard: ofEpoch, target: 'disconnected' },
        close: 'closing',
      },
    },
    closing: {
      entry: ask('CloseConnection', ({ context }) => ({ instance: context.instance })),
      on: { 'conn.closed': 'torn' },
    },
    torn: {},
  },
}

const without = (pending, utterance) => pending.filter((u) => u !== utterance)
const answeredLast = ({ context, event }) => context.open === 0 && without(context.pending, event.utterance).length === 0
const resolve = assign(({ context, event }) => ({
  pending: without(context.pending, event.utterance),
  open: context.open === event.utterance ? 0 : context.open,
}))

const answered = [
  { guard: and([connected, knows, or([answeredLast, ({ context, event }) => context.open === event.utterance])]), target: 'idle', actions: resolve },
  { guard: and([connected, knows]), actions: resolve },
]

const onset = {
  guard: connected, target: 'userSpeaking', actions: assign({ open: ({ event }) => event.utterance }),
}

export const turn = {
  initial: 'idle',
  on: { hold: '.idle' },
  states: {
    idle: { entry: assign({ open: 0, pending: [] }), on: { 'vad.start': onset } },
    userSpeaking: {
      entry: arm('utterance'),
      exit: stop('utterance'),
      on: {
        'vad.end': {
          guard: and([connected, ({ context, event }) => event.utterance === context.open]), target: 'endPending',
          actions: assign(({ context }) => ({ open: 0, pending: [...context.pending, context.open].slice(-4) })),
        },
        'stt.final': answered,
        'stt.failed': answered,
      },
    },
    endPending: {
      entry: arm('final'),
      exit: stop('final'),
      on: {
        'vad.start': onset,
        'stt.final': answered,
        'stt.failed': answered,
        timer: { guard: timer('final'), target: 'idle' },
      },
    },
  },
}

const say = [
  assign(({ context, event }) => {
    const seq = context.ids.segment + 1
    return {
      ids: { ...context.ids, segment: seq },
      line: { ...context.line, segments: [...context.line.segments, { seq, request: event.request, start: event.start, end: event.end }] },
    }
  }),
  ask('Speak', ({ context }) => ({
    gen: context.line.gen, turn: context.current.id, segment: context.line.segments[context.line.segments.length - 1],
  })),
]

const addPiece = { guard: and([live, newPiece]), actions: say }

const flush = {
  target: 'closed',
  actions: [
    assign(({ context }) => ({ line: { ...context.line, gen: context.line.gen + 1 } })),
    ask('Flush', ({ context }) => ({ gen: context.line.gen })),
  ],
}

const played = {
  guard: nextSegment,
  actions: [
    assign(({ context }) => ({
      line: { ...context.line, played: context.line.played + 1 },
      history: heard(context, context.line.segments[context.line.played]),
    })),
    ask('PublishHeard', ({ context }) => ({ request: context.live?.request, chars: context.line.segments[context.line.played - 1].end })),
    ...arm('speech'),
  ],
}

const hearRest = enqueueActions(({ context, event, enqueue }) => {
  const rest = context.line.segments.slice(context.line.played).filter((seg) => seg.seq <= event.seq)
  if (rest.length === 0) return
  enqueue.assign({
    line: { ...context.line, played: context.line.played + rest.length },
    history: heard(context, rest[rest.length - 1]),
  })
  for (const seg of rest) enqueue({ type: 'ask', params: { effect: 'PublishHeard', request: seg.request, chars: seg.end } })
})

const respeak = {
  target: 'buffering',
  actions: [
    assign(({ context }) => ({
      line: { ...context.line, gen: context.line.gen + 1, segments: context.line.segments.slice(context.line.played), played: 0 },
    })),
    enqueueActions(({ context, enqueue }) => {
      const { gen, segments } = context.line
      enqueue({ type: 'ask', params: { effect: 'Flush', gen } })
      for (const segment of segments) enqueue({ type: 'ask', params: { effect: 'Speak', gen, turn: context.current.id, segment } })
    }),
    ...arm('speech'),
  ],
}

const endLine = assign(({ context }) => ({ line: { ...context.line, ended: true } }))
const pausePlayback = ask('PausePlayback', ({ context }) => ({ gen: context.line.gen }))
const afterAnswer = { guard: and([live, whole]), actions: endLine }

const drained = [
  { guard: and([ofGen, ({ context }) => context.line.ended, drainedAll]), target: 'closed', actions: hearRest },
  { guard: ofGen, target: 'buffering', actions: hearRest },
]

const mayPlay = and([started, not(suspended)])
const resumed = ({ event }) => event.pause === false

export const speech = {
  initial: 'closed',
  states: {
    closed: {
      entry: [...stop('speech'), assign(({ context }) => ({ line: { gen: context.line.gen, segments: [], played: 0, ended: false } }))],
      on: { 'copilot.segment': { guard: live, target: 'buffering', actions: [...say, ...arm('speech')] } },
    },
    buffering: {
      on: {
        'copilot.segment': addPiece,
        'copilot.done': [{ guard: and([live, whole, heardAll]), target: 'closed' }, afterAnswer],
        'tts.bufferReady': [
          { guard: and([mayPlay, ({ context }) => context.line.ended]), target: 'draining', actions: arm('speech') },
          { guard: mayPlay, target: 'playing', actions: arm('speech') },
          { guard: and([ofGen, not(silent)]), target: 'held', actions: stop('speech') },
        ],
        respeak,
        flush,
      },
    },
    held: { on: { 'copilot.segment': addPiece, 'copilot.done': afterAnswer, respeak, flush } },
    playing: {
      on: {
        'copilot.segment': addPiece,
        'copilot.done': { guard: and([live, whole]), target: 'draining', actions: endLine },
        'tts.bufferReady': { guard: ofGen },
        'tts.played': played,
        'tts.drained': drained,
        hold: { target: 'paused', actions: [pausePlayback, ...stop('speech')] },
        playback: { guard: not(resumed), target: 'paused', actions: [pausePlayback, ...stop('speech')] },
        flush,
      },
    },
    paused: {
      on: {
        'copilot.segment': addPiece, 'copilot.done': afterAnswer, 'tts.played': played, 'tts.drained': drained,
        playback: { guard: resumed, target: 'playing', actions: [ask('ResumePlayback'), ...arm('speech')] },
        respeak,
        flush,
      },
    },
    draining: {
      on: {
        'tts.played': played,
        'tts.drained': drained,
        hold: { target: 'paused', actions: [pausePlayback, ...stop('speech')] },
        playback: { guard: not(resumed), target: 'paused', actions: [pausePlayback, ...stop('speech')] },
        flush,
      },
    },
  },
}

const cancelled = assign(({ context }) => ({ live: { ...context.live, cancelled: true } }))
const cancel = {
  guard: ({ context }) => !context.live.cancelled,
  actions: [cancelled, ask('CancelCopilot', ({ context }) => ({ request: context.live.request })), ...stop('stall'), ...arm('cancel')],
}
const done = { guard: ofRequest, target: 'ready' }
const lost = { guard: timer('cancel'), target: 'ready' }

export const copilot = {
  initial: 'idle',
  states: {
    idle: { on: { open: 'ready' } },
    ready: {
      entry: assign({ live: null }),
      on: {
        'request.sent': {
          target: 'generatingResponse',
          actions: assign({ live: ({ event }) => ({ request: event.request, attempt: 1, cancelled: false }) }),
        },
        reset: 'idle',
      },
    },
    generatingResponse: {
      exit: stop('cancel'),
      on: {
        'copilot.request': { guard: live, actions: assign(({ context, event }) => ({ live: { ...context.live, attempt: event.attempt } })) },
        'copilot.delta': { guard: live, target: 'streamingResponse' },
        'copilot.segment': { guard: live, target: 'streamingResponse' },
        'copilot.done': done,
        'request.cancel': cancel,
        timer: lost,
      },
    },
    streamingResponse: {
      entry: arm('stall'),
      exit: [...stop('stall'), ...stop('cancel')],
      on: {
        'copilot.delta': { guard: live, actions: arm('stall') },
        'copilot.segment': { guard: live, actions: arm('stall') },
        'copilot.done': done,
        'request.cancel': cancel,
        respeak: { actions: arm('stall') },
        hold: { actions: stop('stall') },
        timer: lost,
      },
    },
  },
}
