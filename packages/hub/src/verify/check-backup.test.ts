/** What a backup may claim and not contain: files whose checksums are correct. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { BlobEntry, DumpEntry, KeyEntry, LogEntry, TaskEntry } from '@parley/a2a/internal'
import { createBackupCheck } from './check-backup.ts'

const status = { state: 'TASK_STATE_COMPLETED', timestamp: '2030-01-01T00:00:00.000Z' }
const task: TaskEntry = {
  ...{ type: 'task', id: 't1', contextId: 'c1', tenant: '', agent: 'a', owner: 'ann', createdAt: 1, statusAt: 1 },
  ...{ head: 2, consumedSeq: 0, visibleSeq: 2, lastAt: 1, isLogDropped: false, isLeased: false },
  status: JSON.stringify(status),
}
const record = (body: object): string => JSON.stringify([{ at: 1, body }])
const log = (seq: number, body: object = { type: 'status', status }): LogEntry => ({
  ...{ type: 'log', position: seq + 10, firstSeq: seq, lastSeq: seq, records: record(body) },
})
const content = Buffer.from('the bytes of a file')
const blob: BlobEntry = { type: 'blob', digest: hash('sha256', content), content }
const withFile = log(2, {
  ...{ type: 'artifact', append: false, lastChunk: true },
  artifact: { artifactId: 'f', parts: [{ raw: `sha256:${blob.digest}` }] },
})

async function findings(entries: readonly DumpEntry[], masterKeys: readonly Uint8Array[] = []) {
  const check = createBackupCheck()
  check.useMasterKeys(masterKeys)
  await check.add(entries)
  const found = check.finish({ position: 12 })
  return found.map(({ kind, message }) => `${kind}: ${message}`)
}

describe('the check of a backup', () => {
  it('finds nothing in what a store wrote', async () => {
    assert.deepEqual(await findings([{ ...task, visibleSeq: 2 }, log(1), log(2)]), [])
  })

  it('finds a log that has a gap, or that ends before or after the head of its task', async () => {
    assert.match((await findings([task, log(2)])).join(), /log: The log continues with 2 after 0/)
    assert.match((await findings([task, log(1)])).join(), /log: The log ends at 1; the row of the task says 2/)
    assert.match((await findings([{ ...task, head: 1 }, log(1), log(2)])).join(), /log: The log ends at 2/)
  })

  it('finds appends that are not in order, or behind the position of the backup', async () => {
    const swapped = [task, { ...log(1), position: 12 }, { ...log(2), position: 11 }]
    assert.match((await findings(swapped)).join(), /feed: The append has position 11 after 12/)
    const late = [task, log(1), { ...log(2), position: 13 }]
    assert.match((await findings(late)).join(), /feed: An append has position 13, and the backup ends at 12/)
  })

  it('finds blobs that are missing, and blobs that are not what their digest says', async () => {
    assert.ok(!(await findings([task, log(1), withFile, blob])).join().includes('blob'))
    assert.match((await findings([task, log(1), withFile])).join(), /blob: The blob \w+ is missing/)
    const changed = { ...blob, content: Buffer.from('other bytes') }
    assert.match((await findings([task, log(1), withFile, changed])).join(), /blob: The content of the blob \w+ was/)
    // Each task has its own.
    const other = { ...task, id: 't2' }
    assert.match((await findings([task, log(1), withFile, blob, other, log(1), withFile])).join(), /blob .* is missing/)
  })

  it('finds keys that no master key unwraps, if there is one', async () => {
    const key: KeyEntry = { type: 'key', id: 'hop.1', purpose: 'hop', material: 'of another master key', createdAt: 1 }
    assert.deepEqual(await findings([key]), [])
    const masterKeys = [1, 2].map((byte) => new Uint8Array(32).fill(byte))
    assert.match((await findings([key], masterKeys)).join(), /^key: /)
  })
})
