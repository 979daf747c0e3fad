import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { createHandler } from '../handler.ts'

describe('large messages over gRPC', () => {
  it('take turns by network before their senders are known', async (t) => {
    const handler = createHandler({ agent: () => 'ok', store: memoryStore() })
    t.after(() => handler.close())
    await handler.ready
    const decoded: string[] = []
    const { signal } = new AbortController()
    const call = (remoteAddress: string) =>
      handler.grpc.answer({
        request: {
          method: 'POST',
          path: '/lf.a2a.v1.A2AService/GetTask',
          query: '',
          prefix: '',
          secure: false,
          remoteAddress,
          signal,
          header: (name) => (name === 'host' ? 'localhost' : undefined),
          body: async () => '',
        },
        service: 'lf.a2a.v1.A2AService',
        operation: 'GetTask',
        size: 600_000,
        payload() {
          decoded.push(remoteAddress)
          return { id: 'none' }
        },
      })
    const answers = await Promise.all([...Array.from({ length: 4 }, () => '10.0.0.1'), '10.0.0.2'].map(call))
    for (const answer of answers) assert.equal('error' in answer && answer.error.code, 'TASK_NOT_FOUND')
    assert.deepEqual(decoded.toSorted(), ['10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.2'])
    assert.notEqual(decoded.at(-1), '10.0.0.2')
  })
})
