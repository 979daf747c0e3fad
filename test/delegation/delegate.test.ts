/** Module agents delegate work to other agents of their hub: `yield* delegate(...)`. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { delegationExtension as uri } from '@parley/a2a/internal'
import type { Task } from '@parley/a2a'
import { moduleAgent, openHub, questionOf, referencedTaskIdsIn, textOf } from './open-hub.ts'

const agents = {
  front: moduleAgent('front'),
  echo: moduleAgent('echo'),
  asker: moduleAgent('asker'),
  endless: moduleAgent('endless'),
  other: moduleAgent('front'),
}
const taskOf = (answer: unknown): Task => {
  const task = answer as Task
  assert.ok(task.status !== undefined, JSON.stringify(answer))
  return task
}

describe('delegated work', () => {
  it('is a task of the other agent, with progress under its id and artifacts as they arrive [S2-12 S4-21]', async (t) => {
    const { agent } = await openHub(t, { agents })
    const events = await (await agent('front')).stream('echo one two').all()
    const [child] = referencedTaskIdsIn(events)
    assert.equal(referencedTaskIdsIn(events).length, 1)
    const statuses = events.flatMap((event) =>
      'statusUpdate' in event && event.statusUpdate.status.message !== undefined ? [event.statusUpdate] : [],
    )
    assert.deepEqual(
      statuses.map(({ status }) => status.message?.parts),
      [[{ text: 'Delegated to echo' }], [{ text: 'Thinking about one two' }]],
    )
    assert.deepEqual(
      statuses.map(({ metadata }) => metadata?.[uri]),
      [
        { agent: 'echo', taskId: child },
        { agent: 'echo', taskId: child },
      ],
    )
    const chunks = events.flatMap((event) =>
      'artifactUpdate' in event
        ? [[event.artifactUpdate.artifact.artifactId, event.artifactUpdate.append ?? false]]
        : [],
    )
    assert.deepEqual(chunks.slice(0, 2), [
      ['echo.answer', false],
      ['echo.answer', true],
    ])
    const task = taskOf(await (await agent('front')).send('echo one two'))
    assert.equal(textOf(task), 'one two |echo said: one two ')
    // It belongs to the delegating agent, and no other caller finds it.
    await assert.rejects(async () => (await agent('echo')).get(child ?? ''), { code: 'TASK_NOT_FOUND' })
  })

  it('may be answered with a direct reply, and is still a task', async (t) => {
    const { agent } = await openHub(t, { agents })
    const events = await (await agent('front')).stream('echo reply').all()
    assert.equal(referencedTaskIdsIn(events).length, 1)
    assert.equal(await (await agent('front')).ask('echo reply'), 'echo said: at once')
  })

  it('may ask: the question reaches the caller, the answer reaches the agent, and finished work is not repeated', async (t) => {
    const { agent } = await openHub(t, { agents })
    const front = await agent('front')
    const first = taskOf(await front.send('both X'))
    assert.deepEqual([first.status.state, questionOf(first)], ['TASK_STATE_INPUT_REQUIRED', 'What about first X?'])
    const second = taskOf(await front.send('eins', { taskId: first.id }))
    assert.deepEqual([second.status.state, questionOf(second)], ['TASK_STATE_INPUT_REQUIRED', 'What about second X?'])
    assert.notDeepEqual(first.status.message?.referenceTaskIds, second.status.message?.referenceTaskIds)
    const last = taskOf(await front.send('zwei', { taskId: first.id }))
    assert.equal(last.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(
      (last.artifacts ?? []).map(({ artifactId, parts }) => [artifactId, parts]),
      [
        ['asker.answer-2', [{ text: 'first X: eins' }]],
        ['answer-3', [{ text: 'first X: eins + second X: zwei' }]],
      ],
    )
  })

  it('ends with the delegating task, while it works and while it waits for an answer', async (t) => {
    const { agent, lines } = await openHub(t, { agents })
    const front = await agent('front')
    const stream = front.stream('endless')
    for await (const event of stream) if (referencedTaskIdsIn([event]).length > 0) break
    assert.equal((await front.cancel(stream.taskId ?? '')).status.state, 'TASK_STATE_CANCELED')
    const asked = taskOf(await front.send('asker X'))
    await front.cancel(asked.id)
    await assert.rejects(() => front.send('too late', { taskId: asked.id }), { code: 'UNSUPPORTED_OPERATION' })
    assert.ok(lines.some((line) => line.startsWith('agent stopped') && line.includes('"agent":"endless"')))
  })

  it('has its own timeout, and that of the task if that is shorter', async (t) => {
    const { agent } = await openHub(t, { agents })
    const front = await agent('front')
    const late = taskOf(await front.send('endless@300'))
    assert.deepEqual(
      [late.status.state, questionOf(late)],
      ['TASK_STATE_FAILED', 'The agent endless failed: Task timed out'],
    )
    const deadline = new Date(Date.now() + 400).toISOString()
    const message = { parts: [{ text: 'endless@600000' }], metadata: { [uri]: { deadline } } }
    const over = taskOf(await front.send(message, { extensions: [uri] }))
    assert.equal(over.status.state, 'TASK_STATE_FAILED')
    await assert.rejects(
      () =>
        front.send({ ...message, metadata: { [uri]: { deadline: new Date(1).toISOString() } } }, { extensions: [uri] }),
      { code: 'INVALID_PARAMS' },
    )
  })

  it('is refused for a cycle, for the depth and for the budget, with the reason', async (t) => {
    const limits = { delegation: { maxDepth: 1, budget: { tasks: 3 } } }
    const { agent } = await openHub(t, { agents, ...limits })
    const front = await agent('front')
    const why = async (text: string): Promise<readonly unknown[]> => {
      const events = await front.stream(text).all()
      const last = events.at(-1)
      assert.ok(last !== undefined && 'statusUpdate' in last)
      const { status, metadata } = last.statusUpdate
      return [status.state, metadata?.['reason']]
    }
    assert.deepEqual(await why('front x'), ['TASK_STATE_FAILED', 'DELEGATION_LOOP'])
    assert.deepEqual(await why('other echo x'), ['TASK_STATE_FAILED', 'DELEGATION_DEPTH'])
    assert.deepEqual(await why('many 3'), ['TASK_STATE_COMPLETED', undefined])
    assert.deepEqual(await why('many 4'), ['TASK_STATE_FAILED', 'DELEGATION_BUDGET'])
    assert.deepEqual(await why('unknown x'), ['TASK_STATE_FAILED', 'AGENT_UNAVAILABLE'])
  })

  it('lists the agents that may be called', async (t) => {
    const { agent } = await openHub(t, { agents })
    assert.equal(await (await agent('front')).ask('list'), 'echo asker endless other')
    assert.equal(
      textOf(taskOf(await (await agent('front')).send('other list'))),
      'echo asker endless|other said: echo asker endless',
    )
  })
})
