// Measures the chart over the shared conversation and prints JSON: what an event
// costs by the pure function and by an actor. Times are in nanoseconds.
//
// The compiler is warm: each way runs warmup conversations before it is
// measured, which is far past the point where its times stop falling. The mean
// is that of the median round; for the percentiles each event is timed by
// itself, less what reading the clock takes. Bytes are the growth of
// the heap over a conversation in which nothing is collected; V8 does not count
// objects.

import { readFileSync } from 'node:fs'
import { createActor, getInitialSnapshot, transition } from 'xstate'

import { machine, phaseOf } from './chart.mjs'
import { conversation } from './events.mjs'

const warmup = 100 // conversations
const rounds = 60 // conversations, for the mean and again for the percentiles

const events = conversation().map(({ event }) => event)

/** Each way begins a conversation; what it returns takes an event. */
const ways = {
  transition: () => {
    let snapshot = getInitialSnapshot(machine)
    return {
      take: (event) => {
        snapshot = transition(machine, snapshot, event)[0]
      },
      phase: () => phaseOf(snapshot),
    }
  },
  actor: () => {
    const actor = createActor(machine).start()
    return { take: (event) => actor.send(event), phase: () => phaseOf(actor.getSnapshot()) }
  },
}

const now = () => process.hrtime.bigint()

const percentile = (sorted, at) => sorted[Math.floor((sorted.length * at) / 100)]

const clockCost = () => {
  const took = []
  for (let i = 0; i < 20000; i++) {
    const start = now()
    took.push(Number(now() - start))
  }
  return percentile(took.sort((a, b) => a - b), 50)
}

const converse = (begin) => {
  const { take, phase } = begin()
  for (const event of events) take(event)
  if (phase() !== 'Idle') throw new Error(`the conversation ended in ${phase()}; run npm test to see where it went wrong`)
}

/** One round without a clock inside, in nanoseconds for an event. */
const mean = (begin) => {
  const start = now()
  converse(begin)
  return Number(now() - start) / events.length
}

/** One round with each event timed. */
const times = (begin, clock, took) => {
  const { take } = begin()
  for (const event of events) {
    const start = now()
    take(event)
    took.push(Math.max(Number(now() - start) - clock, 0))
  }
}

const bytes = (begin) => {
  const grown = []
  for (let i = 0; i < 9; i++) {
    globalThis.gc()
    const before = process.memoryUsage().heapUsed
    converse(begin)
    grown.push(process.memoryUsage().heapUsed - before)
  }
  return percentile(grown.sort((a, b) => a - b), 50) / events.length
}

// The ways take turns, so that what else the machine does falls on both.
const measure = () => {
  const all = Object.entries(ways).map(([name, begin]) => ({ name, begin, took: [], means: [] }))
  for (let i = 0; i < warmup; i++) for (const { begin } of all) converse(begin)
  const clock = clockCost()
  for (let i = 0; i < rounds; i++) {
    for (const { begin, took, means } of all) {
      times(begin, clock, took)
      means.push(mean(begin))
    }
  }
  return Object.fromEntries(all.map(({ name, begin, took, means }) => {
    took.sort((a, b) => a - b)
    means.sort((a, b) => a - b)
    return [name, { p50: percentile(took, 50), p99: percentile(took, 99), mean: percentile(means, 50), bytes: bytes(begin) }]
  }))
}

const { version } = JSON.parse(readFileSync(new URL('node_modules/xstate/package.json', import.meta.url), 'utf8'))

console.log(JSON.stringify({
  node: process.version, xstate: version, warmup: warmup * events.length, events: events.length, ...measure(),
}))
