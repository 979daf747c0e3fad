import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { A2AError, type ErrorCode, type ErrorDetails } from '../model/error.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { createHandler } from './index.ts'

const handler = createHandler({ store: memoryStore(), agent: () => 'x' })
after(() => handler.close())

async function retryAfter(details: ErrorDetails, code: ErrorCode = 'RATE_LIMITED'): Promise<string | null> {
  handler.engine.getTask = () => Promise.reject(new A2AError(code, 'Later', details))
  return (await handler.fetch(new Request('http://localhost/tasks/x'))).headers.get('retry-after')
}

describe('the retry time', () => {
  it('is that of the error, and a second by default', async () => {
    assert.equal(await retryAfter({ retryAfterSeconds: '5' }), '5')
    assert.equal(await retryAfter({}), '1')
  })

  it('is not given for an agent that is down, unless the error gives one', async () => {
    assert.equal(await retryAfter({}, 'AGENT_UNAVAILABLE'), null)
    assert.equal(await retryAfter({ retryAfterSeconds: '5' }, 'AGENT_UNAVAILABLE'), '5')
  })

  it('is a second if that of the error is invalid', async () => {
    for (const odd of ['soon', '', '-1', '1.5', '5\r\nx-evil: 1']) {
      assert.equal(await retryAfter({ retryAfterSeconds: odd }), '1', odd)
    }
  })
})
