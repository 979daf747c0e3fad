/** Guards against: memory that an answer of any kind of agent leaves behind. */
import { describe } from 'node:test'
import { expectNoLeaks } from './expect-no-leaks.ts'

describe('an answer of every kind of agent', () => {
  expectNoLeaks('agent-kinds', { quick: 9, full: 17 })
})
