/**
 * How long responses with a large task hold the event loop: `npx node --conditions=parley-source
 * bench/large-answers.ts`. The task has 18 MB; figures are the CPU time of the main thread between two turns of its loop.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'

const dir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
const large = 'x'.repeat(18_000_000)
const keys = Object.fromEntries(Array.from({ length: 99_000 }, (_, index) => [`${'k'.repeat(170)}${index}`, 1]))
const server = await serve({
  port: 0,
  grpcPort: 0,
  quiet: true,
  store: sqliteStore(join(dir, 'tasks.db')),
  async *agent({ text }) {
    yield text === 'text' ? { text: large } : { data: keys }
  },
})

let longestMs = 0
let before = cpuMs()
let isDone = false
setImmediate(watch)

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

function watch(): void {
  const now = cpuMs()
  longestMs = Math.max(longestMs, now - before)
  before = now
  if (!isDone) setImmediate(watch)
}

/** The client runs in a separate thread, so that its work does not count. */
const client = new Worker(
  `const { parentPort, workerData } = require('node:worker_threads')
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
  parentPort.on('message', async ({ method, params, count, isGrpc }) => {
    const answers = await Promise.all(Array.from({ length: count }, async () => {
      if (isGrpc) return overGrpc(method, params)
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const response = await fetch(workerData.url, { method: 'POST', headers, body })
      const text = await response.text()
      return { status: response.status, bytes: text.length, id: /"id":"([0-9a-f-]{36})"/.exec(text)?.[1] }
    }))
    parentPort.postMessage(answers)
  })
  async function overGrpc(method, params) {
    const grpc = require('@grpc/grpc-js')
    // GetTaskRequest: the id is field 2 of the first version's message, and field 3 of a subscription's.
    const id = Buffer.from(params.id)
    const field = { GetTask: 0x12 }[method]
    const message = Buffer.concat([Buffer.from([field, id.length]), id])
    const stub = new grpc.Client(workerData.grpc, grpc.credentials.createInsecure(), { 'grpc.max_receive_message_length': -1 })
    const bytes = (given) => given
    return new Promise((resolve) => stub.makeUnaryRequest('/lf.a2a.v1.A2AService/' + method, bytes, bytes, message, (error, answer) => {
      stub.close()
      resolve({ status: error ? error.code + ' ' + error.details : 0, bytes: answer?.length })
    }))
  }`,
  { eval: true, workerData: { url: server.url, grpc: `127.0.0.1:${server.grpcPort}` } },
)

interface Answer {
  readonly status: number | string
  readonly bytes: number
  readonly id?: string
}

async function measure(
  name: string,
  method: string,
  params: object,
  count = 1,
  isGrpc = false,
): Promise<Answer | undefined> {
  await new Promise((resolve) => setTimeout(resolve, 100))
  longestMs = 0
  const answered = new Promise<readonly Answer[]>((resolve) => client.once('message', resolve))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  client.postMessage({ method, params, count, isGrpc })
  const [first] = await answered
  await new Promise((resolve) => setTimeout(resolve, 200))
  console.log(`${name.padEnd(34)} ${first?.status}  ${first?.bytes} bytes  ${longestMs.toFixed(0)} ms`)
  return first
}

for (const what of ['text', 'data']) {
  const message = () => ({ message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: what }] } })
  const sent = await measure(`${what}: an agent reports it`, 'SendMessage', message())
  await measure(`${what}: streamed as it is reported`, 'SendStreamingMessage', message())
  const id = sent?.id ?? ''
  for (let time = 0; time < 2; time++) await measure(`${what}: GetTask`, 'GetTask', { id })
  await measure(`${what}: four GetTask at once`, 'GetTask', { id }, 4)
  await measure(`${what}: ListTasks with artifacts`, 'ListTasks', { includeArtifacts: true, pageSize: 2 })
  await measure(`${what}: GetTask over gRPC`, 'GetTask', { id }, 1, true)
}

isDone = true
await client.terminate()
await server.close()
rmSync(dir, { recursive: true })
