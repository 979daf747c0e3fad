import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StreamEvent, TaskState } from '@parley/a2a'
import { createToolProgress } from './tool-progress.ts'

const ids = { taskId: 't', contextId: 'c' }
const says = (text: string, state: TaskState = 'TASK_STATE_WORKING'): StreamEvent => ({
  statusUpdate: {
    ...ids,
    status: { state, ...(text === '' ? {} : { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] } }) },
  },
})
const writes = (text: string, append = true): StreamEvent => ({
  artifactUpdate: { ...ids, artifact: { artifactId: 'a', name: 'report', parts: [{ text }] }, append },
})

function scene() {
  const sent: [number, string][] = []
  let time = 0
  const progress = createToolProgress(
    async (count, message) => void sent.push([count, message]),
    () => time,
  )
  return { sent, progress, pass: (ms: number) => (time += ms) }
}

describe('progress', () => {
  it('reports the text of the agent, in steps that grow', async () => {
    const { sent, progress, pass } = scene()
    for (const text of ['one', 'two', 'three']) {
      progress.push(says(text))
      pass(1_000)
    }
    await progress.end()
    assert.deepEqual(sent, [
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
    ])
  })

  it('tells a state once where nothing is said with it', async () => {
    const { sent, progress, pass } = scene()
    for (const state of ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_WORKING'] as const) {
      progress.push(says('', state))
      pass(1_000)
    }
    await progress.end()
    assert.deepEqual(
      sent.map(([, message]) => message),
      ['submitted', 'working'],
    )
  })

  it('counts what is written, from the beginning when it begins anew', async () => {
    const { sent, progress, pass } = scene()
    for (const event of [writes('abc', false), writes('de'), writes('x', false)]) {
      progress.push(event)
      pass(1_000)
    }
    await progress.end()
    assert.deepEqual(
      sent.map(([, message]) => message),
      ['report: 3 characters so far', 'report: 5 characters so far', 'report: 1 characters so far'],
    )
  })

  it('tells little of what comes too fast, and always the last', async () => {
    const { sent, progress } = scene()
    for (let count = 1; count <= 10_000; count += 1) progress.push(says(`step ${count}`))
    await progress.end()
    assert.deepEqual(sent, [
      [1, 'step 1'],
      [2, 'step 10000'],
    ])
    progress.push(says('after the end'))
    assert.equal(sent.length, 2)
  })

  it('ignores a disconnected client, and truncates long text', async () => {
    let message = ''
    const progress = createToolProgress((_, text) => {
      message = text
      return Promise.reject(new Error('gone'))
    })
    progress.push(says('x'.repeat(5_000)))
    await progress.end()
    assert.equal(message.length, 1_000)
  })
})
