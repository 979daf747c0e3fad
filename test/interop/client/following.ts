/** Reading, listing, subscribing to and canceling tasks. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { StreamEvent } from '@parley/a2a'
import { chunksOf, stateOf, taskOf, textOf } from './connected-peer.ts'
import type { ConnectedPeer } from './connected-peer.ts'

export function following(scene: ConnectedPeer): void {
  const { missingCapabilities } = scene.kind

  it('reads a task with the requested length of history', async () => {
    const { id } = taskOf(await scene.agent.send('ask'))
    await scene.agent.send('Oslo', { taskId: id })
    const all = await scene.agent.get(id, { historyLength: 10 })
    assert.ok(all.kind === 'task' && (all.history?.length ?? 0) >= 2)
    assert.deepEqual((await scene.agent.get(id, { historyLength: 1 })).history, all.history?.slice(-1))
  })

  if (missingCapabilities.includes('list')) {
    it('knows without a request that tasks cannot be listed [B-87 B-169]', () =>
      scene.refusesUnasked('UNSUPPORTED_OPERATION', () => scene.agent.list()))
  } else {
    it('lists tasks page by page', async () => {
      const contextId = crypto.randomUUID()
      const made: string[] = []
      for (const word of ['one', 'two', 'three']) {
        made.push(taskOf(await scene.agent.send(`say ${word}`, { contextId })).id)
      }
      const first = await scene.agent.list({ contextId, pageSize: 2 })
      assert.deepEqual([first.tasks.length, first.totalSize], [2, 3])
      const second = await scene.agent.list({ contextId, pageSize: 2, pageToken: first.nextPageToken })
      assert.equal(second.nextPageToken, '')
      assert.deepEqual([...first.tasks, ...second.tasks].map(({ id }) => id).sort(), made.sort())
    })
  }

  it('cancels a running task, which its subscribers see', async () => {
    const { id } = await scene.running('hold forever')
    const following = scene.agent.subscribe(id)
    const iterator = following[Symbol.asyncIterator]()
    await iterator.next()
    const canceled = await scene.agent.cancel(id)
    assert.deepEqual([canceled.kind, canceled.status.state], ['task', 'TASK_STATE_CANCELED'])
    const rest = await Array.fromAsync({ [Symbol.asyncIterator]: () => iterator })
    assert.equal(stateOf(rest.at(-1)), 'TASK_STATE_CANCELED')
  })

  it('subscribes to a running task: the current task, and then new events', async () => {
    const { id } = await scene.running('hold subscribe')
    const events: StreamEvent[] = []
    for await (const event of scene.agent.subscribe(id)) {
      if (events.length === 0) scene.peer.release('subscribe')
      events.push(event)
    }
    const [first] = events
    assert.ok(first !== undefined && 'task' in first && textOf(first.task) === 'held ')
    assert.deepEqual(chunksOf(events), ['released'])
    assert.equal(stateOf(events.at(-1)), 'TASK_STATE_COMPLETED')
  })

  it('folds a subscription to the whole task', async () => {
    const { id } = await scene.running('hold result')
    const result = scene.agent.subscribe(id).result()
    scene.peer.release('result')
    assert.equal(textOf(taskOf(await result)), 'held released')
  })

  it('returns a finished task to late subscribers', async () => {
    const { id } = taskOf(await scene.agent.send('say done'))
    const events = await scene.agent.subscribe(id).all()
    assert.equal(stateOf(events.at(-1)), 'TASK_STATE_COMPLETED')
    assert.equal(await scene.agent.subscribe(id).text(), 'done ')
  })
}
