/**
 * Guards against: a second message to a running task. In other servers both run
 * at once, each also writes the other's events, and the first to end cuts off
 * the other.
 */
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { describe, it } from 'node:test'
import type { Agent, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'

const chunks = 20
const words = (of: string): string => Array.from({ length: chunks }, (_, index) => `${of}${index} `).join('')

/** Writes its text twenty times, slowly, and counts its concurrent runs. */
function counting(): { agent: Agent; most(): number } {
  let running = 0
  let most = 0
  return {
    most: () => most,
    async *agent({ text }) {
      running += 1
      most = Math.max(most, running)
      try {
        for (let index = 0; index < chunks; index += 1) {
          await setImmediate()
          yield `${text}${index} `
        }
      } finally {
        running -= 1
      }
    },
  }
}

const textOf = ({ artifacts = [] }: Task): Record<string, string> =>
  Object.fromEntries(
    artifacts.map(({ artifactId, parts }) => [
      artifactId,
      parts.map((part) => ('text' in part ? part.text : '')).join(''),
    ]),
  )

describe('a message to a running task', () => {
  it('is answered after it, and neither answer is doubled or cut [B-45]', async () => {
    const { agent, most } = counting()
    const tested = testAgent(agent)
    const first = (await tested.send('A', { returnImmediately: true })) as Task
    const last = (await tested.send('B', { taskId: first.id })) as Task
    assert.equal(last.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(textOf(last), { answer: words('A'), 'answer-2': words('B') })
    assert.equal(most(), 1)
    await tested.close()
  })

  it('leaves both streams complete [B-93 B-94 B-102]', async () => {
    const { agent, most } = counting()
    const tested = testAgent(agent)
    const streamA = tested.stream('A')[Symbol.asyncIterator]()
    const opened = await streamA.next()
    const { id } = (opened.value as { task: Task }).task
    const [restOfA, streamB] = await Promise.all([
      Array.fromAsync({ [Symbol.asyncIterator]: () => streamA }),
      tested.stream('B', { taskId: id }).all(),
    ])
    const said = (events: readonly object[], artifactId: string): string =>
      events
        .flatMap((event) =>
          'artifactUpdate' in event ? [event.artifactUpdate as { artifact: NonNullable<Task['artifacts']>[0] }] : [],
        )
        .filter(({ artifact }) => artifact.artifactId === artifactId)
        .map(({ artifact: { parts } }) => parts.map((part) => ('text' in part ? part.text : '')).join(''))
        .join('')
    assert.equal(said(restOfA, 'answer'), words('A'))
    assert.equal(said(streamB, 'answer-2'), words('B'))
    for (const events of [restOfA, streamB]) {
      const end = events.at(-1) as { statusUpdate?: { status: { state: string } } }
      assert.equal(end.statusUpdate?.status.state, 'TASK_STATE_COMPLETED')
    }
    assert.equal(most(), 1)
    await tested.close()
  })

  it('is not lost among twenty concurrent ones', async () => {
    const { agent, most } = counting()
    const tested = testAgent(agent)
    const { id } = (await tested.send('M0-', { returnImmediately: true })) as Task
    const texts = Array.from({ length: 20 }, (_, index) => `M${index + 1}-`)
    const answers = await Promise.all(texts.map((message) => tested.send(message, { taskId: id })))
    assert.ok(answers.every((answer) => 'status' in answer && answer.status.state === 'TASK_STATE_COMPLETED'))
    const task = await tested.get(id)
    assert.deepEqual(Object.values(textOf(task)).sort(), ['M0-', ...texts].map(words).sort())
    const received = (task.history ?? []).flatMap(({ role, parts }) =>
      role === 'ROLE_USER' ? parts.map((part) => 'text' in part && part.text) : [],
    )
    assert.deepEqual(new Set(received), new Set(['M0-', ...texts]))
    assert.equal(received.length, texts.length + 1)
    assert.equal(most(), 1)
    await tested.close()
  })
})
