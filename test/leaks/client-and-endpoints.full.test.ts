/** Guards against: memory that a call of the client, of `/mcp` or of the admin API, or a closed page leaves behind. */
import { describe } from 'node:test'
import { expectNoLeaks } from './expect-no-leaks.ts'

describe('the client, /mcp, the admin API and the feed of the console', () => {
  expectNoLeaks('client-and-endpoints', { quick: 16, full: 18 })
})
