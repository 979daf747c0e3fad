import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { A2AError, type ErrorDetails } from '../model/error.ts'
import { memoryStore } from '../stores/memory.ts'
import { createHandler } from './index.ts'

const handler = createHandler({ store: memoryStore(), agent: () => 'x' })
after(() => handler.close())

async function retryAfter(details: ErrorDetails): Promise<string | null> {
  handler.engine.getTask = () => Promise.reject(new A2AError('RATE_LIMITED', 'Later', details))
  return (await handler.fetch(new Request('http://localhost/tasks/x'))).headers.get('retry-after')
}

describe('the time to come back', () => {
  it('is what the error says, and a second where it says nothing', async () => {
    assert.equal(await retryAfter({ retryAfterSeconds: '5' }), '5')
    assert.equal(await retryAfter({}), '1')
  })

  it('is a second where the error says what is no number of seconds', async () => {
    for (const odd of ['soon', '', '-1', '1.5', '5\r\nx-evil: 1']) {
      assert.equal(await retryAfter({ retryAfterSeconds: odd }), '1', odd)
    }
  })
})
