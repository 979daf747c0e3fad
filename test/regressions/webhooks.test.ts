/**
 * Guards against: notifications that are out of order because the store of webhooks is slow, that are lost when a
 * receiver fails, and that wait for a slow receiver of another webhook.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { artifact, memoryStore } from '@parley/a2a'
import type { Agent, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import { faultyStore } from '../../packages/a2a/src/testing/fixtures/faulty-store.ts'

const chunks = 30
const counting: Agent = async function* () {
  for (let index = 0; index < chunks; index += 1) {
    await delay(1)
    yield artifact('log', { text: `${index};`, append: index > 0, last: index === chunks - 1 })
  }
}
const expected = ['SUBMITTED', 'WORKING', ...Array.from({ length: chunks }, (_, index) => `${index};`), 'COMPLETED']

/** An agent whose webhooks are answered by the test. `delivered` has the accepted notifications, by webhook. */
function open(answer: (host: string) => Promise<number>, store = memoryStore()) {
  const delivered = new Map<string, string[]>()
  const agent = testAgent(counting, {
    store,
    server: {
      log: { debug() {}, info() {}, warn() {}, error() {} },
      push: {
        triggers: 'all',
        scheduleMs: Array.from({ length: 100 }, () => 2),
        async fetch(request) {
          const { host } = new URL(request.url)
          const { statusUpdate, artifactUpdate } = (await request.json()) as any
          const status = await answer(host)
          const word = statusUpdate?.status.state.replace('TASK_STATE_', '') ?? artifactUpdate.artifact.parts[0].text
          if (status === 204) delivered.set(host, [...(delivered.get(host) ?? []), word as string])
          return new Response(null, { status })
        },
      },
    },
  })
  const start = async (host: string): Promise<Task> =>
    (await agent.send('go', { taskPushNotificationConfig: { url: `https://${host}/` } })) as Task
  const ended = async (host: string): Promise<readonly string[]> => {
    while (delivered.get(host)?.at(-1) !== 'COMPLETED') await delay(2)
    return delivered.get(host) ?? []
  }
  return { agent, start, ended, delivered }
}

describe('webhooks', () => {
  it('are notified in order by a server whose store has varying delays [B-127]', async (t) => {
    let calls = 0
    const late = faultyStore(memoryStore(), { before: () => delay((calls++ * 7) % 11) })
    const { agent, start, ended } = open(async () => 204, late)
    t.after(() => agent.close())
    await start('hooks.example.com')
    assert.deepEqual(await ended('hooks.example.com'), expected)
  })

  it('lose nothing to a receiver that fails every other time [B-128]', async (t) => {
    let calls = 0
    const { agent, start, ended } = open(async () => (calls++ % 2 === 0 ? 500 : 204))
    t.after(() => agent.close())
    await start('hooks.example.com')
    assert.deepEqual(await ended('hooks.example.com'), expected)
  })

  it('do not wait for a slow one [B-127]', async (t) => {
    const release = Promise.withResolvers<void>()
    const { agent, start, ended, delivered } = open(async (host) => {
      if (host === 'slow.example.com') await release.promise
      return 204
    })
    t.after(() => agent.close())
    for (let n = 0; n < 20; n += 1) await start('slow.example.com')
    await start('quick.example.com')
    assert.deepEqual(await ended('quick.example.com'), expected)
    assert.equal(delivered.has('slow.example.com'), false)
    release.resolve()
    await ended('slow.example.com')
  })
})
