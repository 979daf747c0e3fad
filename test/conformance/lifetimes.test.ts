/** How tasks end: on their own, by cancel or timeout, by rejection, and never twice. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { inputRequired, reject, status } from '@parley/a2a'
import type { Turn } from '@parley/a2a'
import { closeInMemoryServers, openInMemoryServer, newMessage, v1 } from './in-memory-server.ts'
import type { InMemoryServer } from './in-memory-server.ts'

after(closeInMemoryServers)

const settled = async (server: InMemoryServer, text = 'go') =>
  (await server.rpc('SendMessage', { message: newMessage(text) }, v1)).body.result.task
const aborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }))

describe('a task', () => {
  it('whose agent throws or reports invalid values fails with a message that reveals nothing [B-50]', async () => {
    const agents = [
      () => {
        throw new Error('secret path')
      },
      () => Promise.reject(new Error('secret path')),
      () => ({ state: 'TASK_STATE_DREAMING' }) as never,
      async function* () {
        yield 'half of it'
        throw new Error('secret path')
      },
    ]
    for (const agent of agents) {
      const server = openInMemoryServer({ agent })
      const task = await settled(server)
      assert.equal(task.status.state, 'TASK_STATE_FAILED')
      assert.ok(task.status.message.parts[0].text.length > 0)
      assert.doesNotMatch(JSON.stringify(task), /secret/)
      assert.deepEqual((await server.rpc('GetTask', { id: task.id }, v1)).body.result.status, task.status)
    }
  })

  it('that an agent declines is rejected, at the start or later [B-51]', async () => {
    const atOnce = await settled(openInMemoryServer({ agent: () => reject('Not my job') }))
    const later = await settled(
      openInMemoryServer({
        async *agent() {
          yield status('Looking')
          yield reject('Not my job')
        },
      }),
    )
    for (const task of [atOnce, later]) {
      assert.equal(task.status.state, 'TASK_STATE_REJECTED')
      assert.equal(task.status.message.parts[0].text, 'Not my job')
    }
  })

  it('never goes back to an earlier state [S0-15]', async () => {
    const server = openInMemoryServer({
      async *agent() {
        yield { state: 'TASK_STATE_WORKING' as const }
        yield { state: 'TASK_STATE_SUBMITTED' as const }
        yield { state: 'TASK_STATE_COMPLETED' as const }
        yield { state: 'TASK_STATE_WORKING' as const }
      },
    })
    const events = await server.stream('SendStreamingMessage', { message: newMessage('go') }, v1)
    const states = events.flatMap((event) => (event.task ?? event.statusUpdate)?.status.state ?? [])
    const order = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED']
    const ranks = states.map((state: string) => order.indexOf(state))
    assert.deepEqual(
      ranks,
      ranks.toSorted((a: number, b: number) => a - b),
    )
    assert.ok(ranks.every((rank: number) => rank >= 0))
  })

  it('that exceeds its limit fails with "Task timed out" [S0-20 B-50]', async () => {
    const task = await settled(
      openInMemoryServer({ turnTimeoutMs: 30, cancelGraceMs: 10, agent: ({ signal }: Turn) => aborted(signal) }),
    )
    assert.equal(task.status.state, 'TASK_STATE_FAILED')
    assert.equal(task.status.message.parts[0].text, 'Task timed out')
  })

  it('that ends in time is not ended again by its deadline [S0-21]', async () => {
    const server = openInMemoryServer({ turnTimeoutMs: 40, agent: () => 'done' })
    const task = await settled(server)
    await new Promise((resolve) => setTimeout(resolve, 80))
    assert.deepEqual((await server.rpc('GetTask', { id: task.id }, v1)).body.result, task)
  })

  it('that is canceled stays canceled, whatever its agent reports later [S4-19 B-43]', async () => {
    const finish = Promise.withResolvers<string>()
    const server = openInMemoryServer({ cancelGraceMs: 10, agent: () => finish.promise })
    const configuration = { returnImmediately: true }
    const { task } = (await server.rpc('SendMessage', { message: newMessage('go'), configuration }, v1)).body.result
    const canceled = (await server.rpc('CancelTask', { id: task.id }, v1)).body.result
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELED')
    finish.resolve('too late')
    await finish.promise
    assert.deepEqual((await server.rpc('GetTask', { id: task.id }, v1)).body.result, canceled)
  })

  it('is the same task when its message is repeated [B-72 B-163]', async () => {
    let runs = 0
    const server = openInMemoryServer({ agent: () => `run ${++runs}` })
    const message = newMessage('once', { messageId: crypto.randomUUID() })
    const [first, second] = [
      await server.rpc('SendMessage', { message }, v1),
      await server.rpc('SendMessage', { message }, v1),
    ]
    assert.deepEqual(second.body.result, first.body.result)
    assert.equal(runs, 1)
  })
})

describe('an unanswered question', () => {
  const ask = (then: 'fail' | 'continue'): InMemoryServer => {
    let turns = 0
    return openInMemoryServer({
      inputTimeout: { afterMs: 30, then },
      keepOpenOnInputRequired: true,
      agent: () => (++turns === 1 ? inputRequired('Which?') : 'Never mind'),
    })
  }
  const statesOf = async (server: InMemoryServer): Promise<readonly any[]> => {
    const events = await server.stream('SendStreamingMessage', { message: newMessage('go') }, v1)
    return events.flatMap((event) => (event.task ?? event.statusUpdate)?.status ?? [])
  }

  it('fails its task after its timeout, with the reason [S2-16]', async () => {
    const last = (await statesOf(ask('fail'))).at(-1)
    assert.equal(last.state, 'TASK_STATE_FAILED')
    assert.match(JSON.stringify(last), /INPUT_TIMEOUT|time/i)
  })

  it('lets its task continue without the answer, if configured [S2-16]', async () => {
    const states = (await statesOf(ask('continue'))).map((one) => one.state)
    assert.deepEqual(states.slice(states.indexOf('TASK_STATE_INPUT_REQUIRED')), [
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ])
  })
})
