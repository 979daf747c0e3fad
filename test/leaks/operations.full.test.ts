/**
 * Guards against: memory that an operation leaves behind. A webhook call once left 16 kB, by a listener that was
 * never removed. The long mode measures each operation from the 20,000th to the 40,000th; the quick mode a few hundred
 * rounds of all of them, which is enough to see a kilobyte.
 */
import { describe } from 'node:test'
import { expectNoLeaks } from './expect-no-leaks.ts'

describe('every operation, over every binding, in 1.0 and in 0.3', () => {
  expectNoLeaks('operations', { quick: 3, full: 6 * 16 })
})
