/** How tasks end: by themselves, by force, by refusal, and never twice. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { inputRequired, reject, status } from '@parley/a2a'
import type { Turn } from '@parley/a2a'
import { closeHouses, openHouse, say, v1 } from './house.ts'
import type { House } from './house.ts'

after(closeHouses)

const settled = async (house: House, text = 'go') =>
  (await house.rpc('SendMessage', { message: say(text) }, v1)).body.result.task
const aborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }))

describe('a task', () => {
  it('whose agent throws or says nonsense fails with a message that betrays nothing [B-50]', async () => {
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
      const house = openHouse({ agent })
      const task = await settled(house)
      assert.equal(task.status.state, 'TASK_STATE_FAILED')
      assert.ok(task.status.message.parts[0].text.length > 0)
      assert.doesNotMatch(JSON.stringify(task), /secret/)
      assert.deepEqual((await house.rpc('GetTask', { id: task.id }, v1)).body.result.status, task.status)
    }
  })

  it('that an agent declines is rejected, at the start or later [B-51]', async () => {
    const atOnce = await settled(openHouse({ agent: () => reject('Not my job') }))
    const later = await settled(
      openHouse({
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

  it('never goes back, whatever its agent says [S0-15]', async () => {
    const house = openHouse({
      async *agent() {
        yield { state: 'TASK_STATE_WORKING' as const }
        yield { state: 'TASK_STATE_SUBMITTED' as const }
        yield { state: 'TASK_STATE_COMPLETED' as const }
        yield { state: 'TASK_STATE_WORKING' as const }
      },
    })
    const events = await house.stream('SendStreamingMessage', { message: say('go') }, v1)
    const states = events.flatMap((event) => (event.task ?? event.statusUpdate)?.status.state ?? [])
    const order = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED']
    const ranks = states.map((state: string) => order.indexOf(state))
    assert.deepEqual(
      ranks,
      ranks.toSorted((a: number, b: number) => a - b),
    )
    assert.ok(ranks.every((rank: number) => rank >= 0))
  })

  it('that takes too long fails with "Task timed out" [S0-20 B-50]', async () => {
    const task = await settled(
      openHouse({ turnTimeoutMs: 30, cancelGraceMs: 10, agent: ({ signal }: Turn) => aborted(signal) }),
    )
    assert.equal(task.status.state, 'TASK_STATE_FAILED')
    assert.equal(task.status.message.parts[0].text, 'Task timed out')
  })

  it('that ends in time is not ended again by its deadline [S0-21]', async () => {
    const house = openHouse({ turnTimeoutMs: 40, agent: () => 'done' })
    const task = await settled(house)
    await new Promise((resolve) => setTimeout(resolve, 80))
    assert.deepEqual((await house.rpc('GetTask', { id: task.id }, v1)).body.result, task)
  })

  it('that is canceled stays canceled, whatever its agent finishes later [S4-19 B-43]', async () => {
    const finish = Promise.withResolvers<string>()
    const house = openHouse({ cancelGraceMs: 10, agent: () => finish.promise })
    const configuration = { returnImmediately: true }
    const { task } = (await house.rpc('SendMessage', { message: say('go'), configuration }, v1)).body.result
    const canceled = (await house.rpc('CancelTask', { id: task.id }, v1)).body.result
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELED')
    finish.resolve('too late')
    await finish.promise
    assert.deepEqual((await house.rpc('GetTask', { id: task.id }, v1)).body.result, canceled)
  })

  it('is the same task when its message is repeated [B-72 B-163]', async () => {
    let runs = 0
    const house = openHouse({ agent: () => `run ${++runs}` })
    const message = say('once', { messageId: crypto.randomUUID() })
    const [first, second] = [
      await house.rpc('SendMessage', { message }, v1),
      await house.rpc('SendMessage', { message }, v1),
    ]
    assert.deepEqual(second.body.result, first.body.result)
    assert.equal(runs, 1)
  })
})

describe('a question that nobody answers', () => {
  const ask = (then: 'fail' | 'continue'): House => {
    let turns = 0
    return openHouse({
      inputTimeout: { afterMs: 30, then },
      keepOpenOnInputRequired: true,
      agent: () => (++turns === 1 ? inputRequired('Which?') : 'Never mind'),
    })
  }
  const statesOf = async (house: House): Promise<readonly any[]> => {
    const events = await house.stream('SendStreamingMessage', { message: say('go') }, v1)
    return events.flatMap((event) => (event.task ?? event.statusUpdate)?.status ?? [])
  }

  it('fails its task after the time it was given, and says why [S2-16]', async () => {
    const last = (await statesOf(ask('fail'))).at(-1)
    assert.equal(last.state, 'TASK_STATE_FAILED')
    assert.match(JSON.stringify(last), /INPUT_TIMEOUT|time/i)
  })

  it('lets its task go on without the answer, if told so [S2-16]', async () => {
    const states = (await statesOf(ask('continue'))).map((one) => one.state)
    assert.deepEqual(states.slice(states.indexOf('TASK_STATE_INPUT_REQUIRED')), [
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ])
  })
})
