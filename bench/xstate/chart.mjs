// The composite of package csm as an XState 5 machine, to compare the core's
// speed with: the same regions, states and events, guards that read the context,
// effects as actions, deadlines as data in the context.
//
// It is written as XState is meant to be: regions hear the same event at once,
// guards see the state before it, what one region asks of another is raised, and
// effects are custom actions, which `transition` returns and an actor executes.
// Where the core does more than the compared conversation shows (explanations,
// retries, the breaker) the chart has the arrow and less of the action.

import { setup } from 'xstate'

import { conversation } from './conversation.mjs'
import { initial } from './parts.mjs'
import { audio, connection, copilot, session, speech, turn } from './regions.mjs'

/** The composite. */
export const machine = setup({
  // What an actor does with an effect: nothing, as nothing is done with the core's.
  actions: { ask: () => {} },
}).createMachine({
  id: 'conversation',
  type: 'parallel',
  context: initial,
  states: { conversation, session, audio, connection, turn, speech, copilot },
})

const names = {
  idle: 'Idle', preparing: 'Preparing', listening: 'Listening', speaking: 'Speaking', inDoubt: 'Interrupted', interrupted: 'Interrupted',
  suspended: 'Suspended', faulted: 'Faulted', terminating: 'Terminating',
  analysing: 'Analysing', waitingForCopilot: 'WaitingForCopilot', generatingResponse: 'GeneratingResponse',
}

/** The phase of a snapshot, as the core names it. */
export const phaseOf = ({ value: { conversation: at } }) => names[typeof at === 'string' ? at : at.processing]
