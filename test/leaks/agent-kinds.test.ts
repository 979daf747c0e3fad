/** Guards against: what an answer of an agent leaves behind for good, whichever kind of agent the hub has asked. */
import { describe } from 'node:test'
import { expectNoLeaks } from './expect-no-leaks.ts'

describe('an answer of every kind of agent', () => {
  expectNoLeaks('agent-kinds', { quick: 9, full: 17 })
})
