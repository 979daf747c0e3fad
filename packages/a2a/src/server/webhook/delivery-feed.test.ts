import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { EngineLog } from '../../engine/contract.ts'
import { type Delivery, webhook, type Webhook } from '../index.ts'

const quiet: EngineLog = { debug() {}, info() {}, warn() {}, error() {} }
const task = (state = 'TASK_STATE_WORKING') => ({ task: { id: 't1', contextId: 'c1', status: { state } } })
const post = (hook: Webhook, body: unknown): Promise<Response> =>
  hook.fetch(
    new Request('https://me.test/hook', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )

describe('a webhook read by a loop', () => {
  it('answers a sender when the loop requests the next one, and lets a pending one be repeated when it ends', async () => {
    const hook = webhook({ unverified: true, log: quiet })
    const states: string[] = []
    const answers = [post(hook, task('TASK_STATE_SUBMITTED'))]
    for await (const { event } of hook) {
      assert.ok('task' in event)
      states.push(event.task.status.state)
      if (states.length === 2) break
      answers.push(post(hook, task('TASK_STATE_COMPLETED')))
    }
    assert.deepEqual(states, ['TASK_STATE_SUBMITTED', 'TASK_STATE_COMPLETED'])
    assert.deepEqual(
      (await Promise.all(answers)).map(({ status }) => status),
      [204, 500],
    )
    // The webhook accepts a handler again.
    hook.handle(() => {})
    assert.throws(() => hook[Symbol.asyncIterator](), /already/)
    assert.equal((await post(hook, task())).status, 204)
  })

  it('drops a notification that the loop did not read in time', async () => {
    const hook = webhook({ unverified: true, timeoutMs: 10, log: quiet })
    const loop = hook[Symbol.asyncIterator]()
    assert.equal((await post(hook, task())).status, 500)
    const next = loop.next()
    const answer = post(hook, task('TASK_STATE_COMPLETED'))
    const { value } = (await next) as { value: Delivery }
    assert.deepEqual(value.event, task('TASK_STATE_COMPLETED'))
    const last = loop.next()
    assert.equal((await answer).status, 204)
    await loop.return?.()
    assert.equal((await last).done, true)
    assert.equal((await loop.next()).done, true)
  })
})
