import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RecordBody } from '../model/record.ts'
import type { Part, Task } from '../model/task.ts'
import { mightContainBlobs, spliceBlobs, spliceTaskBlobs, stashBlobs, stashTaskBlobs } from './blobs.ts'

const big = 'A'.repeat(100_000)
const small = 'QUJD'

function shelf() {
  const kept: string[] = []
  return {
    kept,
    keep: (raw: string) => `${kept.push(raw) - 1}`,
    find: (reference: string) => kept[Number(reference)] as string,
  }
}

function bodies(parts: readonly Part[]): readonly RecordBody[] {
  const message = { messageId: 'm', role: 'ROLE_AGENT', parts } as const
  return [
    { type: 'artifact', artifact: { artifactId: 'a', parts } },
    { type: 'message', message },
    { type: 'status', status: { state: 'TASK_STATE_WORKING', message } },
  ]
}

describe('large bytes', () => {
  it('are moved out of every kind of record with parts, and restored', () => {
    for (const body of bodies([{ text: 'before' }, { raw: big, filename: 'f' }, { raw: small }])) {
      const { kept, keep, find } = shelf()
      const stashed = stashBlobs(body, keep)
      assert.deepEqual(kept, [big])
      assert.ok(JSON.stringify(stashed).length < 500)
      assert.ok(mightContainBlobs(JSON.stringify(stashed)))
      assert.deepEqual(spliceBlobs(stashed, find), body)
    }
  })

  it('are moved out of artifacts, history and status of a folded task, and restored', () => {
    const { kept, keep, find } = shelf()
    const [part, other] = [{ raw: big }, { raw: `${big}BBBB` }]
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [part, other] } as const
    const task: Task = {
      id: 't',
      status: { state: 'TASK_STATE_COMPLETED', message },
      artifacts: [
        { artifactId: 'a', parts: [{ text: 'x' }] },
        { artifactId: 'b', parts: [other] },
      ],
      history: [message],
    }
    const stashed = stashTaskBlobs(task, keep)
    assert.equal(kept.length, 5)
    assert.ok(JSON.stringify(stashed).length < 1_000)
    assert.deepEqual(spliceTaskBlobs(stashed, find), task)
  })

  it('are the only reason to copy a record', () => {
    const { kept, keep } = shelf()
    const others: readonly RecordBody[] = [
      ...bodies([{ text: big }, { raw: small }, { url: 'https://example.com' }, { data: null }]),
      { type: 'note', text: big },
      { type: 'status', status: { state: 'TASK_STATE_WORKING' } },
    ]
    for (const body of others) {
      assert.equal(stashBlobs(body, keep), body)
      assert.equal(mightContainBlobs(JSON.stringify(body)), false)
    }
    assert.deepEqual(kept, [])
  })

  it('are not confused with bytes that look like a reference', () => {
    const { keep, find } = shelf()
    for (const body of bodies([{ raw: 'sha256:9' }])) {
      const stashed = stashBlobs(body, keep)
      assert.notEqual(stashed, body)
      assert.deepEqual(spliceBlobs(stashed, find), body)
    }
  })
})
