// What the regions share: the data before the first event, effects, deadlines,
// guards, and the actions of turns and requests.

import { and, assign, enqueueActions, not, raise, stateIn } from 'xstate'

/** Deadlines in milliseconds: the core's defaults. */
export const config = {
  start: 10000, prepare: 15000, utterance: 60000, final: 6000, response: 8000, stall: 15000,
  cancel: 2000, speech: 30000, interrupt: 150, confirm: 250, suspend: 60000, fault: 500, terminate: 1500,
}

export const queueMax = 8

export const resting = { gen: 0, armed: false, at: 0 }

/** The data of all regions before the first event. */
export const initial = {
  instance: 0,
  epoch: 0,
  ids: { turn: 0, request: 0, segment: 0 },
  current: null, // the open turn
  queue: [],
  retry: 0,
  open: 0, // the utterance that is being spoken
  pending: [], // utterances whose words are awaited
  unsent: 0, // the utterance that waits for the end of a cancelled request
  live: null, // the request under way
  line: { gen: 0, segments: [], played: 0, ended: false },
  history: [],
  prior: '', // what a suspension interrupted
  reasons: 0,
  timers: Object.fromEntries(Object.keys(config).map((t) => [t, resting])),
}

export const connectionGone = 4 // the reason to suspend, a bit

// ---- effects and deadlines

/** An effect, as data. */
export const ask = (effect, fields = () => ({})) => ({
  type: 'ask',
  params: (args) => ({ effect, ...fields(args) }),
})

export const arm = (timer) => [
  assign(({ context, event }) => ({
    timers: {
      ...context.timers,
      [timer]: { gen: context.timers[timer].gen + 1, armed: true, at: event.at + config[timer] },
    },
  })),
  ask('StartTimer', ({ context }) => ({ timer, gen: context.timers[timer].gen, after: config[timer] })),
]

/** Stops a deadline if it is armed. */
export const stop = (timer) => [
  enqueueActions(({ context, enqueue }) => {
    const { gen, armed } = context.timers[timer]
    if (!armed) return
    enqueue.assign({ timers: { ...context.timers, [timer]: { gen, armed: false, at: 0 } } })
    enqueue({ type: 'ask', params: { effect: 'StopTimer', timer, gen } })
  }),
]

/** What every entry into a phase publishes. */
export const publish = (phase) =>
  ask('PublishState', ({ context, event }) => ({ to: phase, seq: event.seq, turn: context.current?.id ?? 0 }))

/** Asks another region, in the same step. */
export const tell = (type, fields = () => ({})) => raise((args) => ({ type, at: args.event.at, seq: args.event.seq, ...fields(args) }))

// ---- guards

export const timer = (name) => ({ context, event }) => event.timer === name && event.gen === context.timers[name].gen && context.timers[name].armed
export const ofInstance = ({ context, event }) => event.instance === context.instance
export const ofEpoch = ({ context, event }) => event.epoch === context.epoch
export const connected = and([stateIn({ connection: 'open' }), ofEpoch])
export const ofRequest = ({ context, event }) => context.live !== null && event.request === context.live.request
export const live = ({ context, event }) => context.live !== null && event.request === context.live.request && !context.live.cancelled
export const ofGen = ({ context, event }) => event.gen === context.line.gen
export const silent = ({ context }) => context.open === 0 && context.pending.length === 0
export const knows = ({ context, event }) => context.open === event.utterance || context.pending.includes(event.utterance)
export const content = ({ event }) => (event.class ?? 0) === 0 && event.words > 0
export const stopWord = ({ event }) => event.class === 3
export const whole = ({ event }) => !event.code && !event.cancelled
export const counts = ({ event }) => (event.class ?? 0) === 0
export const spokenOver = ({ context }) => context.current?.role === 'assistant' && context.live !== null
export const unsent = ({ context }) => context.unsent !== 0
export const suspended = stateIn({ conversation: 'suspended' })
export const heardAll = ({ context }) => context.line.played === context.line.segments.length
export const lastSeq = ({ context }) => context.line.segments[context.line.segments.length - 1].seq
export const drainedAll = ({ context, event }) => event.seq >= lastSeq({ context })
export const nextSegment = ({ context, event }) =>
  event.gen === context.line.gen && context.line.segments[context.line.played]?.seq === event.seq
export const newPiece = ({ context, event }) => {
  const last = context.line.segments[context.line.segments.length - 1]
  return !(last && last.request === event.request && event.start < last.end)
}
export const started = and([stateIn({ speech: 'buffering' }), ofGen, silent, not(heardAll)])

// ---- actions of turns and requests

export const openTurn = enqueueActions(({ context, event, enqueue }) => {
  if (context.current !== null) return
  const id = context.ids.turn + 1
  enqueue.assign({
    ids: { ...context.ids, turn: id },
    current: { id, role: 'user', opened: event.at, utterance: 0, request: 0, attempt: 0, interruptions: 0 },
  })
  enqueue({ type: 'ask', params: { effect: 'PublishTurn', turn: id } })
})

export const endTurn = (end) =>
  enqueueActions(({ context, event, enqueue }) => {
    const turn = context.current
    if (turn === null) return
    enqueue.assign({ current: null, retry: end === 'failed' ? turn.utterance : end === 'answered' ? 0 : context.retry })
    enqueue({ type: 'ask', params: { effect: 'PublishTurn', turn: turn.id, end, duration: event.at - turn.opened } })
  })

/** Hands one request over for one utterance. */
export const send = (utterance) => [
  openTurn,
  assign((args) => {
    const { context } = args
    const request = context.ids.request + 1
    const said = utterance(args)
    return {
      ids: { ...context.ids, request },
      current: { ...context.current, utterance: said, request, attempt: 1 },
      history: [...context.history, { turn: context.current.id, utterance: said }].slice(-40),
    }
  }),
  ask('SendCopilot', ({ context }) => ({
    request: context.ids.request, turn: context.current.id, utterance: context.current.utterance,
    deadline: config.response, history: context.history,
  })),
  tell('request.sent', ({ context }) => ({ request: context.ids.request })),
]

/** Ends the answer that the user spoke over: what interrupts is sent when its request has ended. */
export const cutOff = [
  tell('request.cancel'),
  tell('flush'),
  assign(({ context }) => ({ retry: context.current.utterance, current: { ...context.current, interruptions: 1 } })),
  ask('PublishTurn', ({ context, event }) => ({
    turn: context.current.id, end: 'interrupted', duration: event.at - context.current.opened,
  })),
  assign({ current: null }),
]

export const sendAfter = [openTurn, assign({ unsent: ({ event }) => event.utterance })]

export const sendUnsent = [...send(({ context }) => context.unsent), assign({ unsent: 0 })]

export const enqueueUtterance = [
  assign(({ context, event }) => (context.queue.length < queueMax ? { queue: [...context.queue, event.utterance] } : {})),
  ask('PublishQueue', ({ context }) => ({ waiting: context.queue.length })),
]

export const takeQueued = assign(({ context }) => ({ queue: context.queue.slice(1) }))

export const clearQueue = assign({ queue: [] })

/** Ends the turn by the user's word, or because it failed. */
export const giveUp = (end) => [clearQueue, tell('request.cancel'), tell('flush'), endTurn(end)]

export const begin = [
  assign(({ context }) => ({ instance: context.instance + 1 })),
  tell('open'),
  ask('ActivateSession', ({ context }) => ({ instance: context.instance })),
  ask('OpenAudio', ({ context }) => ({ instance: context.instance })),
  ...arm('start'),
]

export const dial = [
  assign(({ context }) => ({ epoch: context.epoch + 1 })),
  ask('OpenConnection', ({ context }) => ({ instance: context.instance, epoch: context.epoch })),
]

/** Notes that a segment was heard up to its end. */
export const heard = (context, seg) => {
  const last = context.history[context.history.length - 1]
  return last?.request === seg.request
    ? [...context.history.slice(0, -1), { ...last, heard: seg.end }]
    : [...context.history, { turn: context.current.id, request: seg.request, heard: seg.end }].slice(-40)
}
