/** Waiting for a task: streams that break, agents without streams, time limits, Ctrl-C. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { runA2a } from '../run.ts'
import { serveDemoAgent } from '../testing/demo-agent.ts'
import { createMemoryTerminal, runInMemory } from '../testing/memory-terminal.ts'

const server = await serveDemoAgent()
const withoutStreams = await serveDemoAgent({ streaming: false })

interface JsonTask {
  readonly id: string
  readonly status: { readonly state: string }
}
const taskOf = (text: string) => (JSON.parse(text) as { readonly task: JsonTask }).task
const errorOf = (text: string) =>
  (JSON.parse(text) as { readonly error: { code: string; message: string; hint: string } }).error
const start = async (url: string, text: string): Promise<string> =>
  taskOf((await runInMemory(['send', text, '-a', url, '-o', 'json', '--async'])).stdout).id

/** Forwards to the agent under its own address, and cuts responses as `cut` says: after how many events of a stream. */
async function cuttingProxy(target: string, cut: (body: string) => number | undefined) {
  const operations: string[] = []
  const proxy = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      operations.push(/"method":"(\w+)"/.exec(body)?.[1] ?? incoming.method ?? '')
      let left = cut(body)
      const { host: _, ...headers } = incoming.headers
      const forwarded = httpRequest(
        new URL(incoming.url ?? '/', target),
        { method: incoming.method, headers },
        (answer) => {
          if (left === 0) return void outgoing.destroy()
          delete answer.headers['content-length']
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.on('data', (chunk: Buffer) => {
            if (left === 0) return
            const text = chunk.toString().replaceAll(target, own)
            for (const event of text.split(/(?<=\n\n)/)) {
              const isLast = left !== undefined && event.includes('data:') && --left === 0
              outgoing.write(event, () => void (isLast && outgoing.destroy()))
              if (isLast) return
            }
          })
          answer.on('end', () => outgoing.end())
          answer.on('error', () => outgoing.destroy())
          outgoing.on('close', () => answer.destroy())
        },
      )
      forwarded.on('error', () => outgoing.destroy())
      forwarded.end(body)
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const own = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  after(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  return { url: own, operations }
}

describe('a stream that breaks', () => {
  it('is resumed, and every event is printed once', async () => {
    let cuts = 0
    const proxy = await cuttingProxy(server.url, (body) =>
      body.includes('"SendStreamingMessage"') && cuts++ === 0 ? 2 : undefined,
    )
    const terminal = createMemoryTerminal()
    const running = runA2a(['send', 'hold cut', '-a', proxy.url, '-o', 'json', '--stream'], terminal)
    await terminal.untilError('resuming')
    server.gates.open('cut')
    assert.equal(await running, 0, terminal.stdout + terminal.stderr)
    const lines = terminal.stdout.trimEnd().split('\n')
    assert.match(lines.at(-1) ?? '', /TASK_STATE_COMPLETED/)
    assert.equal(terminal.stdout.match(/"before "/g)?.length, 1)
    assert.equal(terminal.stdout.match(/"after"/g)?.length, 1)
    assert.ok(proxy.operations.includes('SubscribeToTask'))
    assert.equal(proxy.operations.filter((operation) => operation === 'SendStreamingMessage').length, 1)
  })

  it('is followed by a request for the task, which has what the stream may have lost', async () => {
    let cuts = 0
    const proxy = await cuttingProxy(server.url, (body) =>
      body.includes('"SendStreamingMessage"') && cuts++ === 0 ? 2 : undefined,
    )
    const terminal = createMemoryTerminal()
    const running = runA2a(['send', 'hold lost', '-a', proxy.url, '-o', 'json'], terminal)
    await terminal.untilError('resuming')
    server.gates.open('lost')
    assert.equal(await running, 0, terminal.stdout + terminal.stderr)
    assert.match(terminal.stdout, /"before after"/)
    assert.equal(proxy.operations.filter((operation) => operation === 'GetTask').length, 1)
  })

  it('is polled if it cannot be resumed, and the last line is the task', async (t) => {
    // The delays of the attempts are random up to a limit: none.
    t.mock.method(Math, 'random', () => 0)
    const proxy = await cuttingProxy(server.url, (body) =>
      body.includes('"SubscribeToTask"') ? 0 : body.includes('"SendStreamingMessage"') ? 1 : undefined,
    )
    const terminal = createMemoryTerminal()
    // The agent has no other interface here, which would take over.
    const endpoint = ['-e', `${proxy.url}/a2a`, '--transport', 'jsonrpc']
    const options = ['-o', 'json', '--stream', '--poll-interval', '10ms']
    const running = runA2a(['send', 'hold poll', ...endpoint, ...options], terminal)
    await server.gates.reached('poll')
    server.gates.open('poll')
    assert.equal(await running, 0, terminal.stdout + terminal.stderr)
    const last = terminal.stdout.trimEnd().split('\n').at(-1) ?? ''
    assert.equal(taskOf(last).status.state, 'TASK_STATE_COMPLETED')
    assert.ok(proxy.operations.includes('GetTask'))
  })

  it('of task subscribe is resumed, without a request for the task', async () => {
    let cuts = 0
    const proxy = await cuttingProxy(server.url, (body) =>
      body.includes('"SubscribeToTask"') && cuts++ === 0 ? 1 : undefined,
    )
    const id = await start(server.url, 'hold again')
    const terminal = createMemoryTerminal()
    const running = runA2a(['task', 'subscribe', id, '-a', proxy.url, '-o', 'json', '--stream'], terminal)
    await terminal.untilError('resuming')
    server.gates.open('again')
    assert.equal(await running, 0, terminal.stdout + terminal.stderr)
    assert.match(terminal.stdout, /^\{"task":/)
    assert.equal(terminal.stdout.match(/"after"/g)?.length, 1)
    assert.equal(proxy.operations.includes('GetTask'), false)
  })
})

describe('an agent without streams', () => {
  it('is polled by send, as a document and as lines', async () => {
    for (const stream of [[], ['--stream']]) {
      const terminal = createMemoryTerminal()
      const options = ['-a', withoutStreams.url, '-o', 'json', '--poll-interval', '10ms', ...stream]
      const gate = `silent${stream.length}`
      const running = runA2a(['send', `hold ${gate}`, ...options], terminal)
      await (stream.length === 0 ? terminal.untilError('Waiting for task ') : terminal.untilOutput('"id":'))
      withoutStreams.gates.open(gate)
      assert.equal(await running, 0, terminal.stdout + terminal.stderr)
      const final = stream.length === 0 ? terminal.stdout : (terminal.stdout.trimEnd().split('\n').at(-1) ?? '')
      assert.equal(taskOf(final).status.state, 'TASK_STATE_COMPLETED')
    }
  })

  it('cannot be subscribed to', async () => {
    const id = await start(withoutStreams.url, 'x')
    const { code, stdout } = await runInMemory(['task', 'subscribe', id, '-a', withoutStreams.url, '-o', 'json'])
    assert.deepEqual([code, errorOf(stdout).code], [1, 'UnsupportedOperationError'])
    assert.match(errorOf(stdout).hint, /task get/)
  })

  it('is polled by task get --wait until the task has ended', async () => {
    const id = await start(withoutStreams.url, 'hold get')
    const terminal = createMemoryTerminal()
    const options = ['-a', withoutStreams.url, '-o', 'json', '--wait', '--poll-interval', '10ms']
    const running = runA2a(['task', 'get', id, ...options], terminal)
    await terminal.untilError('State: TASK_STATE_WORKING')
    withoutStreams.gates.open('get')
    assert.equal(await running, 0)
    assert.equal((JSON.parse(terminal.stdout) as JsonTask).status.state, 'TASK_STATE_COMPLETED')
  })
})

describe('task subscribe', () => {
  it('refuses a task that has ended, with a hint to task get', async () => {
    const id = taskOf((await runInMemory(['send', 'x', '-a', server.url, '-o', 'json'])).stdout).id
    const { code, stdout } = await runInMemory(['task', 'subscribe', id, '-a', server.url, '-o', 'json'])
    assert.deepEqual([code, errorOf(stdout).code], [1, 'UnsupportedOperationError'])
    assert.match(errorOf(stdout).hint, new RegExp(`a2a task get -a ${server.url} ${id}`))
    const unknown = await runInMemory(['task', 'subscribe', 'no-such-task', '-a', server.url, '-o', 'json'])
    assert.deepEqual([unknown.code, errorOf(unknown.stdout).code], [1, 'TaskNotFoundError'])
  })

  it('prints only the final task without --stream, and stops where the task needs input', async () => {
    const id = await start(server.url, 'hold sub')
    const terminal = createMemoryTerminal()
    const running = runA2a(['task', 'subscribe', id, '-a', server.url, '-o', 'json'], terminal)
    await terminal.untilError('Waiting for task ')
    server.gates.open('sub')
    assert.equal(await running, 0)
    assert.equal((JSON.parse(terminal.stdout) as JsonTask).status.state, 'TASK_STATE_COMPLETED')
    const asked = taskOf((await runInMemory(['send', 'input', '-a', server.url, '-o', 'json'])).stdout).id
    const { code, stdout } = await runInMemory(['task', 'subscribe', asked, '-a', server.url])
    assert.equal(code, 0)
    assert.match(stdout, /Resume: a2a send .* --task-id/)
  })
})

describe('a time limit', () => {
  it('ends the wait with the id of the task and the command that resumes', async (t) => {
    const timeoutMs = 43_210
    const { setTimeout: realSetTimeout } = globalThis
    let endTime: (() => void) | undefined
    t.mock.method(globalThis, 'setTimeout', (run: () => void, ms?: number, ...rest: []) => {
      if (ms === timeoutMs) endTime ??= run
      return realSetTimeout(run, ms, ...rest)
    })
    const terminal = createMemoryTerminal()
    const options = ['-a', server.url, '-o', 'json', '--timeout', `${timeoutMs}ms`]
    const running = runA2a(['send', 'hold never', ...options], terminal)
    await terminal.untilError('Waiting for task ')
    endTime?.()
    const code = await running
    const { stdout } = terminal
    const { code: name, message, hint } = errorOf(stdout)
    assert.deepEqual([code, name], [5, 'A2ACLI_ERR_TIMEOUT'])
    const [, id = ''] = /Task ([0-9a-f-]{36})/.exec(message) ?? []
    assert.equal(hint, `Resume: a2a task get -a ${server.url} ${id} --wait`)
    const task = await runInMemory(['task', 'get', id, '-a', server.url])
    assert.match(task.stdout, /State: TASK_STATE_WORKING/)
  })
})

describe('Ctrl-C', () => {
  it('detaches once: the task continues, and the command that resumes is printed', async () => {
    const terminal = createMemoryTerminal()
    const running = runA2a(['send', 'hold detached', '-a', server.url, '-o', 'json'], terminal)
    await terminal.untilError('Waiting for task ')
    terminal.interrupt()
    assert.equal(await running, 130)
    assert.equal(terminal.stdout, '')
    const [, resume = ''] = /Resume: a2a (.*)/.exec(terminal.stderr) ?? []
    server.gates.open('detached')
    // Whether or not the task has ended before.
    for (const _ of [1, 2]) {
      const resumed = await runInMemory([...resume.split(' '), '--poll-interval', '10ms'])
      assert.deepEqual([resumed.code, /State: TASK_STATE_COMPLETED/.test(resumed.stdout)], [0, true], resumed.stderr)
    }
  })

  it('cancels the task if it comes twice', async () => {
    const terminal = createMemoryTerminal()
    const running = runA2a(['send', 'hold canceled', '-a', server.url, '--stream'], terminal)
    await terminal.untilOutput('Task ID: ')
    terminal.interrupt()
    await terminal.untilError('Ctrl-C again')
    terminal.interrupt()
    assert.equal(await running, 130)
    const [, id = ''] = /Canceled task (\S+): TASK_STATE_CANCELED/.exec(terminal.stderr) ?? []
    const task = await runInMemory(['task', 'get', id, '-a', server.url])
    assert.match(task.stdout, /State: TASK_STATE_CANCELED/)
  })

  it('ends a poll of task get --wait too', async () => {
    const id = await start(withoutStreams.url, 'hold forever')
    const terminal = createMemoryTerminal()
    const running = runA2a(['task', 'get', id, '-a', withoutStreams.url, '--wait', '--poll-interval', '1h'], terminal)
    await terminal.untilError('State: ')
    terminal.interrupt()
    assert.equal(await running, 130)
    assert.match(terminal.stderr, new RegExp(`Resume: a2a task get -a \\S+ ${id} --wait`))
  })
})
