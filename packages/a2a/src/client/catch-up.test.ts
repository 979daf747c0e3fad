import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Artifact, Part, StreamEvent, Task, TaskStatus } from '../model/task.ts'
import { textOf } from './answer.ts'
import { newsIn } from './catch-up.ts'
import { artifactsOf, emptyReduction, reduce } from './reduce.ts'

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

function news(now: Task, ...told: readonly StreamEvent[]) {
  const sum = emptyReduction()
  for (const event of told) reduce(sum, event)
  return newsIn(now, sum)
}
const added = (parts: readonly Part[], over: Partial<Artifact> = {}): StreamEvent => ({
  artifactUpdate: { ...about, artifact: { artifactId: 'a', parts, ...over }, append: true },
})

const textIn = (artifacts: readonly Artifact[]): string => artifacts.map(({ parts }) => textOf(parts)).join('')

describe('what a task adds to what was told of it', () => {
  it('is the rest of the text, wherever chunks were divided [B-105]', () => {
    const told = { task: taskOf([artifact({ text: 'Hel' }, { text: 'lo' })]) }
    for (const parts of [[{ text: 'Hello, you' }], [{ text: 'H' }, { text: 'ello, ' }, { text: 'you' }]]) {
      assert.deepEqual(news(taskOf([artifact(...parts)]), told), { events: [added([{ text: ', you' }])], isOld: false })
    }
  })

  it('is nothing where nothing has happened, whatever the order of keys', () => {
    const one = artifact({ data: { x: 1, y: [2] }, metadata: { m: 1 } }, { text: '' })
    const other = artifact({ metadata: { m: 1 }, data: { y: [2], x: 1 } })
    assert.deepEqual(news(taskOf([other]), { task: taskOf([one]) }), { events: [], isOld: false })
  })

  it('is a part that has come, a new artifact, a name, and last of all the state', () => {
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

  it('is the whole artifact where it has become another', () => {
    const now = artifact({ text: 'second thoughts' })
    const { events } = news(taskOf([now]), { task: taskOf([artifact({ text: 'first' })]) })
    assert.deepEqual(events, [{ artifactUpdate: { ...about, artifact: now } }])
  })

  it('is nothing where the task is shown as it was before, by its text or by its time', () => {
    const told = { task: taskOf([artifact({ text: 'abc' })], { ...working, timestamp: at(3) }) }
    assert.deepEqual(news(taskOf([artifact({ text: 'ab' })], { ...working, timestamp: at(3) }), told), {
      events: [],
      isOld: true,
    })
    assert.deepEqual(news(taskOf([artifact({ text: 'xyz' })]), told), { events: [], isOld: true })
  })

  it('is the end of the turn even if a clock says that it came earlier', () => {
    const status: TaskStatus = { state: 'TASK_STATE_COMPLETED', timestamp: at(0) }
    const { events } = news(taskOf([], status), { task: taskOf([]) })
    assert.deepEqual(events, [{ statusUpdate: { ...about, status } }])
  })

  it('is a state said with other words, and not the same state said again', () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT' as const, parts: [{ text: 'page 2' }] }
    const status = { ...working, message }
    assert.equal(news(taskOf([], status), { task: taskOf([]) }).events.length, 1)
    assert.equal(news(taskOf([], status), { task: taskOf([], status) }).events.length, 0)
  })

  it('makes of any beginning the whole, in one step', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 4 }).map((text): Part => ({ text })),
      fc.integer().map((data): Part => ({ data })),
      fc.string({ maxLength: 2 }).map((text): Part => ({ text, mediaType: 'text/html' })),
    )
    const cut = fc.tuple(fc.array(part, { maxLength: 8 }), fc.nat(8), fc.nat(8))
    fc.assert(
      fc.property(cut, ([parts, from, to]) => {
        const seen = emptyReduction()
        reduce(seen, { task: taskOf([artifact(...parts.slice(0, from))]) })
        const whole = emptyReduction()
        reduce(whole, { task: taskOf([artifact()]) })
        for (const each of parts.slice(0, Math.max(from, to))) reduce(whole, added([each]))
        const { events, isOld } = newsIn(taskOf(artifactsOf(whole)), seen)
        const before = textIn(artifactsOf(seen))
        const told = events.map((event) => reduce(seen, event)).join('')
        assert.equal(isOld, false)
        assert.equal(before + told, textIn(artifactsOf(whole)))
        assert.deepEqual(newsIn(taskOf(artifactsOf(whole)), seen), { events: [], isOld: false })
      }),
    )
  })
})
