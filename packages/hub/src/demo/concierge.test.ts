import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testAgent } from '@parley/a2a/testing'
import type { Task } from '@parley/a2a'
import { concierge } from './index.ts'

describe('the concierge', () => {
  it('asks a question, then answers with data and a file', async (t) => {
    const agent = testAgent(concierge)
    t.after(() => agent.close())
    const asked = (await agent.send('A table, please')) as Task
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.deepEqual(asked.status.message?.parts, [{ text: 'With pleasure. For which city, and for how many people?' }])

    const done = (await agent.send('Rome, two', { taskId: asked.id })) as Task
    assert.equal(done.id, asked.id)
    assert.equal(done.status.state, 'TASK_STATE_COMPLETED')
    const [booking, note, ...more] = (done.artifacts ?? []).flatMap(({ parts }) => parts)
    assert.deepEqual(more, [])
    assert.ok(booking !== undefined && 'data' in booking)
    assert.deepEqual(booking.data, { confirmation: 'PARLEY-42', place: 'Rome, two', at: '20:00' })
    assert.ok(note !== undefined && 'raw' in note)
    assert.deepEqual([note.filename, note.mediaType], ['booking.txt', 'text/plain'])
    assert.match(Buffer.from(note.raw, 'base64').toString(), /^Where: Rome, two$/m)
  })
})
