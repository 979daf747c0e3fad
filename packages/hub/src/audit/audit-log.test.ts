import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryKeyValueStore, type KeyValueStore } from '@parley/a2a/stores'
import { type AuditEntry, createAuditLog } from './audit-log.ts'

const day = 86_400_000

function open(over: Partial<KeyValueStore> = {}, retentionMs = 30 * day) {
  let now = Date.UTC(2030, 0, 1)
  const failures: unknown[] = []
  const kv = { ...memoryKeyValueStore(() => now), ...over }
  let writes = 0
  let keys = 0
  /** With the time of the test. */
  function newKey(): string {
    const hex = now.toString(16).padStart(12, '0')
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String((keys += 1)).padStart(12, '0')}`
  }
  const counted: KeyValueStore = {
    ...kv,
    writeAll: (kind, all) => {
      writes += 1
      return kv.writeAll(kind, all)
    },
  }
  const audit = createAuditLog({
    kv: counted,
    now: () => now,
    newKey,
    retentionMs,
    onError: (cause) => void failures.push(cause),
  })
  const call = (operation: string, more: Partial<AuditEntry> = {}): void =>
    audit.record({ at: now, event: 'call', operation, outcome: 'OK', ...more })
  return { audit, call, kv, failures, writes: () => writes, pass: (ms: number) => (now += ms) }
}

const names = (entries: readonly AuditEntry[]): readonly (string | undefined)[] =>
  entries.map(({ operation }) => operation)

describe('the audit', () => {
  it('is read newest first, in pages, each entry once [B-170 T-12]', async () => {
    const { audit, call } = open()
    const expected: string[] = []
    for (let count = 0; count < 1_203; count++) {
      call(`op ${count}`)
      expected.unshift(`op ${count}`)
      if (count % 7 === 0) await audit.flush()
    }
    const seen: (string | undefined)[] = []
    for (let before: string | undefined, more = true; more; more = before !== undefined) {
      const page = await audit.list({ limit: 50, before })
      seen.push(...names(page.entries))
      before = page.before
    }
    assert.deepEqual(seen, expected)
  })

  it('is written in batches: a thousand requests are a few writes, and none of them waits', async () => {
    const { audit, call, writes, kv } = open()
    for (let count = 0; count < 1_000; count++) call('GetTask')
    await audit.flush()
    assert.ok(writes() <= 4, `${writes()} writes`)
    assert.ok((await kv.list('audit', { limit: 100 })).length <= 4)
    assert.equal((await audit.list({ limit: 2_000 })).entries.length, 1_000)
  })

  it('has what concerns security at once, with all that came before it', async () => {
    const { audit, call, kv } = open()
    const kept = async (): Promise<number> => {
      const found = await kv.list('audit', { limit: 100 })
      return found.flatMap(({ value }) => value as unknown[]).length
    }
    call('GetTask')
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(await kept(), 0)
    call('SendMessage', { outcome: 'UNAUTHENTICATED' })
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(await kept(), 2)
    for (const event of ['key.created', 'key.revoked'] as const) audit.record({ at: 0, event })
    call('SendMessage', { outcome: 'PERMISSION_DENIED' })
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(await kept(), 5)
  })

  it('makes one write of many refusals that come together', async () => {
    const { audit, call, writes } = open()
    for (let count = 0; count < 400; count++) call('SendMessage', { outcome: 'UNAUTHENTICATED' })
    await audit.flush()
    assert.ok(writes() <= 3, `${writes()} writes`)
  })

  it('keeps what could not be written and writes it later, and says how much was too much', async () => {
    let isDown = true
    const real = memoryKeyValueStore()
    const { audit, call, failures } = open({
      writeAll: (kind, all) => (isDown ? Promise.reject(new Error('down')) : real.writeAll(kind, all)),
      list: real.list,
      read: real.read,
    })
    call('first')
    await audit.flush()
    assert.equal(failures.length, 1)
    isDown = false
    assert.deepEqual(names((await audit.list({ limit: 10 })).entries), ['first'])
    isDown = true
    for (let count = 0; count < 23_000; count++) call(`op ${count}`)
    await audit.flush()
    isDown = false
    await audit.flush()
    const { entries } = await audit.list({ limit: 30_000 })
    const lost = entries.filter(({ event }) => event === 'audit.lost').reduce((sum, { count = 0 }) => sum + count, 0)
    assert.ok(lost > 0)
    assert.equal(entries.filter(({ operation }) => operation?.startsWith('op ')).length + lost, 23_000)
    assert.equal(entries.find(({ operation }) => operation !== undefined)?.operation, 'op 22999', 'the newest was lost')
    await audit.close()
  })

  it('forgets what is older than the retention', async () => {
    const { audit, call, pass } = open({}, 2 * day)
    call('old')
    await audit.flush()
    pass(day)
    call('new')
    await audit.flush()
    pass(day)
    assert.deepEqual(names((await audit.list({ limit: 10 })).entries), ['new'])
  })

  it('looks no further back than it is asked to', async () => {
    let looks = 0
    const real = memoryKeyValueStore()
    const { audit, call, pass } = open({ ...real, list: (...asked) => ((looks += 1), real.list(...asked)) })
    for (let count = 0; count < 100; count++) {
      call(`op ${count}`)
      await audit.flush()
      pass(1_000)
    }
    const since = Date.UTC(2030, 0, 1) + 97_000
    assert.deepEqual(names((await audit.list({ limit: 10, since })).entries), ['op 99', 'op 98', 'op 97'])
    assert.equal(looks, 1)
  })

  it('lists everything since a time though a batch was written long after its entries', async () => {
    const { audit, call, pass } = open()
    const start = Date.UTC(2030, 0, 1)
    pass(60_000)
    call('recent')
    await audit.flush()
    // Of a replica that could not write for a minute.
    call('buffered', { at: start })
    await audit.flush()
    assert.deepEqual(names((await audit.list({ limit: 10, since: start + 30_000 })).entries), ['recent'])
  })

  it('finds each entry again by its id', async () => {
    const { audit, call } = open()
    for (let count = 0; count < 9; count++) {
      call(`op ${count}`)
      if (count % 4 === 0) await audit.flush()
    }
    const { entries } = await audit.list({ limit: 20 })
    for (const entry of entries) {
      const [batchKey, index] = entry.id.split('.')
      const page = await audit.list({ limit: 1, before: `${batchKey}.${Number(index) + 1}` })
      assert.deepEqual(page.entries, [entry])
    }
  })

  it('shows what is asked for, and goes on where the page before ended though nothing matched', async () => {
    const { audit, call } = open()
    call('needle')
    await audit.flush()
    for (let count = 0; count < 450; count++) {
      call('hay')
      await audit.flush()
    }
    const matches = ({ operation }: AuditEntry): boolean => operation === 'needle'
    const seen: (string | undefined)[] = []
    let pages = 0
    for (let before: string | undefined, more = true; more; more = before !== undefined) {
      const page = await audit.list({ limit: 10, before, matches })
      seen.push(...names(page.entries))
      before = page.before
      pages += 1
    }
    assert.deepEqual(seen, ['needle'])
    assert.ok(pages > 1, 'one request looked at everything')
    assert.deepEqual((await audit.list({ limit: 1, before: 'nonsense' })).entries.length, 1)
  })
})
