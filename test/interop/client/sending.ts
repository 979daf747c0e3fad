/** Sending, streaming and parts: the same results with every peer. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { chunksOf, keyOf, rejectsWith, taskOf, textOf, textOfArtifact } from './connected-peer.ts'
import type { ConnectedPeer } from './connected-peer.ts'

export function sending(scene: ConnectedPeer): void {
  const { knownDefects = {} } = scene.kind

  it('sends and gets a finished task', async () => {
    const task = taskOf(await scene.agent.send('say hello there'))
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(textOf(task), 'hello there ')
    assert.ok(task.contextId !== undefined && task.id !== '')
  })

  it('sends and gets a message', async () => {
    const message = await scene.agent.send('reply hi back')
    assert.ok(message.kind === 'message')
    assert.deepEqual([message.role, message.parts[0]], ['ROLE_AGENT', { text: 'hi back' }])
  })

  it('asks and gets text, or an error with the reason', async () => {
    assert.equal(await scene.agent.ask('say hello'), 'hello ')
    assert.equal(await scene.agent.ask('reply hello'), 'hello')
    const failed = await rejectsWith('TASK_FAILED', scene.agent.ask('fail'))
    assert.deepEqual([failed.message, failed.details['state']], ['Upstream is down', 'TASK_STATE_FAILED'])
    await rejectsWith('TASK_FAILED', scene.agent.ask('reject'))
    const asked = await rejectsWith('INPUT_REQUIRED', scene.agent.ask('ask'))
    assert.equal(asked.message, 'Which city?')
  })

  it('keeps concurrent messages apart', async () => {
    const words = Array.from({ length: 20 }, (_, index) => `word${index}`)
    const answers = await Promise.all(
      words.map((word, index) =>
        index % 2 === 0 ? scene.agent.ask(`say ${word}`) : Promise.resolve(scene.agent.stream(`say ${word}`).text()),
      ),
    )
    assert.deepEqual(
      answers,
      words.map((word) => `${word} `),
    )
  })

  it('starts a task at once and waits for its end', async () => {
    const begun = await scene.agent.start('hold start')
    assert.match(begun.status.state, /SUBMITTED|WORKING/)
    const waiting = scene.agent.wait(begun.id)
    scene.peer.release('start')
    const done = await waiting
    assert.deepEqual([done.kind, done.id, done.status.state], ['task', begun.id, 'TASK_STATE_COMPLETED'])
    assert.equal(textOf(done), 'held released')
    assert.equal((await scene.agent.wait(begun.id)).status.state, 'TASK_STATE_COMPLETED')
  })

  it('streams from the task to its last state, each event once', async () => {
    const before = scene.requests.length
    const stream = scene.agent.stream('say one two three four')
    assert.equal(scene.requests.length, before, 'an unread stream was sent')
    const events = await stream.all()
    assert.ok('task' in events[0]!)
    assert.deepEqual(chunksOf(events), ['one ', 'two ', 'three ', 'four '])
    const last = events.at(-1)!
    assert.ok('statusUpdate' in last && last.statusUpdate.status.state === 'TASK_STATE_COMPLETED')
    assert.deepEqual([stream.taskId, stream.contextId], [events[0].task.id, events[0].task.contextId])
  })

  it('streams text in chunks, and returns all of it to blocking calls', async () => {
    const chunks = await Array.fromAsync(scene.agent.stream('say one two').text())
    assert.deepEqual(chunks, ['one ', 'two '])
    assert.equal(await scene.agent.stream('say one two').text(), 'one two ')
    assert.equal(await scene.agent.stream('reply hi').text(), 'hi')
  })

  it('sees the states of a stream, its artifacts and their fold', async () => {
    const states = await scene.agent.stream('say one').states()
    assert.deepEqual(states.slice(-2), ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'])
    const artifacts = await scene.agent.stream('say one two').artifacts()
    assert.deepEqual(artifacts.map(textOfArtifact), ['one two '])
    const task = taskOf(await scene.agent.stream('say one two').result())
    assert.deepEqual([task.status.state, textOf(task)], ['TASK_STATE_COMPLETED', 'one two '])
  })

  it('streams a message as the only event', async () => {
    const stream = scene.agent.stream('reply hi')
    assert.deepEqual((await stream.all()).map(keyOf), ['message'])
    assert.equal((await scene.agent.stream('reply hi').result()).kind, 'message')
  })

  it('carries every kind of part both ways', async () => {
    const parts = [
      { text: 'parts' },
      { raw: 'AQL/', filename: 'b.png', mediaType: 'image/png' },
      { url: 'https://example.com/c', filename: 'c.png', mediaType: 'image/png' },
      { data: { deep: { er: [1, 'two', knownDefects['keep a null'] === undefined ? null : 3] } } },
    ]
    const { artifacts = [] } = taskOf(await scene.agent.send(parts))
    const [shown, mirror] = artifacts
    const own = { raw: 'AQL/', filename: 'a.bin', mediaType: 'application/x-a' }
    const named = knownDefects['name files'] === undefined ? bare : nameless
    assert.deepEqual(named(shown?.parts), named([{ data: { rows: [1, 2.5], ok: true } }, own]))
    assert.deepEqual(named(mirror?.parts), named(parts))
  })

  it('attaches files and data to a text', async () => {
    const files = [new File([new Uint8Array([1, 2, 255])], 'b.png', { type: 'image/png' })]
    const { artifacts = [] } = taskOf(await scene.agent.send('parts', { files, data: { n: 1 } }))
    const sent = artifacts[1]?.parts ?? []
    assert.deepEqual(sent.map(keyOf).sort(), ['data', 'raw', 'text'])
    assert.ok(sent.some((part) => 'raw' in part && part.raw === 'AQL/' && part.mediaType === 'image/png'))
  })
}

/** Peers fill in omitted fields: an empty name counts as none. */
function bare(parts: readonly object[] = []): object[] {
  return parts.map((part) =>
    Object.fromEntries(
      Object.entries(part).filter(
        ([key, value]) => value !== '' && !(key === 'metadata' && Object.keys(value as object).length === 0),
      ),
    ),
  )
}
function nameless(parts: readonly object[] = []): object[] {
  return bare(parts).map((part) => Object.fromEntries(Object.entries(part).filter(([key]) => key !== 'filename')))
}
