/**
 * The client programs of the document about an older draft, verbatim, against a hub with the profile for them, and against the
 * example that is the server of the document on the SDK.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createApp } from '../../examples/express-rxjs/app.ts'
import { newFolder, runParley, startHub } from '../hub/running-hub.ts'
import { fetchFrom, framesOf, splitBody, loadProgram, type ProgramGlobals } from './client-program.ts'
import { programIn, readDocument } from './seed-document.ts'

/** Each program, and the heading under which the document has it. */
const headings = {
  'sub-agents': 'Client Handling',
  'input-required': 'Implementation Example',
  'jsonrpc-client': 'Client-Side (TypeScript)',
  client: 'Client (TypeScript)',
} as const

const here = join(import.meta.dirname, 'legacy-v03-draft')
const program = (name: keyof typeof headings): string => readFileSync(join(here, `${name}.txt`), 'utf8')

/** The document declares `error` twice in one block, which does not compile. */
const withoutSecondError = (source: string): string => {
  const fixed = source.replace(/(const error = .*\n.*\n) *const error = .*\n/, '$1')
  assert.notEqual(fixed, source)
  return fixed
}

const yaml = `
profiles: { olderDraft: true }
access: {}
agents:
  documented: { kind: module, path: ${JSON.stringify(join(here, 'agent.ts'))}, default: true }
`
const folder = await newFolder({ 'parley.yaml': yaml })
const hub = await startHub(folder)
const token = await createKey()
const fetchHub = fetchFrom(hub.url, token)

/** The document requires authentication of all requests. */
async function createKey(): Promise<string> {
  const env = { PARLEY_ADMIN_KEY: await hub.adminKey(), PARLEY_URL: hub.url }
  const { lines } = await runParley(folder, ['key', 'create', '--agent', 'documented'], env)
  return lines.find((line) => /^\S+$/.test(line)) ?? ''
}

interface Logged {
  readonly globals: ProgramGlobals
  readonly log: unknown[][]
  readonly warnings: unknown[][]
}

function prelude(more: Partial<ProgramGlobals> = {}): Logged {
  const log: unknown[][] = []
  const warnings: unknown[][] = []
  const console = { log: (...said: unknown[]) => log.push(said), warn: (...said: unknown[]) => warnings.push(said) }
  const globals = { fetch: fetchHub, console, generateId: randomUUID, uuidv4: randomUUID, ...more }
  return { globals, log, warnings }
}

const say = (text: string) => ({
  kind: 'message',
  role: 'user',
  parts: [{ kind: 'text', text }],
  messageId: randomUUID(),
})
const rpc = (message: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message } })
const post = (path: string, body: unknown): Promise<Response> =>
  fetchHub(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** A stream by each of the two paths, and how its frames hold an event. */
const paths = [
  { path: '/api/a2a', open: (message: unknown) => post('/api/a2a', rpc(message)) },
  { path: '/v1', open: (message: unknown) => post('/v1/message:stream', { message }) },
] as const

const client = ({ globals }: Logged): any => {
  const { A2AClientImpl } = loadProgram(withoutSecondError(program('client')), globals, ['A2AClientImpl'])
  return new A2AClientImpl('https://agent.example.com', 'token-123')
}

async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const event of events) all.push(event)
  return all
}

describe('the programs of the document', { timeout: 120_000 }, () => {
  const document = readDocument('002')
  const skip = document === undefined ? 'the requirements documents are not beside this project' : false
  it('are kept byte for byte', { skip }, () => {
    for (const [name, heading] of Object.entries(headings)) {
      assert.equal(program(name as keyof typeof headings), programIn(document as string, heading), name)
    }
  })
})

describe('A2AClientImpl', { timeout: 120_000 }, () => {
  it('streams every event, in any chunks, and stops at the final one [S2-32 S2-8]', async () => {
    for (const bytes of [1, 7, 1_000_000]) {
      const run = prelude({ fetch: splitBody(fetchHub, bytes) })
      const events: any[] = await collect(client(run).streamMessage({ message: say('Analyze sales data — Q4 ✓') }))
      assert.equal(events[0].kind, 'task')
      assert.equal(events[0].history[0].parts[0].text, 'Analyze sales data — Q4 ✓')
      const chunks = events.filter(({ kind }) => kind === 'artifact-update')
      const text = chunks.map(({ artifact }) => artifact.parts[0].text).join('')
      assert.equal(text, 'Based on the analysis, sales increased 15%')
      const { kind, status, final } = events.at(-1)
      assert.deepEqual([kind, status.state, final], ['status-update', 'completed', true])
      assert.deepEqual(run.warnings, [])
    }
  })

  it('sends and gets the finished task [S2-32]', async () => {
    const task = await client(prelude()).sendMessage({ message: say('Quick question') })
    assert.deepEqual([task.kind, task.status.state], ['task', 'completed'])
    assert.equal(task.artifacts[0].parts[0].text, 'Based on the analysis, sales increased 15%')
  })

  it('runs its example: the task, its states, and each chunk as `part` [S2-32 S2-34]', async () => {
    const run = prelude()
    await loadProgram(withoutSecondError(program('client')), run.globals, ['example']).example()
    const named = Map.groupBy(run.log, ([label]) => label)
    assert.equal(named.get('Task started:')?.length, 1)
    assert.deepEqual(named.get('Status:')?.at(-1), ['Status:', 'completed'])
    const parts = (named.get('Artifact chunk:') ?? []).map(([, part]) => part as any)
    assert.ok(parts.every(({ kind, index, append }) => kind === 'text' && index === 0 && typeof append === 'boolean'))
    assert.equal(parts.map(({ text }) => text).join(''), 'Based on the analysis, sales increased 15%')
    assert.deepEqual(parts.map(({ append }) => append).slice(0, 2), [false, true])
    const [[, task] = []] = (named.get('Result:') ?? []) as any[][]
    assert.equal(task.status.state, 'completed')
    assert.deepEqual(run.warnings, [])
  })

  it('throws the error of the hub when a stream cannot start [S2-11 S2-32]', async () => {
    const message = { ...say('Hello'), taskId: 'no-such-task' }
    const stream = client(prelude()).streamMessage({ message })
    await assert.rejects(stream.next(), { message: 'HTTP 404: Task not found' })
    await assert.rejects(client(prelude()).sendMessage({ message }), { message: 'Task not found' })
    const unauthenticated = prelude({ fetch: fetchFrom(hub.url, 'token-123') })
    const { message: refusal } = await client(unauthenticated)
      .streamMessage({ message })
      .next()
      .catch((reason: Error) => reason)
    assert.match(refusal, /^HTTP 401: (?!Unknown error)/)
  })
})

describe('streamMessage over JSON-RPC', { timeout: 120_000 }, () => {
  it('runs its example: the states, and each chunk as `part` [S2-34]', async () => {
    const run = prelude()
    await loadProgram(program('jsonrpc-client'), run.globals, ['example']).example()
    const parts = run.log.filter(([label]) => label === 'Artifact:').map(([, part]) => part as any)
    assert.equal(parts.map(({ text }) => text).join(''), 'Based on the analysis, sales increased 15%')
    assert.deepEqual(run.log.at(-1), ['Status:', 'completed'])
  })

  it('throws the error of the hub when a stream cannot start [S2-11]', async () => {
    const { streamMessage } = loadProgram(program('jsonrpc-client'), prelude().globals, ['streamMessage'])
    await assert.rejects(collect(streamMessage({ ...say('Hello'), taskId: 'no-such-task' })), /Task not found/)
    await assert.rejects(collect(streamMessage({ ...say('Hello'), kind: 'task' })), /message\.kind/)
    await assert.rejects(collect(streamMessage(undefined)), /message/)
  })
})

describe('invokeWithSubAgents', { timeout: 120_000 }, () => {
  it('learns which tasks its task refers to [S2-12]', async () => {
    async function* streamMessage(request: unknown): AsyncGenerator<any> {
      yield* framesOf(await post('/api/a2a', request))
    }
    const names = ['invokeWithSubAgents', 'taskRelations'] as const
    const { invokeWithSubAgents, taskRelations } = loadProgram(
      program('sub-agents'),
      prelude({ streamMessage }).globals,
      names,
    )
    await invokeWithSubAgents('Analyze sales and create report')
    assert.deepEqual([...taskRelations.values()], [['sub-456']])
  })
})

describe('handleInputRequired', { timeout: 120_000 }, () => {
  /** Reads a stream to its end and passes each status to the program, as the document's flow does. */
  async function converse(frames: AsyncIterable<any>, tool: (request: any) => unknown): Promise<any[]> {
    const { globals } = prelude({ executeClientTool: tool })
    const { handleInputRequired } = loadProgram(program('input-required'), globals, ['handleInputRequired'])
    const seen: any[] = []
    for await (const frame of frames) {
      seen.push(frame.result)
      if (frame.result.kind === 'status-update') await handleInputRequired(frame)
    }
    return seen
  }

  for (const { path, open } of paths) {
    it(`answers, and the same stream continues to the end: ${path} [S2-13 S2-14]`, async () => {
      const asked: any[] = []
      const secret = `secret-key-${randomUUID()}`
      const seen = await converse(framesOf(await open(say('Ask for a key'))), (request) => {
        asked.push(request)
        return { value: secret }
      })
      assert.deepEqual(asked, [
        { kind: 'input-request', prompt: 'Enter API key:', sensitive: true, requestId: 'input-1' },
      ])
      const states = seen.filter(({ status }) => status).map(({ status, final }) => [status.state, final])
      assert.deepEqual(
        states.find(([state]) => state === 'input-required'),
        ['input-required', false],
      )
      assert.deepEqual(states.at(-1), ['completed', true])
      const artifact = seen.find(({ kind }) => kind === 'artifact-update')
      assert.match(artifact.part.text, new RegExp(`^${seen[0].id} continues`))
      assert.ok(!keptText().includes(secret))
    })

    it(`answers a plain question and a tool call: ${path} [S2-13 S2-14]`, async () => {
      for (const [text, expected] of [
        ['Ask in words', { prompt: 'For which city?' }],
        ['Call a tool', { prompt: 'Where are you?', requestId: 'call-1', name: 'position', input: { exact: true } }],
      ] as const) {
        const asked: any[] = []
        const seen = await converse(framesOf(await open(say(text))), (request) => {
          asked.push(request)
          return 'Lisbon'
        })
        assert.equal(asked.length, 1)
        assert.deepEqual(asked[0], {
          kind: 'input-request',
          sensitive: false,
          requestId: asked[0].requestId,
          ...expected,
        })
        assert.equal(seen.at(-1).status.state, 'completed')
        assert.match(seen.find(({ kind }) => kind === 'artifact-update').part.text, new RegExp(seen[0].id))
      }
    })
  }

  it('works on the events of A2AClientImpl [S2-13 S2-32]', async () => {
    const events = client(prelude()).streamMessage({ message: say('Ask for a key') })
    async function* frames(): AsyncGenerator<any> {
      for await (const result of events) yield { result }
    }
    const seen = await converse(frames(), () => 'secret-key-123')
    assert.deepEqual([seen.at(-1).status.state, seen.at(-1).final], ['completed', true])
  })

  it('is refused if it answers another question than a secret one, and nothing of it is stored [S2-14]', async () => {
    for (const { open } of paths) {
      const frames = framesOf(await open(say('Ask for a key')))
      let taskId = ''
      for await (const { result } of frames) {
        taskId = result.taskId ?? result.id
        if (result.status?.state === 'input-required') break
      }
      const secret = `secret-key-${randomUUID()}`
      const parts = [
        { kind: 'text', text: 'Here is the requested input:' },
        { kind: 'tool-result', toolUseId: 'input-2', result: { value: secret } },
      ]
      const answer = await open({ ...say(''), parts, referenceTaskIds: [taskId] })
      const text = await answer.text()
      assert.match(text, /matches no open question/)
      assert.ok(!text.includes(secret))
      assert.ok(!keptText().includes(secret))
      const waiting = await post('/api/a2a', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId } })
      assert.equal(((await waiting.json()) as any).result.status.state, 'input-required')
    }
  })

  /** All files of the hub. */
  function keptText(): string {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const text = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n')
    assert.ok(text.includes('Please provide your API key'))
    return text
  }
})

describe('the example in Express with RxJS', { timeout: 120_000 }, async () => {
  const { app, close } = createApp()
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(async () => {
    await close()
    server.close()
  })
  const fetchApp = fetchFrom(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'token-123')

  const sources = { client: withoutSecondError(program('client')), 'jsonrpc-client': program('jsonrpc-client') }
  for (const [name, source] of Object.entries(sources)) {
    it(`serves ${name} of the document: its states, and each chunk as \`part\` [S2-25 S2-32 S2-33 S2-34]`, async () => {
      const run = prelude({ fetch: fetchApp })
      await loadProgram(source, run.globals, ['example']).example()
      const named = Map.groupBy(run.log, ([label]) => label)
      assert.deepEqual(named.get('Status:')?.at(-1), ['Status:', 'completed'])
      const chunks = named.get('Artifact chunk:') ?? named.get('Artifact:') ?? []
      const text = chunks.map(([, part]) => (part as { text: string }).text).join('')
      assert.match(text, /^You asked: \S/)
      assert.deepEqual(run.warnings, [])
      if (name !== 'client') return
      const [[, task] = []] = (named.get('Result:') ?? []) as any[][]
      assert.equal(task.status.state, 'completed')
    })
  }
})
