import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { createMcpConnection } from '../../packages/hub/src/agents/mcp/connection.ts'
import type { McpCallOptions, McpConnection } from '../../packages/hub/src/agents/mcp/connection.ts'
import type { McpServer } from '../../packages/hub/src/agents/mcp/server.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { startEverythingServer, everythingCommand } from './mcp-everything.ts'

const { programEnv } = testAgentServices()
const { signal } = new AbortController()
const options: McpCallOptions = { signal, timeoutMs: 20_000 }

function connectTo(t: TestContext, server: McpServer, connectTimeoutMs = 20_000): McpConnection {
  const { fetch, log } = testAgentServices()
  const connection = createMcpConnection(server, { fetch, log, connectTimeoutMs })
  t.after(() => connection.close())
  return connection
}

/** A program written in this file. */
function program(...lines: readonly string[]): McpServer {
  return { command: [process.execPath, '-e', lines.join('\n')], cwd: import.meta.dirname, env: programEnv }
}

const places: [string, (t: TestContext) => Promise<McpServer>][] = [
  ['a program [full]', async () => ({ command: everythingCommand, cwd: import.meta.dirname, env: programEnv })],
  ['an address', async (t) => ({ url: (await startEverythingServer(t)).url, headers: {} })],
]

for (const [where, open] of places)
  describe(`an MCP server behind ${where}`, () => {
    it('lists its tools, reports its name, and runs calls', async (t) => {
      const connection = connectTo(t, await open(t))
      assert.equal((await connection.serverInfo(signal)).name, 'mcp-servers/everything')
      const names = (await connection.tools(signal)).map(({ name }) => name)
      assert.ok(names.includes('echo') && names.includes('get-sum'))
      const { content } = await connection.call('get-sum', { a: 2, b: 3 }, options)
      assert.match(JSON.stringify(content), /is 5/)
      const failed = await connection.call('get-sum', { a: 'x' }, options)
      assert.equal(failed.isError, true)
    })

    it('reports progress', async (t) => {
      const connection = connectTo(t, await open(t))
      const steps: number[] = []
      const onProgress = ({ progress }: { progress: number }): void => void steps.push(progress)
      await connection.call('trigger-long-running-operation', { duration: 0.3, steps: 3 }, { ...options, onProgress })
      assert.deepEqual(steps, [1, 2, 3])
    })

    it('asks the caller, whose answer time does not count', async (t) => {
      const connection = connectTo(t, await open(t))
      await connection.serverInfo(signal)
      // Only the time of the caller passes.
      t.mock.timers.enable({ apis: ['setTimeout'] })
      const asked: string[] = []
      const { content } = await connection.call(
        'trigger-elicitation-request',
        {},
        {
          signal,
          timeoutMs: 300,
          async onElicit({ message }) {
            asked.push(message)
            t.mock.timers.tick(600)
            return { action: 'accept', content: { name: 'Ann', check: true } }
          },
        },
      )
      assert.equal(asked.length, 1)
      t.mock.timers.reset()
      assert.match(JSON.stringify(content), /Ann/)
      const canceled = await connection.call('trigger-elicitation-request', {}, options)
      assert.match(JSON.stringify(canceled.content), /cancel/)
    })

    it('is not waited for after its timeout or after the caller has left', async (t) => {
      const connection = connectTo(t, await open(t))
      const long = ['trigger-long-running-operation', { duration: 20, steps: 2 }] as const
      await assert.rejects(connection.call(...long, { signal, timeoutMs: 100 }), { code: 'TIMEOUT' })
      const leaving = new AbortController()
      const calling = connection.call(...long, { ...options, signal: leaving.signal })
      leaving.abort(new Error('gone'))
      await assert.rejects(calling, /gone/)
      assert.match(JSON.stringify(await connection.call('echo', { message: 'still here' }, options)), /still here/)
    })
  })

describe('an MCP server that stops', () => {
  it('and returns at the same address is connected to again', async (t) => {
    const first = await startEverythingServer(t)
    const connection = connectTo(t, { url: first.url, headers: {} })
    await connection.call('echo', { message: 'one' }, options)
    await first.stop()
    await assert.rejects(connection.call('echo', { message: 'two' }, options))
    await startEverythingServer(t, first.port)
    assert.match(JSON.stringify(await connection.call('echo', { message: 'three' }, options)), /three/)
  })

  it('fails the call as a program, and is restarted for the next', async (t) => {
    const connection = connectTo(t, fickle())
    const pid = async () =>
      JSON.parse(JSON.stringify(await connection.call('pid', {}, options))).content[0].text as string
    const first = await pid()
    await assert.rejects(connection.call('die', {}, options))
    assert.notEqual(await pid(), first)
  })

  it('is ended with all its child processes', async (t) => {
    const connection = connectTo(t, fickle())
    const started = await connection.call('child', {}, options)
    const child = Number(JSON.parse(JSON.stringify(started)).content[0].text)
    assert.ok(isAlive(child))
    await connection.close()
    await eventually(() => !isAlive(child))
    await assert.rejects(connection.call('pid', {}, options), { code: 'AGENT_UNAVAILABLE' })
  })
})

describe('a misbehaving MCP server', () => {
  it('that does not exist fails the call with a short message', async (t) => {
    const { env, cwd } = fickle() as Extract<McpServer, { command: unknown }>
    const servers: McpServer[] = [
      { command: ['/nowhere/server'], cwd, env },
      program('process.exit(3)'),
      { url: 'http://127.0.0.1:9/mcp', headers: {} },
    ]
    for (const server of servers) {
      const connection = connectTo(t, server)
      await assert.rejects(connection.tools(signal), {
        code: 'AGENT_UNAVAILABLE',
        message: 'A tool server is unavailable now',
      })
    }
  })

  it('that sends nothing times out, and closes at once while the connection opens', async (t) => {
    const silent = program('setInterval(() => {}, 1000); process.stdin.resume()')
    await assert.rejects(connectTo(t, silent, 200).tools(signal), { code: 'AGENT_UNAVAILABLE' })
    const connection = connectTo(t, silent)
    const waiting = connection.tools(signal)
    await connection.close()
    await assert.rejects(waiting)
  })

  it('that prints other lines between its messages is understood', async (t) => {
    const connection = connectTo(t, fickle('console.log("Starting up!"); console.log("{\\"half\\":")'))
    assert.equal((await connection.tools(signal)).length, 3)
  })

  it('that exits on the version request is asked with the older handshake', async (t) => {
    const connection = connectTo(t, fickle('strict = true'))
    assert.equal((await connection.tools(signal)).length, 3)
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A hand-written server of the older protocol: reports its process id, starts a child, exits. */
function fickle(before = ''): McpServer {
  return program(
    `let strict = false`,
    before,
    `const tools = ['pid', 'child', 'die'].map((name) => ({ name, inputSchema: { type: 'object' } }))`,
    `function answer({ method, params }) {`,
    `  if (method === 'initialize') return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'f', version: '1' } }`,
    `  if (method === 'tools/list') return { tools }`,
    `  if (method !== 'tools/call') { if (strict) process.exit(1); return undefined }`,
    `  if (params.name === 'die') process.exit(1)`,
    `  const child = params.name === 'child' && require('node:child_process').spawn('sleep', ['600'], { stdio: 'ignore' })`,
    `  return { content: [{ type: 'text', text: String(child ? child.pid : process.pid) }] }`,
    `}`,
    `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {`,
    `  const request = JSON.parse(line)`,
    `  if (request.id === undefined) return`,
    `  const result = answer(request)`,
    `  const reply = result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result }`,
    `  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...reply }) + '\\n')`,
    `})`,
  )
}
