/** Remote agents that violate the protocol: the caller still gets a consistent task, or a failure with the reason. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openProxyToFakeRemote, chunksIn, sendForTask, statesIn } from './fake-remote-fixture.ts'
import { statusOf, textOf } from './proxy-fixture.ts'
import { remoteTaskIds, artifact, chunk, statusUpdate, agentMessage, task } from './fake-remote.ts'

describe('a remote agent', () => {
  it('whose stream ends without a terminal state is polled', async (t) => {
    const { agent } = await openProxyToFakeRemote(t, ({ method }) =>
      method === 'SendStreamingMessage'
        ? { events: [{ task: task('SUBMITTED') }, chunk('all ')] }
        : { result: task('COMPLETED', { artifacts: [artifact('all of it')] }) },
    )
    const done = await sendForTask(agent)
    assert.deepEqual([statusOf(done), textOf(done)], ['COMPLETED', 'all of it'])
  })

  it('that streams only states has its artifacts fetched once, as fasta2a workers need', async (t) => {
    const { agent, remote } = await openProxyToFakeRemote(t, ({ method }) =>
      method === 'SendStreamingMessage'
        ? { events: [{ task: task('SUBMITTED') }, statusUpdate('WORKING'), statusUpdate('COMPLETED')] }
        : { result: task('COMPLETED', { artifacts: [artifact('kept in the task')] }) },
    )
    const done = await sendForTask(agent)
    assert.deepEqual([statusOf(done), textOf(done)], ['COMPLETED', 'kept in the task'])
    assert.equal(remote.called(/GetTask/).length, 1)
  })

  it('that completes without an artifact is accepted if the task has none or cannot be fetched', async (t) => {
    for (const answer of [
      { result: task('COMPLETED') },
      { result: { ...task('COMPLETED', { artifacts: [artifact('of another')] }), id: 'another' } },
      { error: { code: -32001, message: 'no such task' } },
      'cut',
    ] as const) {
      const { agent } = await openProxyToFakeRemote(t, ({ method }) =>
        method === 'SendStreamingMessage'
          ? { events: [{ task: task('SUBMITTED') }, statusUpdate('COMPLETED')] }
          : answer,
      )
      const done = await sendForTask(agent)
      assert.deepEqual([statusOf(done), done.artifacts], ['COMPLETED', undefined])
    }
  })

  it('that answers in a status message and completes without an artifact gives the text as an artifact', async (t) => {
    const stream = {
      events: [
        { task: task('SUBMITTED') },
        statusUpdate('WORKING', 'Let me see'),
        statusUpdate('WORKING', 'It is sunny'),
        statusUpdate('WORKING'),
        statusUpdate('COMPLETED'),
      ],
    }
    const answers = [
      [task('COMPLETED'), [{ artifactId: 'answer', parts: [{ text: 'It is sunny' }] }]],
      [task('COMPLETED', { artifacts: [artifact('Sunny')] }), [artifact('Sunny')]],
      [{ ...task('COMPLETED'), status: { state: 'TASK_STATE_COMPLETED', message: agentMessage('Sunny') } }, undefined],
    ] as const
    for (const [stored, artifacts] of answers) {
      const { agent } = await openProxyToFakeRemote(t, ({ method }) =>
        method === 'SendStreamingMessage' ? stream : { result: stored },
      )
      const done = await sendForTask(agent)
      assert.deepEqual([statusOf(done), done.artifacts], ['COMPLETED', artifacts])
    }
  })

  it('that answers in a status message and fails, or completes with a message, gives no artifact', async (t) => {
    for (const [last, stored] of [
      [statusUpdate('FAILED'), task('FAILED')],
      [statusUpdate('COMPLETED', 'Done'), task('COMPLETED')],
    ] as const) {
      const { agent } = await openProxyToFakeRemote(t, ({ method }) =>
        method === 'SendStreamingMessage'
          ? { events: [{ task: task('SUBMITTED') }, statusUpdate('WORKING', 'It is sunny'), last] }
          : { result: stored },
      )
      assert.equal((await sendForTask(agent)).artifacts, undefined)
    }
  })

  it('that disconnects after any event is followed to the end, with no event lost or doubled [B-98]', async (t) => {
    const story = [
      { task: task('SUBMITTED') },
      statusUpdate('WORKING', 'reading'),
      chunk('one '),
      chunk('two ', { append: true }),
      statusUpdate('WORKING', 'writing'),
      chunk('three', { append: true, lastChunk: true }),
      statusUpdate('COMPLETED'),
    ]
    for (let cut = 1; cut < story.length; cut += 1) {
      const { agent } = await openProxyToFakeRemote(t, ({ method, count }) => {
        if (method === 'SendStreamingMessage') return { events: story.slice(0, cut), then: 'cut' }
        if (method !== 'SubscribeToTask') return { error: { code: -32603, message: 'no' } }
        // One event more each time, after the current task.
        return { events: [shownAfter(story.slice(0, cut + count - 1)), ...story.slice(cut + count - 1, cut + count)] }
      })
      const events = await agent.stream('go').all()
      assert.equal(chunksIn(events).join(''), 'one two three', `cut after ${cut}`)
      assert.deepEqual(statesIn(events), ['WORKING: reading', 'WORKING: writing', 'COMPLETED'], `cut after ${cut}`)
    }
  })

  it('that repeats events under the same ids is delivered once', async (t) => {
    const once = [{ task: task('SUBMITTED') }, chunk('a '), chunk('b ', { append: true }), statusUpdate('COMPLETED')]
    const { agent } = await openProxyToFakeRemote(t, ({ method }) =>
      method === 'SendStreamingMessage'
        ? { events: once.flatMap((event) => [event, event]), ids: ['1', '1', '2', '2', '3', '3', '4', '4'] }
        : { result: task('COMPLETED', { artifacts: [artifact('a b ')] }) },
    )
    assert.equal(chunksIn(await agent.stream('go').all()).join(''), 'a b ')
  })

  it('that sends events of other tasks is followed for its own task only', async (t) => {
    const other = { taskId: 'r2' }
    const { agent } = await openProxyToFakeRemote(t, () => ({
      events: [
        { task: task('SUBMITTED') },
        chunk('mine', {}),
        { artifactUpdate: { ...remoteTaskIds, ...other, artifact: artifact(' and yours'), append: true } },
        statusUpdate('FAILED', 'of another', other),
        statusUpdate('COMPLETED'),
      ],
    }))
    const done = await sendForTask(agent)
    assert.deepEqual([statusOf(done), textOf(done)], ['COMPLETED', 'mine'])
  })

  it('that returns another task than the requested one fails', async (t) => {
    const { agent } = await openProxyToFakeRemote(
      t,
      ({ method }) => ({
        result: method === 'SendMessage' ? { task: task('WORKING') } : { ...task('COMPLETED'), id: 'r2' },
      }),
      { card: { capabilities: {} } },
    )
    assert.equal(statusOf(await sendForTask(agent)), 'FAILED: The agent returned an invalid response.')
  })

  it('that reports an unknown state is waited for [B-174]', async (t) => {
    const { agent } = await openProxyToFakeRemote(
      t,
      ({ method, count }) => {
        const status = (state: string) => ({ kind: 'task', id: 'r1', contextId: 'rc', status: { state } })
        if (method === 'message/stream') return { events: [status('pondering')] }
        return { result: status(count < 3 ? 'pondering' : 'completed') }
      },
      { version: '0.3' },
    )
    assert.equal(statusOf(await sendForTask(agent)), 'COMPLETED')
  })

  it('that violates the rules of artifacts is corrected [B-100]', async (t) => {
    const { agent } = await openProxyToFakeRemote(t, () => ({
      events: [
        { task: task('WORKING') },
        chunk('begun by appending ', { append: true }),
        chunk('and closed ', { append: true, lastChunk: true }),
        chunk('and yet continued', { append: true }),
        { artifactUpdate: { ...remoteTaskIds, artifact: { artifactId: 'other', parts: [] }, lastChunk: true } },
        statusUpdate('COMPLETED'),
      ],
    }))
    const done = await sendForTask(agent)
    assert.deepEqual([statusOf(done), textOf(done)], ['COMPLETED', 'begun by appending and closed and yet continued'])
  })

  it('that answers with a message is forwarded as the last message of a task [B-49]', async (t) => {
    const { agent } = await openProxyToFakeRemote(t, () => ({ events: [{ message: agentMessage('just this') }] }))
    assert.equal(statusOf(await sendForTask(agent)), 'COMPLETED: just this')
  })

  it('that sends a message during a task continues with the task', async (t) => {
    const { agent } = await openProxyToFakeRemote(t, ({ method }) =>
      method === 'SendStreamingMessage'
        ? { events: [{ task: task('WORKING') }, { message: agentMessage('by the way') }] }
        : { result: task('COMPLETED', { artifacts: [artifact('done')] }) },
    )
    const events = await agent.stream('go').all()
    assert.ok(statesIn(events).includes('WORKING: by the way'))
    assert.deepEqual([chunksIn(events).join(''), statesIn(events).at(-1)], ['done', 'COMPLETED'])
  })

  it('that answers an answer with a message and keeps waiting keeps our task waiting', async (t) => {
    const asks = {
      ...task('INPUT_REQUIRED'),
      status: { state: 'TASK_STATE_INPUT_REQUIRED', message: agentMessage('Where?', 'q1') },
    }
    const { agent } = await openProxyToFakeRemote(t, ({ method, count }) => {
      if (method === 'GetTask') return { result: asks }
      return { events: count === 1 ? [{ task: asks }] : [{ message: agentMessage('I did not get that') }] }
    })
    const asked = await sendForTask(agent)
    assert.equal(statusOf(asked), 'INPUT_REQUIRED: Where?')
    const again = await sendForTask(agent, 'there', { taskId: asked.id })
    assert.equal(statusOf(again), 'INPUT_REQUIRED: I did not get that')
  })

  it('that sends large files is forwarded completely', async (t) => {
    const raw = Buffer.alloc(3_000_000, 'parley').toString('base64')
    const parts = [{ raw, filename: 'big.bin', mediaType: 'application/octet-stream' }]
    const { agent } = await openProxyToFakeRemote(t, () => ({
      events: [
        { artifactUpdate: { ...remoteTaskIds, artifact: { artifactId: 'big', parts } } },
        statusUpdate('COMPLETED'),
      ],
    }))
    const done = await sendForTask(agent)
    assert.deepEqual(done.artifacts?.[0]?.parts, parts)
  })
})

/** The task as these events leave it. */
function shownAfter(events: readonly Record<string, unknown>[]): Record<string, unknown> {
  let status: unknown = { state: 'TASK_STATE_SUBMITTED' }
  let text = ''
  for (const event of events) {
    if ('statusUpdate' in event) status = (event['statusUpdate'] as { status: unknown }).status
    if ('artifactUpdate' in event) {
      const { artifact: part } = event['artifactUpdate'] as { artifact: { parts: { text: string }[] } }
      text += part.parts[0]?.text ?? ''
    }
  }
  return { task: { ...task('SUBMITTED'), status, ...(text !== '' ? { artifacts: [artifact(text)] } : {}) } }
}
