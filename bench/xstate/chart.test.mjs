// The chart is only worth comparing with while it goes the way of the core.

import assert from 'node:assert/strict'
import test from 'node:test'
import { createActor, getInitialSnapshot, transition } from 'xstate'

import { machine, phaseOf } from './chart.mjs'
import { conversation } from './events.mjs'

const steps = conversation()

test('the pure function goes through the phases of the core', () => {
  let snapshot = getInitialSnapshot(machine)
  let asked = 0
  let expected = 0
  steps.forEach(({ event, phase, effects }, i) => {
    const [next, actions] = transition(machine, snapshot, event)
    assert.equal(phaseOf(next), phase, `after event ${i}, ${event.type}`)
    snapshot = next
    asked += actions.filter(({ type }) => type === 'ask').length
    expected += effects
  })
  // The same number when this was written. The core may come to ask for some that
  // the chart does not, as long as the two do about the same work.
  assert.ok(Math.abs(asked - expected) < expected / 10, `the chart asked for ${asked} effects, the core for ${expected}`)
})

test('so does an actor', () => {
  const actor = createActor(machine).start()
  steps.forEach(({ event, phase }, i) => {
    actor.send(event)
    assert.equal(phaseOf(actor.getSnapshot()), phase, `after event ${i}, ${event.type}`)
  })
})
