import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Json, memoryStore, type Turn } from '@parley/a2a'
import type { OpenSpan } from '@parley/a2a/internal'
import {
  createRemoteIdMapping,
  createTurnPosition,
  type RemoteIdMapping,
  remoteQuestionOf,
  initialCheckpoint,
  readRemoteCheckpoint,
  previousTaskId,
} from './checkpoint.ts'

const uuid = /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/

function turnOf(more: { taskId?: string; messageId?: string; owner?: string; lastCheckpoint?: unknown } = {}): Turn {
  const { taskId = 't1', messageId = 'm1', owner = 'alice', lastCheckpoint } = more
  return {
    task: { id: taskId, contextId: 'c1', state: 'TASK_STATE_WORKING' },
    message: { messageId, role: 'ROLE_USER', parts: [] },
    caller: { id: owner },
    tenant: '',
    lastCheckpoint: lastCheckpoint as Json,
  } as unknown as Turn
}

function idMappingOf(given: Pick<RemoteIdMapping, 'isOrdered' | 'record'> & { isOtherContext(): boolean }) {
  return { remoteContextId: async () => 'c', remoteReferences: async () => [], ...given } as RemoteIdMapping
}

function createTestPosition(turn: Turn, start: Parameters<typeof createTurnPosition>[1], idMapping: RemoteIdMapping) {
  return createTurnPosition(
    turn,
    start,
    idMapping,
    () => 0,
    () => {},
  )
}

describe('the checkpoint of a turn with a remote agent', () => {
  it('has an id for the message that is the same for the same turn and for no other [B-164]', () => {
    const { messageId } = initialCheckpoint(turnOf())
    assert.match(messageId, uuid)
    assert.equal(initialCheckpoint(turnOf()).messageId, messageId)
    assert.notEqual(initialCheckpoint(turnOf({ taskId: 't2' })).messageId, messageId)
    assert.notEqual(initialCheckpoint(turnOf({ messageId: 'm2' })).messageId, messageId)
  })

  it('is in the remote task that asked, and else in a new one', () => {
    const asked = { state: 'TASK_STATE_INPUT_REQUIRED', messageId: 'q1' }
    const waits = turnOf({ lastCheckpoint: { round: 2, messageId: 'x', taskId: 'r1', arrived: true, asked } })
    assert.deepEqual({ ...initialCheckpoint(waits), messageId: '' }, { round: 2, messageId: '', taskId: 'r1', asked })
    assert.equal(previousTaskId(waits), undefined)
    const ended = turnOf({ lastCheckpoint: { round: 2, messageId: 'x', taskId: 'r1', arrived: true } })
    assert.deepEqual({ ...initialCheckpoint(ended), messageId: '' }, { round: 3, messageId: '' })
    assert.equal(previousTaskId(ended), 'r1')
    assert.equal(initialCheckpoint(turnOf()).round, 1)
  })

  it('is not read out of what another kind of agent kept', () => {
    for (const other of [undefined, null, 7, 'text', [], {}, { page: 2 }, { round: '1', messageId: 'm' }]) {
      assert.equal(readRemoteCheckpoint(other as Json), undefined)
    }
  })

  it('knows a question again by what its peer said of it', () => {
    const message = { messageId: 'q1', role: 'ROLE_AGENT', parts: [{ text: 'Where?' }] } as const
    const status = { state: 'TASK_STATE_INPUT_REQUIRED', timestamp: '2026-01-01T00:00:00.000Z', message } as const
    assert.deepEqual(remoteQuestionOf(status), { state: status.state, timestamp: status.timestamp, messageId: 'q1' })
    assert.deepEqual(remoteQuestionOf({ state: status.state }), { state: status.state })
  })

  it('is in a context of the caller, and of no other', async () => {
    const { kv } = memoryStore()
    const contextIdOf = (turn: Turn, name: string): Promise<string> =>
      createRemoteIdMapping({ name, kv, now: () => 0 }).remoteContextId(turn)
    const own = await contextIdOf(turnOf(), 'partner')
    assert.match(own, uuid)
    assert.equal(await contextIdOf(turnOf({ taskId: 't2' }), 'partner'), own)
    assert.notEqual(await contextIdOf(turnOf({ owner: 'bob' }), 'partner'), own)
    assert.notEqual(await contextIdOf(turnOf(), 'other'), own)
  })

  it('is queued with the first event, after the mapping of its ids and before its reports, and nothing waits for it', () => {
    const writes: unknown[] = []
    const stored = new Promise<void>(() => {})
    const turn = {
      ...turnOf(),
      checkpoint(checkpoint: unknown) {
        writes.push(checkpoint)
        return stored
      },
    } as unknown as Turn
    const idMapping = idMappingOf({
      isOrdered: true,
      isOtherContext: () => false,
      record(_: Turn, remote: object) {
        writes.push(remote)
        return stored
      },
    })
    const span = { set() {} } as unknown as OpenSpan
    const start = { checkpoint: initialCheckpoint(turn), span }
    const { messageId } = start.checkpoint
    const position = createTestPosition(turn, start, idMapping)
    assert.equal(position.recordArrival({ taskId: undefined, contextId: undefined }), undefined)
    assert.deepEqual(writes, [], 'a direct message has no task')
    assert.equal(position.recordArrival({ taskId: 'r1', contextId: 'rc1' }), undefined)
    assert.equal(position.recordArrival({ taskId: 'r1', contextId: 'rc1' }), undefined)
    const arrived = { round: 1, messageId, taskId: 'r1', arrived: true }
    assert.deepEqual(writes, [{ taskId: 'r1', contextId: 'rc1' }, arrived])
    assert.deepEqual(position.checkpoint, arrived)
    assert.equal(position.idsRecorded(), undefined)
  })

  it('contains the cursor of the first event if that event has no report', () => {
    const writes: unknown[] = []
    const turn = {
      ...turnOf(),
      checkpoint: async (checkpoint: unknown) => void writes.push(checkpoint),
    } as unknown as Turn
    const idMapping = idMappingOf({ isOrdered: true, isOtherContext: () => false, record: async () => {} })
    const start = { checkpoint: initialCheckpoint(turn), span: { set() {} } as unknown as OpenSpan }
    const position = createTestPosition(turn, start, idMapping)
    const first = { id: '2' }
    void position.recordArrival({ taskId: 'r1', contextId: 'rc1' }, first)
    position.recordDelivered(first)
    const arrived = { round: 1, messageId: start.checkpoint.messageId, taskId: 'r1', arrived: true, cursor: '2' }
    assert.deepEqual(writes, [arrived])
    position.recordDelivered({ id: '3' })
    assert.equal(position.checkpoint.cursor, '3')
    assert.deepEqual(writes, [arrived], 'later cursors are stored in groups')
  })

  it('lets the last report wait for the mapping if the store may write it later', async () => {
    const mapped = Promise.withResolvers<void>()
    const turn = { ...turnOf(), checkpoint: async () => {} } as unknown as Turn
    const idMapping = idMappingOf({ isOrdered: false, isOtherContext: () => false, record: () => mapped.promise })
    const start = { checkpoint: initialCheckpoint(turn), span: { set() {} } as unknown as OpenSpan }
    const position = createTestPosition(turn, start, idMapping)
    assert.equal(position.recordArrival({ taskId: 'r1', contextId: 'rc1' }), undefined)
    const order: string[] = []
    const reported = position.idsRecorded()?.then(() => order.push('reported'))
    order.push('mapped')
    mapped.resolve()
    await reported
    assert.deepEqual(order, ['mapped', 'reported'])
  })

  it('waits for the mapping if the remote agent chose another context', async () => {
    const writes: unknown[] = []
    const mapped = Promise.withResolvers<void>()
    const turn = {
      ...turnOf(),
      checkpoint: async (checkpoint: unknown) => void writes.push(checkpoint),
    } as unknown as Turn
    const idMapping = idMappingOf({ isOrdered: true, isOtherContext: () => true, record: () => mapped.promise })
    const span = { set() {} } as unknown as OpenSpan
    const start = { checkpoint: initialCheckpoint(turn), span }
    const position = createTestPosition(turn, start, idMapping)
    const arrival = position.recordArrival({ taskId: 'r1', contextId: 'rc1' })
    assert.deepEqual(writes, [])
    mapped.resolve()
    await Promise.all([arrival, position.idsRecorded()])
    assert.equal(writes.length, 1)
  })
})
