import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore, newId } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import type { RetentionConfig } from '../config/sections/limits.ts'
import { createRetentionService, retentionAt, traceRetentionMs, type RetentionService } from './retention-service.ts'

const day = 86_400_000
const start = Date.UTC(2030, 0, 1)

interface Fixture {
  readonly store: FullStore
  settings: RetentionConfig
  now: number
}

function fixture(): Fixture & { readonly service: RetentionService } {
  const clock = { now: start }
  const state: Fixture = {
    store: memoryStore({ now: () => clock.now }),
    settings: {},
    get now() {
      return clock.now
    },
    set now(at) {
      clock.now = at
    },
  }
  const service = createRetentionService({
    store: state.store,
    settings: () => state.settings,
    log: { warn: assert.fail },
    now: () => state.now,
  })
  return Object.defineProperty(state, 'service', { value: service }) as Fixture & { readonly service: RetentionService }
}

async function addTrace(store: FullStore, taskId: string, endedAt: number | undefined): Promise<void> {
  const value = {
    agent: 'echo',
    caller: 'a',
    contextId: 'c',
    startedAt: start,
    own: {},
    ...(endedAt ? { endedAt } : {}),
  }
  await store.kv.write('telemetry/traces', { key: `root/${taskId}`, value })
}

const rowsOf = (estimates: readonly { kind: string; rows: number }[]): Record<string, number> =>
  Object.fromEntries(estimates.map(({ kind, rows }) => [kind, rows]))

describe('the retention service', () => {
  it('applies a shorter setting to audit entries that were written with a longer one', async () => {
    const hub = fixture()
    const old = [
      { at: start, event: 'call' },
      { at: start + 1, event: 'call' },
    ]
    await hub.store.kv.write('audit', { key: newId(), value: old, expiresAt: start + 90 * day })
    hub.now = start + 10 * day
    await hub.store.kv.write('audit', { key: newId(), value: [{ at: hub.now, event: 'call' }] })
    assert.deepEqual(await hub.service.preview(), [])
    hub.settings = { audit: 7 * day }
    const [estimate, ...others] = await hub.service.preview()
    assert.deepEqual(others, [])
    assert.equal(estimate?.kind, 'audit')
    assert.equal(estimate.rows, 2)
    assert.equal(estimate.oldest, start + 1)
    assert.deepEqual(rowsOf(await hub.service.prune()), { audit: 2 })
    assert.deepEqual(await hub.service.preview(), [])
    assert.equal((await hub.store.kv.list('audit', { limit: 10 })).length, 1)
  })

  it('removes traces of ended tasks, and keeps those of running ones', async () => {
    const hub = fixture()
    await addTrace(hub.store, 'a', start + 1)
    await addTrace(hub.store, 'b', undefined)
    hub.now = start + 2 * day
    hub.settings = { traces: day }
    assert.deepEqual(rowsOf(await hub.service.prune()), { traces: 1 })
    const left = await hub.store.kv.list('telemetry/traces', { limit: 10 })
    assert.deepEqual(
      left.map(({ key }) => key),
      ['root/b'],
    )
  })

  it('keeps everything by default, except audit entries of more than 30 days', async () => {
    const hub = fixture()
    await addTrace(hub.store, 'a', start + 1)
    await hub.store.kv.write('audit', { key: newId(), value: [{ at: start, event: 'call' }] })
    hub.now = start + 31 * day
    assert.deepEqual(rowsOf(await hub.service.preview()), { audit: 1 })
  })

  it('turns settings into times', () => {
    assert.deepEqual(retentionAt({ finished: day, max: 5, log: 2 * day, deliveries: 3 * day }, start), {
      finishedBefore: start - day,
      maxTasks: 5,
      logBefore: start - 2 * day,
      deliveriesBefore: start - 3 * day,
    })
    assert.equal(traceRetentionMs({ finished: day, traces: 2 * day }), day)
    assert.equal(traceRetentionMs({ traces: day }), day)
    assert.equal(traceRetentionMs({}), undefined)
  })
})
