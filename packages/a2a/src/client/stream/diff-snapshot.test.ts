import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Artifact, Part, StreamEvent, Task, TaskStatus } from '../../model/task.ts'
import { textOfParts } from '../agent-response.ts'
import { diffSnapshot } from './dedupe-events.ts'
import { artifactsOf, createStreamState, applyEvent } from './stream-state.ts'

const about = { taskId: 't', contextId: 'c' }
const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`
const working: TaskStatus = { state: 'TASK_STATE_WORKING', timestamp: at(1) }
const artifact = (...parts: readonly Part[]): Artifact => ({ artifactId: 'a', parts })
const taskOf = (artifacts: readonly Artifact[], status = working): Task => ({
  id: 't',
  contextId: 'c',
  status,
  artifacts,
})

function news(now: Task, ...received: readonly StreamEvent[]) {
  const sum = createStreamState()
  for (const event of received) applyEvent(sum, event)
  return diffSnapshot(now, sum)
}
const added = (parts: readonly Part[], over: Partial<Artifact> = {}): StreamEvent => ({
  artifactUpdate: { ...about, artifact: { artifactId: 'a', parts, ...over }, append: true },
})

const textIn = (artifacts: readonly Artifact[]): string => artifacts.map(({ parts }) => textOfParts(parts)).join('')

describe('the updates from the stream state to a task', () => {
  it('are the rest of the text, however chunks were divided [B-105]', () => {
    const known = { task: taskOf([artifact({ text: 'Hel' }, { text: 'lo' })]) }
    for (const parts of [[{ text: 'Hello, you' }], [{ text: 'H' }, { text: 'ello, ' }, { text: 'you' }]]) {
      assert.deepEqual(news(taskOf([artifact(...parts)]), known), {
        events: [added([{ text: ', you' }])],
        isStale: false,
      })
    }
  })

  it('are empty if nothing has changed, whatever the order of keys', () => {
    const one = artifact({ data: { x: 1, y: [2] }, metadata: { m: 1 } }, { text: '' })
    const other = artifact({ metadata: { m: 1 }, data: { y: [2], x: 1 } })
    assert.deepEqual(news(taskOf([other]), { task: taskOf([one]) }), { events: [], isStale: false })
  })

  it('are a new part, a new artifact, a name, and last the state', () => {
    const done: TaskStatus = { state: 'TASK_STATE_COMPLETED', timestamp: at(2) }
    const image = { raw: 'AAAA', mediaType: 'image/png' }
    const other = { artifactId: 'b', parts: [{ data: null }] }
    const now = taskOf([{ ...artifact({ text: 'x' }, image), name: 'n' }, other], done)
    assert.deepEqual(news(now, { task: taskOf([artifact({ text: 'x' })]) }).events, [
      added([image], { name: 'n' }),
      { artifactUpdate: { ...about, artifact: other } },
      { statusUpdate: { ...about, status: done } },
    ])
  })

  it('are the whole artifact if it was replaced', () => {
    const now = artifact({ text: 'second thoughts' })
    const { events } = news(taskOf([now]), { task: taskOf([artifact({ text: 'first' })]) })
    assert.deepEqual(events, [{ artifactUpdate: { ...about, artifact: now } }])
  })

  it('are empty if the task is older, by its text or by its time', () => {
    const known = { task: taskOf([artifact({ text: 'abc' })], { ...working, timestamp: at(3) }) }
    assert.deepEqual(news(taskOf([artifact({ text: 'ab' })], { ...working, timestamp: at(3) }), known), {
      events: [],
      isStale: true,
    })
    assert.deepEqual(news(taskOf([artifact({ text: 'xyz' })]), known), { events: [], isStale: true })
  })

  it('include the end of the turn even if its time is earlier', () => {
    const status: TaskStatus = { state: 'TASK_STATE_COMPLETED', timestamp: at(0) }
    const { events } = news(taskOf([], status), { task: taskOf([]) })
    assert.deepEqual(events, [{ statusUpdate: { ...about, status } }])
  })

  it('include the end of a task whose text was shortened, which a poll waits for', () => {
    const status: TaskStatus = { state: 'TASK_STATE_COMPLETED', timestamp: at(2) }
    const shorter = artifact({ text: 'ab' })
    assert.deepEqual(news(taskOf([shorter], status), { task: taskOf([artifact({ text: 'abc' })]) }), {
      events: [{ artifactUpdate: { ...about, artifact: shorter } }, { statusUpdate: { ...about, status } }],
      isStale: false,
    })
  })

  it('include a state with another message, and not a repeated state', () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT' as const, parts: [{ text: 'page 2' }] }
    const status = { ...working, message }
    assert.equal(news(taskOf([], status), { task: taskOf([]) }).events.length, 1)
    assert.equal(news(taskOf([], status), { task: taskOf([], status) }).events.length, 0)
  })

  it('lead from any beginning to the whole, in one step', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 4 }).map((text): Part => ({ text })),
      fc.integer().map((data): Part => ({ data })),
      fc.string({ maxLength: 2 }).map((text): Part => ({ text, mediaType: 'text/html' })),
    )
    const cut = fc.tuple(fc.array(part, { maxLength: 8 }), fc.nat(8), fc.nat(8))
    fc.assert(
      fc.property(cut, ([parts, from, to]) => {
        const seen = createStreamState()
        applyEvent(seen, { task: taskOf([artifact(...parts.slice(0, from))]) })
        const whole = createStreamState()
        applyEvent(whole, { task: taskOf([artifact()]) })
        for (const each of parts.slice(0, Math.max(from, to))) applyEvent(whole, added([each]))
        const { events, isStale } = diffSnapshot(taskOf(artifactsOf(whole)), seen)
        const before = textIn(artifactsOf(seen))
        const rest = events.map((event) => applyEvent(seen, event)).join('')
        assert.equal(isStale, false)
        assert.equal(before + rest, textIn(artifactsOf(whole)))
        assert.deepEqual(diffSnapshot(taskOf(artifactsOf(whole)), seen), { events: [], isStale: false })
      }),
    )
  })
})
