/**
 * Guards against: readers that do not read. A task of 15 MB with 150 subscribers that read nothing took 5 GB, and any process
 * with a heap of 1 GB crashed: each subscriber held its own copy of the log and of its frames.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'

const isFull = process.env['PARLEY_FULL'] === '1'
/** Of V8's heap. 150 copies of 15 MB would take 2.2 GB. */
const heapMb = 320

interface ServerReport {
  readonly rss: number
  readonly answered: number
  readonly streams: number
  readonly unsentBytes: number
  readonly paused: number
  readonly pagesRead: number
  readonly pagesShared: number
}

interface Place {
  readonly url: string
  readonly port: number
  readonly grpcPort: number
}

interface Attacked extends Place {
  readonly taskId: string
  report(): ServerReport
  /** The peak growth of the process in bytes since the task was created. */
  grownBytes(): number
  isAlive(): boolean
}

/** A server with one task of so many events; open until the test ends, or finished. */
async function attacked(
  t: TestContext,
  events: number,
  eventBytes: number,
  end: 'open' | 'end',
  heap = heapMb,
): Promise<Attacked> {
  const child: ChildProcess = fork(
    join(import.meta.dirname, 'silent-readers-server.ts'),
    [`${events}`, `${eventBytes}`, end],
    {
      execArgv: ['--conditions=parley-source', `--max-old-space-size=${heap}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    },
  )
  t.after(() => child.kill('SIGKILL'))
  const [place] = (await once(child, 'message')) as [Place]
  let last: ServerReport | undefined
  let base = 0
  let peak = 0
  child.on('message', (report: ServerReport) => {
    last = report
    peak = Math.max(peak, report.rss)
  })
  const message = { messageId: 'first', role: 'ROLE_USER', parts: [{ text: 'go' }] }
  const { task } = await rpc(place.url, 'SendMessage', { message, configuration: { returnImmediately: true } })
  await eventually(async () => {
    const { artifacts = [] } = await rpc(place.url, 'GetTask', { id: task.id })
    return artifacts.at(-1)?.artifactId === 'done'
  }, 'the task to be as large as it will be')
  await eventually(() => last !== undefined, 'a report of the memory')
  base = (last as unknown as ServerReport).rss
  peak = base
  return {
    ...place,
    taskId: task.id,
    report: () => last as ServerReport,
    grownBytes: () => peak - base,
    isAlive: () => child.exitCode === null && child.signalCode === null,
  }
}

async function rpc(url: string, method: string, params: unknown): Promise<any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const answer = (await response.json()) as { result?: unknown; error?: unknown }
  assert.equal(answer.error, undefined)
  return answer.result
}

async function ping({ url }: Place): Promise<void> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'ping' }] }
  const { task } = await rpc(url, 'SendMessage', { message })
  assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
}

/** Sends a request and never reads a byte of the answer. */
async function silent(t: TestContext, port: number, path: string, headers = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nA2A-Version: 1.0\r\n${headers}\r\n`)
  return socket
}

describe('readers that read nothing', () => {
  it('of a long log share their pages', async (t) => {
    const server = await attacked(t, 1_000, 15_000, 'end')
    const readers = 150
    for (let count = 0; count < readers; count += 1) {
      await silent(t, server.port, `/tasks/${server.taskId}:subscribe`, 'Last-Event-ID: 0\r\n')
    }
    await eventually(() => !server.isAlive() || server.report().streams === readers, 'all to be served')
    assert.ok(server.isAlive(), 'the process died')
    for (let count = 0; count < 5; count += 1) await ping(server)
    const { pagesRead, pagesShared, unsentBytes } = server.report()
    assert.ok(pagesShared > pagesRead, `${pagesRead} pages were read, ${pagesShared} shared`)
    assert.ok(unsentBytes <= 80_000_000, `${unsentBytes} bytes are held`)
    assert.ok(server.grownBytes() < 600_000_000, `grew by ${server.grownBytes()} bytes`)
  })

  it('of the log of one large event share it', async (t) => {
    const server = await attacked(t, 1, 8_000_000, 'end')
    const readers = 100
    for (let count = 0; count < readers; count += 1) {
      await silent(t, server.port, `/tasks/${server.taskId}:subscribe`, 'Last-Event-ID: 0\r\n')
    }
    await eventually(() => !server.isAlive() || server.report().streams === readers, 'all to be served')
    assert.ok(server.isAlive(), 'the process died')
    for (let count = 0; count < 5; count += 1) await ping(server)
    assert.ok(server.report().unsentBytes < 40_000_000, `${server.report().unsentBytes} bytes are held`)
    assert.ok(server.grownBytes() < 400_000_000, `grew by ${server.grownBytes()} bytes`)
  })

  it('of a large task share one snapshot', async (t) => {
    const server = await attacked(t, 72, 250_000, 'open')
    const readers = isFull ? 1_000 : 150
    for (let count = 0; count < readers; count += 1) {
      await silent(t, server.port, `/tasks/${server.taskId}:subscribe`)
    }
    await eventually(() => !server.isAlive() || server.report().streams === readers, 'all to be served')
    assert.ok(server.isAlive(), 'the process died')
    for (let count = 0; count < 5; count += 1) await ping(server)
    // One snapshot of 18 MB, counted once, and a small amount per reader.
    assert.ok(server.report().unsentBytes < 40_000_000, `${server.report().unsentBytes} bytes are held`)
    assert.ok(server.grownBytes() < 400_000_000, `grew by ${server.grownBytes()} bytes`)
  })

  it('of single responses share one body', async (t) => {
    const server = await attacked(t, 72, 250_000, 'end')
    const readers = 150
    const before = server.report().answered
    for (let count = 0; count < readers; count += 1) await silent(t, server.port, `/tasks/${server.taskId}`)
    await eventually(() => !server.isAlive() || server.report().answered >= before + readers, 'all to be answered')
    assert.ok(server.isAlive(), 'the process died')
    for (let count = 0; count < 5; count += 1) await ping(server)
    assert.ok(server.report().unsentBytes < 40_000_000, `${server.report().unsentBytes} bytes are held`)
    assert.ok(server.grownBytes() < 400_000_000, `grew by ${server.grownBytes()} bytes`)
  })

  it('over gRPC, which copies for each reader, wait once their caller holds enough', async (t) => {
    const server = await attacked(t, 72, 250_000, 'end', 1_024)
    const session = connectHttp2(`http://127.0.0.1:${server.grpcPort}`)
    t.after(() => session.destroy())
    session.on('error', () => {})
    const readers = 40
    const id = Buffer.from(server.taskId)
    // GetTaskRequest: field 1 of 1.0 is the tenant, field 2 the id.
    const message = Buffer.concat([Buffer.from([0x12, id.length]), id])
    const head = Buffer.alloc(5)
    head.writeUInt32BE(message.length, 1)
    for (let count = 0; count < readers; count += 1) {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/lf.a2a.v1.A2AService/GetTask',
        'content-type': 'application/grpc',
        te: 'trailers',
      })
      stream.on('error', () => {})
      stream.pause()
      stream.end(Buffer.concat([head, message]))
    }
    await eventually(() => !server.isAlive() || server.report().paused > 0, 'some to wait')
    assert.ok(server.isAlive(), 'the process died')
    for (let count = 0; count < 5; count += 1) await ping(server)
    const { unsentBytes, paused } = server.report()
    assert.ok(unsentBytes < 120_000_000, `${unsentBytes} bytes are held`)
    assert.ok(paused > readers / 2, `${paused} wait`)
    assert.ok(server.grownBytes() < 700_000_000, `grew by ${server.grownBytes()} bytes`)
  })
})
