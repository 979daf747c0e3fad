import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Report, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import { Subject } from 'rxjs'
import { watchRun, wrapAgent } from './wrap-agent.ts'

it('unsubscribes from an observable at once when its task is canceled', async (t) => {
  const source = new Subject<Report>()
  const subscribed = Promise.withResolvers<void>()
  const watcher = { onReport: () => subscribed.resolve(), onEnd() {}, onError() {}, onStop() {} }
  const wrapped = wrapAgent(
    () => source,
    (run) => (turn) => watchRun(run, turn, watcher),
  )
  const agent = testAgent(wrapped, { cancelGraceMs: 60_000, openAfterMs: 0 })
  t.after(() => agent.close())
  const task = (await agent.send('go', { returnImmediately: true })) as Task
  while (!source.observed) await new Promise((resolve) => setImmediate(resolve))
  source.next('one')
  await subscribed.promise
  assert.equal((await agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
  assert.equal(source.observed, false)
})
