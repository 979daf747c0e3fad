import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { McpConnection } from './connection.ts'
import { createMcpConnectionPool } from './backend.ts'

function bench(options: { idleMs?: number; max?: number; staysOpen?: boolean } = {}) {
  const log: string[] = []
  let opened = 0
  const open = (): McpConnection => {
    opened += 1
    const name = `connection ${opened}`
    const none = async (): Promise<never> => assert.fail('unexpected call')
    return {
      ...{ prompts: none, prompt: none, resource: none, ping: none, tools: none, call: none },
      serverInfo: async () => ({ name }),
      hasToolChangeNotifications: options.staysOpen === true,
      close: async () => void log.push(`${name} closed`),
    }
  }
  const sessions = createMcpConnectionPool({ open, idleMs: 60_000, ...options })
  const nameOf = (key: string) => sessions.use(key, async (connection) => (await connection.serverInfo(signal)).name)
  return { sessions, nameOf, log }
}
const { signal } = new AbortController()

describe('the connections to a server', () => {
  it('are one for each conversation, and the same for all of it', async () => {
    const { sessions, nameOf, log } = bench()
    assert.deepEqual(await Promise.all(['a', 'b', 'a'].map(nameOf)), ['connection 1', 'connection 2', 'connection 1'])
    await sessions.close()
    assert.deepEqual(log.sort(), ['connection 1 closed', 'connection 2 closed'])
  })

  it('are closed when they were not used for a while, and not before', async () => {
    const { sessions, nameOf, log } = bench({ idleMs: 30 })
    await sessions.use('a', () => sleep(60))
    assert.deepEqual(log, [])
    while (log.length === 0) await sleep(5)
    assert.equal(await nameOf('a'), 'connection 2')
    await sessions.close()
  })

  it('stay open when idle if the server announces changes', async () => {
    const { sessions, nameOf, log } = bench({ idleMs: 1, staysOpen: true })
    await nameOf('a')
    await sleep(20)
    assert.equal(await nameOf('a'), 'connection 1')
    assert.deepEqual(log, [])
    await sessions.close()
  })

  it('are limited: the least recently used one is closed if it is idle', async () => {
    const { sessions, nameOf, log } = bench({ max: 2 })
    await nameOf('a')
    await nameOf('b')
    await nameOf('a')
    await nameOf('c')
    assert.deepEqual(log, ['connection 2 closed'])
    const held = Promise.withResolvers<void>()
    const working = ['a', 'c'].map((key) => sessions.use(key, () => held.promise))
    await assert.rejects(nameOf('d'), { code: 'RATE_LIMITED' })
    held.resolve()
    await Promise.all(working)
    await sessions.close()
  })
})
