import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Caller } from '../model/caller.ts'
import { memoryStore } from '../stores/memory.ts'
import { createHandler, type EngineLog, type Handler } from './index.ts'

const opened: Handler[] = []
after(() => Promise.all(opened.map((handler) => handler.close())))

/** What a caller is told, and the causes that the log is told, if `authenticate` answers this. */
async function answering(caller: unknown, path: string): Promise<{ status: number; text: string; told: string[] }> {
  const told: string[] = []
  const keep: EngineLog['error'] = (_message, fields) =>
    void told.push(String((fields?.cause as Error | undefined)?.message))
  const log: EngineLog = { debug() {}, info() {}, warn: keep, error: keep }
  const authenticate = (): Caller => caller as Caller
  const handler = createHandler({ store: memoryStore(), agent: () => 'x', log, authenticate, protectCard: true })
  opened.push(handler)
  const response = await handler.fetch(new Request(`http://localhost${path}`))
  return { status: response.status, text: await response.text(), told }
}

describe('a caller as authenticate names it', () => {
  it('needs an id that is a text: without one nobody comes in, and the log says whose mistake it is [B-150]', async () => {
    for (const caller of [{}, { id: '' }, { id: 7 }, { id: null }, { sub: 'ann' }, true, 'ann']) {
      for (const path of ['/tasks/x', '/.well-known/agent-card.json']) {
        const { status, text, told } = await answering(caller, path)
        assert.equal(status, 500)
        assert.match(text, /Internal error/)
        assert.doesNotMatch(text, /authenticate/)
        const mistake = 'authenticate: answered a caller whose id is not a non-empty string'
        assert.deepEqual(told, [mistake])
      }
    }
  })

  it('may not take the id of those without a name, unless it is one of them [B-150 B-160]', async () => {
    for (const caller of [{ id: 'anonymous' }, { id: 'anonymous', anonymous: false }]) {
      const { status, told } = await answering(caller, '/tasks/x')
      assert.equal(status, 500)
      assert.match(told.join(), /^authenticate: .*`anonymous: true`$/)
    }
    for (const caller of [{ id: 'anonymous', anonymous: true }, { id: 'guest', anonymous: true }, { id: 'ann' }]) {
      assert.deepEqual((await answering(caller, '/tasks/x')).status, 404)
    }
  })
})
