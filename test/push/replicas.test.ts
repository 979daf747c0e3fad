/** Three servers on one PostgreSQL: one of them delivers, in order, and another continues where it stopped. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openDatabase, skipReason } from '../postgres/databases.ts'

const skip = await skipReason()
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const closing: (() => unknown)[] = []
after(() => Promise.all(closing.map((close) => close())))

/** Counts, one number every few milliseconds; `40 held` ends when the test has registered its webhooks. */
const allSet = Promise.withResolvers<void>()
const counter: Agent = {
  resume: 'rerun',
  async *run({ text, signal }) {
    const [count, isHeld] = text.split(' ')
    for (let n = 0; n < Number(count) && !signal.aborted; n += 1) {
      yield { state: 'TASK_STATE_WORKING' }
      await sleep(3)
    }
    if (isHeld !== undefined) await allSet.promise
  },
}

interface Arrival {
  readonly key: string
  readonly seq: number
  readonly isLast: boolean
}

async function openReceiver() {
  const arrivals: Arrival[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { 'a2a-event-id': id, 'a2a-push-config-id': config } = request.headers
      const isLast = /COMPLETED/.test(body)
      arrivals.push({ key: `${request.url} ${String(config)}`, seq: Number(id), isLast })
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => server.close())
  const at = (key: string): readonly Arrival[] => arrivals.filter((arrival) => arrival.key === key)
  return {
    at,
    url: (name: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`,
    notifiedToTheEnd: (key: string) => eventually(() => at(key).some(({ isLast }) => isLast), `the end at ${key}`),
  }
}

async function openReplicas(count: number) {
  const database = await openDatabase()
  const replicas = await Promise.all(
    Array.from({ length: count }, async () => {
      const store = database.open({ listen: () => database.client() })
      const push = { allow: ['127.0.0.1'], timeoutMs: 2_000 }
      const server = await serve({
        port: 0,
        store,
        agent: counter,
        push,
        log: silent,
        drainMs: 0,
        cardMaxAgeSeconds: 0,
      })
      closing.push(() => server.close())
      return { server, agent: await connect(server.url) }
    }),
  )
  return (index: number) => replicas[index % count] as (typeof replicas)[number]
}

describe('webhooks of three servers on one database', { skip }, () => {
  it('get each event once and in order, whichever replica registered them [B-127] [full]', async () => {
    const receiver = await openReceiver()
    const replica = await openReplicas(3)
    const tasks = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const push = { id: 'inline', url: receiver.url(`${index}`) }
        const { id } = await replica(index).agent.start('40 held', { push })
        // The second one is registered with another server than the one that runs the task.
        await replica(index + 1).agent.push.set(id, { id: 'second', url: receiver.url(`${index}`) })
        return index
      }),
    )
    allSet.resolve()
    for (const index of tasks) {
      for (const config of ['inline', 'second']) {
        const key = `/${index} ${config}`
        await receiver.notifiedToTheEnd(key)
        const seqs = receiver.at(key).map(({ seq }) => seq)
        assert.deepEqual(
          seqs,
          [...new Set(seqs)].sort((a, b) => a - b),
          `${key}: twice or out of order`,
        )
      }
      assert.ok(receiver.at(`/${index} inline`).length >= 41)
    }
  })

  it('receive nothing more once another server has deleted them [B-118]', async () => {
    const receiver = await openReceiver()
    const replica = await openReplicas(3)
    const { id } = await replica(0).agent.start('1000', { push: { id: 'hook', url: receiver.url('deleted') } })
    await replica(1).agent.push.set(id, { id: 'kept', url: receiver.url('kept') })
    await eventually(() => receiver.at('/deleted hook').length >= 5)
    await replica(1).agent.push.delete(id, 'hook')
    const [deleted, kept] = [receiver.at('/deleted hook').length, receiver.at('/kept kept').length]
    await eventually(() => receiver.at('/kept kept').length >= kept + 10)
    // One notification may have been under way.
    assert.ok(receiver.at('/deleted hook').length <= deleted + 1)
    await replica(2).agent.cancel(id)
  })

  it('continue with another server when theirs stops [B-119 B-127]', async () => {
    const receiver = await openReceiver()
    const replica = await openReplicas(3)
    const names = ['a', 'b', 'c', 'd']
    for (const name of names) await replica(0).agent.start('60', { push: { id: 'hook', url: receiver.url(name) } })
    await eventually(() => receiver.at('/d hook').length >= 5)
    await replica(0).server.close()
    for (const name of names) {
      await receiver.notifiedToTheEnd(`/${name} hook`)
      const firsts = [...new Set(receiver.at(`/${name} hook`).map(({ seq }) => seq))]
      assert.deepEqual(
        firsts,
        firsts.toSorted((a, b) => a - b),
      )
    }
  })
})
