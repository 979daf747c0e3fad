import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { mkdtemp, readFile, rename, rm, stat, writeFile, appendFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { memoryStore } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'
import { createAuditLog } from './audit-log.ts'
import { createAuditExport, type AuditExportDeps, type AuditLines, type AuditSink } from './audit-export.ts'
import { auditFileSink } from './audit-file-sink.ts'
import { createAuditReader } from './audit-reader.ts'
import { auditWebhookSink, webhookSignature } from './audit-webhook-sink.ts'

const lease = { acquire: async () => true, isHeld: () => true, release: async () => {} }
const silent = { warn() {}, info() {} }
const never = new AbortController().signal

/** A sink that fails as long as it is told to. */
function memorySink() {
  const written: string[] = []
  const sink: AuditSink & { isFailing: boolean; readonly written: string[] } = {
    name: 'memory',
    isFailing: false,
    written,
    async write({ text }) {
      if (sink.isFailing) throw new Error('no')
      written.push(...text.trim().split('\n'))
    },
    async close() {},
  }
  return sink
}

async function record(kv: KeyValueStore, ...tasks: readonly string[]): Promise<void> {
  const audit = createAuditLog({ kv, retentionMs: 86_400_000, isShared: false })
  for (const task of tasks) audit.record({ at: Date.UTC(2030, 0, 1), event: 'call', task })
  await audit.close()
}

function open(kv: KeyValueStore, sink: AuditSink, more: Partial<AuditExportDeps> = {}) {
  const reader = createAuditReader({ kv, now: Date.now, isShared: false })
  // An hour: rounds run when the export closes.
  return createAuditExport({ kv, reader, sink, lease, now: Date.now, log: silent, intervalMs: 3_600_000, ...more })
}

function tasksOf(lines: readonly string[]): readonly unknown[] {
  return lines.map((line) => (JSON.parse(line) as { task?: unknown }).task)
}

describe('the export of the audit', () => {
  it('writes every entry once, in order, as a line with its id and time, and continues after a restart', async () => {
    const { kv } = memoryStore()
    const sink = memorySink()
    await record(kv, 'a', 'b')
    await open(kv, sink).close()
    await record(kv, 'c')
    await open(kv, sink).close()
    await open(kv, sink).close()
    assert.deepEqual(tasksOf(sink.written), ['a', 'b', 'c'])
    const first = JSON.parse(sink.written[0] ?? '') as { id: string; at: string; event: string }
    assert.match(first.id, /^[0-9a-f-]{36}\.0$/)
    assert.equal(first.at, '2030-01-01T00:00:00.000Z')
    assert.equal(first.event, 'call')
  })

  it('skips nothing while the sink fails, and reports the lag and the reason', async () => {
    const { kv } = memoryStore()
    const sink = memorySink()
    sink.isFailing = true
    await record(kv, 'a')
    const first = open(kv, sink)
    await first.close()
    const { lagMs, failures, trouble } = await first.status()
    assert.ok(lagMs >= 0)
    assert.equal(failures, 1)
    assert.equal(trouble, 'no')
    await record(kv, 'b')
    sink.isFailing = false
    const second = open(kv, sink)
    await second.close()
    assert.deepEqual(tasksOf(sink.written), ['a', 'b'])
    assert.deepEqual(await second.status(), { name: 'memory', lagMs: 0, exported: 2, failures: 0 })
  })

  it('sends entries again if its process ended before the cursor was stored', async () => {
    const { kv } = memoryStore()
    const sink = memorySink()
    await record(kv, 'a')
    const dying: KeyValueStore = { ...kv, write: async () => Promise.reject(new Error('killed')) }
    await open(dying, sink).close()
    await open(kv, sink).close()
    assert.deepEqual(tasksOf(sink.written), ['a', 'a'])
    const ids = new Set(sink.written.map((line) => (JSON.parse(line) as { id: string }).id))
    assert.equal(ids.size, 1)
  })

  it('exports nothing without the lease', async () => {
    const { kv } = memoryStore()
    const sink = memorySink()
    await record(kv, 'a')
    await open(kv, sink, { lease: { ...lease, acquire: async () => false } }).close()
    assert.deepEqual(sink.written, [])
  })
})

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-audit-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const lines = (text: string): AuditLines => ({ text, count: 1, id: 'x' })

describe('a file of the audit', () => {
  it('is private, appended to, and created again after it was moved away', async (t) => {
    const path = join(await temporaryFolder(t), 'audit.jsonl')
    const sink = auditFileSink('file', path)
    t.after(() => sink.close())
    await sink.write(lines('{"id":1}\n'), never)
    await sink.write(lines('{"id":2}\n'), never)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    await rename(path, `${path}.1`)
    await sink.write(lines('{"id":3}\n'), never)
    assert.equal(await readFile(`${path}.1`, 'utf8'), '{"id":1}\n{"id":2}\n')
    assert.equal(await readFile(path, 'utf8'), '{"id":3}\n')
  })

  it('loses the torn line of a killed process, and keeps what others wrote', async (t) => {
    const path = join(await temporaryFolder(t), 'audit.jsonl')
    const append = async (text: string): Promise<void> => {
      const sink = auditFileSink('file', path)
      await sink.write(lines(text), never)
      await sink.close()
    }
    await writeFile(path, '{"id":1}\n{"id":"2.0","at":"20')
    await append('{"id":"2.0"}\n')
    assert.equal(await readFile(path, 'utf8'), '{"id":1}\n{"id":"2.0"}\n')
    await appendFile(path, '# a note')
    await append('{"id":3}\n')
    assert.equal(await readFile(path, 'utf8'), '{"id":1}\n{"id":"2.0"}\n# a note\n{"id":3}\n')
  })
})

describe('a webhook of the audit', () => {
  it('gets a signed POST of JSON lines, and is not done before it has accepted them', async (t) => {
    const seen: { headers: NodeJS.Dict<string | string[]>; body: string }[] = []
    let status = 503
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        seen.push({ headers: request.headers, body })
        response.writeHead(status).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/audit`
    const settings = { name: 'webhook', url, headers: { 'x-tenant': 'ours' }, secret: 'whsec_c2VjcmV0' }
    const sink = auditWebhookSink(settings, { fetch, now: () => 1_000_000 })
    const text = '{"id":"k.0"}\n'
    await assert.rejects(sink.write({ text, count: 1, id: 'k.0' }, never), /returned 503/)
    status = 204
    await sink.write({ text, count: 1, id: 'k.0' }, never)
    const { headers, body } = seen[1] ?? { headers: {}, body: '' }
    assert.equal(body, text)
    assert.equal(headers['content-type'], 'application/x-ndjson')
    assert.equal(headers['x-tenant'], 'ours')
    assert.equal(headers['webhook-id'], 'k.0')
    assert.equal(headers['webhook-timestamp'], '1000')
    assert.equal(headers['webhook-signature'], webhookSignature('secret', 'k.0', '1000', text))
  })
})
