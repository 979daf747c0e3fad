import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Message, StreamEvent, Task, TaskState } from '@parley/a2a'
import { emptyTranscript, transcriptOf } from '../../conversation/transcript.ts'
import { answerTimes, isOutput } from './chat-timing.ts'

const at = (ms: number): string => new Date(1_900_000_000_000 + ms).toISOString()

describe('the times of an answer', () => {
  it('are those of the log', () => {
    const status = { state: 'TASK_STATE_COMPLETED', timestamp: at(900) } as const
    const looking = { messageId: 's', role: 'ROLE_AGENT', parts: [{ text: 'Looking' }] }
    const task = { id: 't', contextId: 'c', status } as Task
    const transcript = transcriptOf(task, [
      { seq: 1, at: at(0), body: { type: 'message', message: { messageId: 'm', role: 'ROLE_USER', parts: [] } } },
      { seq: 2, at: at(100), body: { type: 'status', status: { state: 'TASK_STATE_WORKING', message: looking } } },
      { seq: 3, at: at(300), body: { type: 'artifact', artifact: { artifactId: 'a', parts: [{ text: 'x' }] } } },
      { seq: 4, at: at(900), body: { type: 'status', status } },
    ])
    assert.deepEqual(answerTimes(transcript, undefined), { firstOutputMs: 300, totalMs: 900 })
  })

  it('begin with the output, not with a status message', () => {
    const message: Message = { messageId: 's', role: 'ROLE_AGENT', parts: [{ text: 'Looking' }] }
    const update = (state: TaskState): StreamEvent => ({
      statusUpdate: { taskId: 't', contextId: 'c', status: { state, message } },
    })
    assert.equal(isOutput(update('TASK_STATE_WORKING')), false)
    assert.equal(isOutput(update('TASK_STATE_INPUT_REQUIRED')), false)
    assert.equal(isOutput(update('TASK_STATE_COMPLETED')), true)
    const artifact = { artifactId: 'a', parts: [{ text: 'x' }] }
    assert.equal(isOutput({ artifactUpdate: { taskId: 't', contextId: 'c', artifact } }), true)
  })

  it('are those that the page saw while there is no log', () => {
    const seen = { sentAt: 100, firstOutputAt: 350, endedAt: undefined }
    assert.deepEqual(answerTimes(emptyTranscript, seen), { firstOutputMs: 250, totalMs: undefined })
    const done = { ...emptyTranscript, state: 'TASK_STATE_FAILED' as const }
    assert.deepEqual(answerTimes(done, { ...seen, endedAt: 600 }), { firstOutputMs: 250, totalMs: 500 })
  })
})
