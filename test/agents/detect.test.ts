/** What `parley agent add` finds behind addresses and commands, with a real or a scripted peer for each kind. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { serve } from '@parley/a2a/node'
import { memoryStore } from '@parley/a2a'
import type { Detection, DetectDeps, DetectTarget } from '../../packages/hub/src/agents/detect/detect.ts'
import { createDetect } from '../../packages/hub/src/agents/detect/index.ts'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import { scriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import { createSharedFolder } from './shared-folder.ts'
import { waitForProcessExit } from './process-liveness.ts'
import { selfSigned } from '../../packages/a2a/src/testing/fixtures/self-signed-certificate.ts'
import { freePort } from '../free-port.ts'
import { startEverythingServer, everythingCommand } from './mcp-everything.ts'
import { openFakeGateway } from './openclaw-gateway/gateway.ts'

const acpAgent = join(import.meta.dirname, 'programs/acp-agent.ts')
const times = { httpMs: 4_000, programMs: 15_000, fetchedMs: 15_000 }
const hasty = { httpMs: 700, programMs: 700, fetchedMs: 700 }

interface Asked {
  readonly found: Detection
  readonly said: readonly string[]
}

async function ask(target: DetectTarget, given: Partial<DetectDeps> = {}, within = times): Promise<Asked> {
  const said: string[] = []
  const found = await createDetect(within)(target, {
    fetch: globalThis.fetch,
    signal: AbortSignal.timeout(120_000),
    onProgress() {},
    onRejected: (kind, reason) => void said.push(`${kind}: ${reason}`),
    cwd: import.meta.dirname,
    env: testAgentServices().programEnv,
    ...given,
  })
  if ('kind' in found) assertEntry(found)
  return { found, said }
}

/** Every detected entry is valid for its kind. */
function assertEntry({ kind, entry }: Extract<Detection, { kind: string }>): void {
  const read = agentKinds.find((one) => one.kind === kind)?.schema.safeParse(entry)
  assert.equal(read?.success, true, JSON.stringify([entry, read?.error?.issues]))
}

async function web(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const token = { value: 'sesame', reference: '${env:TOKEN}' }
const reasonsOf = (found: Detection): string => ('reasons' in found ? found.reasons.join('\n') : `it is ${found.kind}`)
const diagnosisOf = (found: Detection): string => ('reasons' in found ? found.diagnosis.title : `it is ${found.kind}`)
const pick = (found: Detection) =>
  'kind' in found ? { kind: found.kind, name: found.name, entry: found.entry } : found.reasons

describe('detection at a URL', () => {
  it('finds an A2A agent by its card', async (t) => {
    const server = await serve({ name: 'Ünlü Greeter!', agent: () => 'hi', port: 0, store: memoryStore() })
    t.after(() => server.close())
    const { found } = await ask([`${server.url}/`])
    assert.deepEqual(pick(found), { kind: 'a2a', name: 'unlu-greeter', entry: { url: server.url.replace(/\/$/, '') } })
    assert.match('kind' in found ? (found.notes?.join() ?? '') : '', /supports A2A 1\.0 over JSONRPC/)
  })

  it('finds an A2A agent of an older version, with its card at an older path', async (t) => {
    const url = await web(t, ({ url: path, headers }, response) => {
      if (path !== '/.well-known/agent.json') return void response.writeHead(404).end()
      const card = {
        name: 'Old',
        description: 'Of before',
        version: '1',
        url: `http://${headers.host}/rpc`,
        capabilities: {},
        defaultInputModes: ['text'],
        defaultOutputModes: ['text'],
        skills: [],
        security: [{ bearer: [] }],
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(card))
    })
    const { found } = await ask([url])
    assert.deepEqual(pick(found), { kind: 'a2a', name: 'old', entry: { url } })
    assert.match(
      'kind' in found ? (found.notes?.join('\n') ?? '') : '',
      /A2A 0\.\d.*\n.*requires credentials \(bearer\)/,
    )
    const known = await ask([url], { token })
    assert.deepEqual(pick(known.found), { kind: 'a2a', name: 'old', entry: { url, auth: { bearer: '${env:TOKEN}' } } })
  })

  it('finds an OpenAI-compatible endpoint, also without a version in the URL, and calls no model', async (t) => {
    const model = await scriptedModel(() => ({ say: 'no' }))
    t.after(() => model.close())
    model.models = ['text-embedding-3', 'acme/chat-1', 'chat-2']
    for (const url of [model.url, model.url.replace('/v1', ''), `${model.url}/chat/completions`]) {
      const { found, said } = await ask([url])
      assert.deepEqual(pick(found), {
        kind: 'openai',
        name: 'chat-1',
        entry: { baseUrl: model.url, model: 'acme/chat-1' },
      })
      assert.match('kind' in found ? (found.notes?.join() ?? '') : '', /text-embedding-3, chat-2/)
      assert.ok(['a2a', 'openclaw', 'mcp'].every((kind) => said.some((line) => line.startsWith(`${kind}: `))))
    }
    assert.equal(model.requests.length, 0)
  })

  it('finds an endpoint that requires a key, reports it, and uses a given key', async (t) => {
    const url = await web(t, ({ url: path, headers }, response) => {
      if (path !== '/v1/models') return void response.writeHead(404).end()
      if (headers.authorization !== 'Bearer sesame') return void response.writeHead(401).end('{"error":{}}')
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'm1' }] }))
    })
    const without = await ask([url])
    assert.match(reasonsOf(without.found), /openai: \/v1\/models requires credentials \(401\)/)
    const { found } = await ask([url], { token })
    const entry = { baseUrl: `${url}/v1`, model: 'm1', apiKey: '${env:TOKEN}' }
    assert.deepEqual(pick(found), { kind: 'openai', name: 'm1', entry })
    assert.ok(!JSON.stringify(found).includes('sesame'))
  })

  it('finds an MCP server at its path or at its host', async (t) => {
    const server = await startEverythingServer(t)
    for (const url of [server.url, server.url.replace('/mcp', '')]) {
      const { found } = await ask([url])
      assert.deepEqual(pick(found), { kind: 'mcp', name: 'everything', entry: { url: server.url } })
      assert.match('kind' in found ? (found.notes?.join() ?? '') : '', /Everything Reference Server has \d+ tools/)
    }
    const { found } = await ask([server.url], { token })
    assert.deepEqual('entry' in found && found.entry, { url: server.url, bearer: '${env:TOKEN}' })
  })

  it('finds an OpenClaw gateway by its challenge', async (t) => {
    const gateway = await openFakeGateway()
    t.after(() => gateway.close())
    for (const url of [gateway.url, gateway.url.replace('ws', 'http')]) {
      const { found } = await ask([url], { token: { value: gateway.token, reference: '${env:CLAW}' } })
      assert.deepEqual(pick(found), {
        kind: 'openclaw',
        name: 'openclaw',
        entry: { url: gateway.url, token: '${env:CLAW}' },
      })
    }
  })

  it('reports another server, none, or one that never responds [full]', async (t) => {
    const page = await web(t, (_, response) => void response.setHeader('content-type', 'text/html').end('<p>hello'))
    const other = await ask([page])
    for (const kind of ['a2a', 'openclaw', 'mcp', 'openai'])
      assert.match(reasonsOf(other.found), new RegExp(`^${kind}: `, 'm'))
    assert.equal(diagnosisOf(other.found), 'This is a web page, not an agent')
    const port = await freePort()
    const { found: gone } = await ask([`http://127.0.0.1:${port}`])
    assert.equal(diagnosisOf(gone), `Nothing is listening on port ${port}`)
    assert.match(reasonsOf(gone), /^a2a, mcp, openai: connect ECONNREFUSED/)
    const silent = await web(t, () => {})
    const { found: hung } = await ask([silent], {}, hasty)
    assert.match(reasonsOf(hung), /openai: it did not answer within 0\.7 s/)
    assert.equal(diagnosisOf(hung), 'No response within 0.7 s')
    const other404 = await web(t, (_, response) => void response.writeHead(404).end())
    assert.equal(diagnosisOf((await ask([other404])).found), 'The server responds, but not as an agent')
  })

  it('explains what keeps it from connecting', async (t) => {
    const { found: unknown } = await ask(['http://agent.invalid'])
    assert.equal(diagnosisOf(unknown), 'Host not found: agent.invalid')
    const plain = await web(t, (_, response) => void response.end())
    const { found: noTls } = await ask([plain.replace('http', 'https')])
    assert.equal(diagnosisOf(noTls), `Port ${new URL(plain).port} does not use TLS`)
    const { cert, key } = selfSigned('localhost')
    const server = createTlsServer({ cert, key }, (_, response) => void response.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    const { found: untrusted } = await ask([`https://127.0.0.1:${(server.address() as AddressInfo).port}`])
    assert.equal(diagnosisOf(untrusted), 'The certificate is not trusted')
    const refusing = await web(t, (_, response) => void response.writeHead(401).end())
    assert.equal(diagnosisOf((await ask([refusing])).found), 'Requires authentication')
  })

  it('stops when the caller stops waiting', async (t) => {
    const silent = await web(t, () => {})
    await assert.rejects(ask([silent], { signal: AbortSignal.timeout(300) }), { name: 'TimeoutError' })
  })
})

describe('detection of a command', () => {
  const folder = (t: TestContext) => {
    const one = createSharedFolder()
    t.after(() => one.remove())
    return one
  }

  it('finds an MCP server', async () => {
    const command = everythingCommand as unknown as DetectTarget
    const { found } = await ask(command)
    assert.deepEqual(pick(found), { kind: 'mcp', name: 'everything', entry: { command: [...command] } })
  })

  it('finds an Agent Client Protocol program, which gets the token by its name', async () => {
    const { found } = await ask([process.execPath, acpAgent], { token: { value: 't', reference: '${env:ACP_KEY}' } })
    assert.ok('kind' in found, reasonsOf(found))
    assert.equal(found.kind, 'acp')
    assert.deepEqual(found.entry, { command: [process.execPath, acpAgent], env: { ACP_KEY: '${env:ACP_KEY}' } })
  })

  it('finds a module that exports an agent', async (t) => {
    const { path } = folder(t)
    writeFileSync(join(path, 'greeter.ts'), 'export default ({ text }: { text: string }) => `Hello, ${text}!`\n')
    writeFileSync(join(path, 'named.mjs'), 'export const agent = { name: "Named One", agent: () => "hi" }\n')
    const { found } = await ask(['./greeter.ts'], { cwd: path })
    assert.deepEqual(pick(found), { kind: 'module', name: 'greeter', entry: { path: './greeter.ts' } })
    const named = await ask(['named.mjs'], { cwd: path })
    assert.deepEqual(pick(named.found), { kind: 'module', name: 'named-one', entry: { path: './named.mjs' } })
  })

  it('runs a script instead of loading it', async (t) => {
    const { path } = folder(t)
    writeFileSync(
      join(path, 'upper.mjs'),
      'process.stdin.on("data", (c) => process.stdout.write(`${c}`.toUpperCase()))',
    )
    const { found, said } = await ask(['./upper.mjs'], { cwd: path })
    assert.deepEqual(pick(found), { kind: 'command', name: 'upper', entry: { command: ['node', './upper.mjs'] } })
    // On Linux it is known at once that it only waits for input; elsewhere the others are waited for.
    if (process.platform !== 'linux')
      assert.ok(said.some((line) => line.startsWith('module: it has no default export')))
  })

  it(
    'recognizes programs that only wait for input without waiting for a timeout',
    {
      skip: process.platform !== 'linux' && 'the state of a process is visible on Linux only',
    },
    async () => {
      const endless = { httpMs: 1e9, programMs: 1e9, fetchedMs: 1e9 }
      const upper = 'process.stdin.on("data", (text) => process.stdout.write(`${text}`.toUpperCase()))'
      for (const target of [['wc', '-w'], ['cat'], ['sh', '-c', 'sort | uniq'], ['node', '-e', upper]] as const) {
        const { found } = await ask(target, {}, endless)
        assert.deepEqual('entry' in found && [found.kind, found.entry], ['command', { command: [...target] }])
      }
    },
  )

  it('waits for programs that may still answer: one that connects to a server, sleeps, or starts another [full]', async (t) => {
    const slow = await web(t, () => {})
    const connects = `fetch(${JSON.stringify(slow)}); process.stdin.resume()`
    for (const target of [
      ['sleep', '60'],
      ['node', '-e', connects],
      ['sh', '-c', 'sleep 60; cat'],
    ] as const) {
      const { found, said } = await ask(target, {}, { ...times, programMs: 1_500 })
      assert.equal('kind' in found && found.kind, 'command')
      assert.ok(said.some((line) => line.startsWith('mcp: it did not answer within 1.5 s')))
    }
  })

  it('reports a module that does not load instead of running it', async (t) => {
    const { path } = folder(t)
    writeFileSync(join(path, 'broken.ts'), "import './not-there.ts'\nexport default () => 'hi'\n")
    const { found } = await ask(['./broken.ts'], { cwd: path })
    assert.equal(diagnosisOf(found), './broken.ts failed to load')
    assert.match(('diagnosis' in found && found.diagnosis.cause) || '', /Cannot find module .*not-there\.ts/)
    assert.equal(diagnosisOf((await ask(['./missing.ts'], { cwd: path })).found), 'File not found: ./missing.ts')
    writeFileSync(join(path, 'agent.sh'), '#!/bin/sh\n')
    assert.equal(diagnosisOf((await ask(['./agent.sh'], { cwd: path })).found), './agent.sh is not executable')
    writeFileSync(join(path, 'syntax.ts'), 'export default () => {\n  return `abc\n}\n')
    const syntax = await ask(['./syntax.ts'], { cwd: path })
    assert.deepEqual(pick(syntax.found), ['module: ./syntax.ts:2: Unterminated template'])
  })

  it('names an imported file that threw, which a running hub keeps until its restart', async (t) => {
    const { path } = folder(t)
    writeFileSync(join(path, 'part.mjs'), "throw new Error('no licence')\n")
    writeFileSync(join(path, 'imports.ts'), "import './part.mjs'\nexport default () => 'hi'\n")
    const cause = 'part.mjs, which ./imports.ts imports, threw: no licence'
    for (const _ of [1, 2]) {
      const { found } = await ask(['./imports.ts'], { cwd: path })
      assert.deepEqual('diagnosis' in found && [found.diagnosis.cause, found.diagnosis.advice, found.reasons], [
        cause,
        'Fix the error in that file. A hub that has tried to load it must be restarted.',
        [`module: ${cause}`],
      ])
    }
  })

  it('finds a plain program and leaves no process behind', async (t) => {
    const { path } = folder(t)
    const script = join(path, 'agent.sh')
    writeFileSync(script, '#!/bin/sh\nsleep 600 &\necho $! >> pids\necho "a bad day" >&2\nwait\n')
    chmodSync(script, 0o755)
    const { found, said } = await ask([script, '--fast'], { cwd: path }, { ...times, programMs: 1_500 })
    assert.deepEqual(pick(found), { kind: 'command', name: 'agent-agent', entry: { command: [script, '--fast'] } })
    assert.ok(said.some((line) => line.includes('(output: a bad day)')))
    const pids = readFileSync(join(path, 'pids'), 'utf8').trim().split('\n').map(Number)
    assert.ok(pids.length >= 2)
    await Promise.all(pids.map(waitForProcessExit))
  })

  it('reports a program that exits at once or does not exist', async () => {
    const { found } = await ask(['date', '-u'])
    assert.deepEqual(pick(found), { kind: 'command', name: 'date', entry: { command: ['date', '-u'] } })
    const none = await ask(['no-such-program', 'x'])
    assert.equal(reasonsOf(none.found), 'mcp, acp, command: the program no-such-program does not exist')
    assert.equal(diagnosisOf(none.found), 'Command not found: no-such-program')
  })
})
