/** Servers that hang, die, flood and send invalid results: the task has the outcome, and the agent stays usable. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Part, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import type { TestAgentOptions } from '@parley/a2a/testing'
import { mcpKind } from '../../packages/hub/src/agents/mcp/index.ts'
import { openKind } from '../../packages/hub/src/agents/testing/open-kind.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { createSharedFolder } from './shared-folder.ts'
import type { SharedFolder } from './shared-folder.ts'
import { startEverythingServer } from './mcp-everything.ts'
import { serveFetchHandler } from './mcp-http.ts'
import { createScriptedSession, createScriptedMcpServer } from './scripted-mcp-server.ts'
import type { ServerControls } from './scripted-mcp-server.ts'

const program = join(import.meta.dirname, 'programs/mcp-server.ts')
const { signal } = new AbortController()
const lost = 'The connection to the tool server was lost: the outcome of the call is unknown'

interface Place {
  readonly entry: object
  readonly folder?: SharedFolder
  appears(what: string): Promise<void>
}

function aProgram(t: TestContext): Place & { readonly folder: SharedFolder } {
  const folder = createSharedFolder()
  t.after(() => folder.remove())
  const entry = { command: [process.execPath, program, folder.path], cwd: import.meta.dirname }
  return { entry, folder, appears: folder.waitForFile }
}

async function anAddress(t: TestContext): Promise<Place> {
  const reports = new Map<string, PromiseWithResolvers<void>>()
  const happening = (what: string): PromiseWithResolvers<void> => {
    const one = reports.get(what) ?? Promise.withResolvers<void>()
    reports.set(what, one)
    return one
  }
  const controls: ServerControls = {
    report: (what) => happening(what).resolve(),
    waitForRelease: () => happening('go').promise,
    crash: () => place.cut(),
  }
  const handler = createMcpHandler(() => createScriptedMcpServer(controls))
  const place = await serveFetchHandler((request) => handler.fetch(request))
  t.after(async () => {
    await handler.close()
    await place.close()
  })
  return { entry: { url: place.url }, appears: (what) => happening(what).promise }
}

const places: readonly [string, (t: TestContext) => Place | Promise<Place>][] = [
  ['a program [full]', aProgram],
  ['an address', anAddress],
]

const open = async (t: TestContext, entry: object, test?: TestAgentOptions) =>
  openKind(t, mcpKind, entry, { services: { baseDir: import.meta.dirname }, ...(test !== undefined ? { test } : {}) })
const textOf = (parts: readonly Part[] = []): string => parts.map((part) => ('text' in part ? part.text : '')).join('')
const ending = (task: unknown): string => {
  const { status } = task as Task
  return `${status.state.replace('TASK_STATE_', '')}: ${textOf(status.message?.parts)}`
}

for (const [where, place] of places)
  describe(`a server behind ${where}`, () => {
    it('that hangs delays its task no longer than the deadline or a cancel', async (t) => {
      const { entry, appears } = await place(t)
      const { agent: hasty } = await open(t, entry, { turnTimeoutMs: 2_000 })
      assert.equal(ending(await hasty.send('hang()')), 'FAILED: Task timed out')
      const { agent } = await open(t, entry)
      const { id } = (await agent.send('hang()', { returnImmediately: true })) as Task
      await appears('begun')
      assert.equal((await agent.cancel(id)).status.state, 'TASK_STATE_CANCELED')
      assert.equal(await agent.ask('say("still here")'), 'still here')
    })

    it('that dies during a call fails it, and is restarted for the next', async (t) => {
      const { entry } = await place(t)
      const { agent, lines } = await open(t, entry)
      const contextId = 'one'
      assert.equal(ending(await agent.send('die()', { contextId })), `FAILED: ${lost}`)
      assert.ok(lines.some(({ message }) => message === 'a call of a tool failed'))
      assert.equal(await agent.ask('say hello', { contextId }), 'hello')
    })

    it('that answers with invalid or undeclared results fails the task with a message', async (t) => {
      const { entry } = await place(t)
      const { agent } = await open(t, entry)
      assert.match(ending(await agent.send('nonsense()')), /^FAILED: The (result of the tool is malformed|tool server)/)
      assert.equal(
        ending(await agent.send('promise()')),
        'FAILED: The result of the tool does not match its output schema',
      )
      assert.equal(ending(await agent.send('fail "No such city"')), 'FAILED: No such city')
      assert.equal(ending(await agent.send('break()')), 'FAILED: The tool server failed')
    })

    it('that floods is sampled', async (t) => {
      const { entry } = await place(t)
      const { agent } = await open(t, entry)
      const events = await agent.stream('flood(5000)').all()
      const statuses = events.filter((event) => 'statusUpdate' in event)
      assert.ok(statuses.length > 2 && statuses.length < 60, `${statuses.length} statuses`)
      assert.ok(events.some((event) => 'artifactUpdate' in event))
    })

    it('that exceeds the size limit is rejected, and smaller answers are accepted', async (t) => {
      const { entry } = await place(t)
      const { agent } = await open(t, { ...entry, answerLimit: '2MB' })
      const contextId = 'one'
      const sentence = 'The response of a tool server exceeds 2000000 bytes'
      assert.equal(ending(await agent.send('huge(2000001)', { contextId })), `FAILED: ${sentence}`)
      assert.equal((await agent.ask('huge(1900000)', { contextId })).length, 1_900_000)
    })

    it('cannot sample a model', async (t) => {
      const { entry } = await place(t)
      const { agent, lines } = await open(t, entry)
      const [line, sentence] = ending(await agent.send('sample()')).split(': ')
      assert.deepEqual([line, sentence?.startsWith('The tool')], ['FAILED', true])
      const failure = lines.find(({ message }) => message === 'a call of a tool failed')
      assert.match(String(failure?.fields?.['cause']), /sampling|-32601|not found/i)
    })

    it('has a limited number of connections', async (t) => {
      const { entry, appears } = await place(t)
      const { agent } = await open(t, { ...entry, connections: 1 })
      const { id } = (await agent.send('wait()', { returnImmediately: true, contextId: 'one' })) as Task
      await appears('begun')
      await assert.rejects(agent.ask('say no', { contextId: 'two' }), { code: 'RATE_LIMITED' })
      await agent.cancel(id)
      assert.equal(await agent.ask('say yes', { contextId: 'two' }), 'yes')
    })
  })

describe('a program as an MCP server', () => {
  it('that exits during a question fails the task', async (t) => {
    const { entry, folder } = aProgram(t)
    const { agent } = await open(t, entry)
    const { id, status } = (await agent.send('book_and_die()')) as Task
    assert.equal(status.state, 'TASK_STATE_INPUT_REQUIRED')
    folder.createFile('go')
    for (;;) {
      const task = await agent.get(id)
      if (task.status.state === 'TASK_STATE_FAILED') break
      assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED')
      await sleep(10)
    }
    assert.equal(ending(await agent.get(id)), `FAILED: ${lost}`)
  })

  it('runs once per conversation, ends when idle, and ends with the agent', async (t) => {
    const { entry, folder } = aProgram(t)
    const { opened } = await open(t, { ...entry, idleTimeout: '3s' })
    const running = (): number => runningWith(folder.path).length
    const as = (id: string) => {
      const agent = testAgent(opened.agent, { caller: { id } })
      t.after(() => agent.close())
      return agent
    }
    const [alice, bob] = [as('alice'), as('bob')]
    await alice.ask('remember teal', { contextId: 'c' })
    assert.equal(await alice.ask('recall()', { contextId: 'c' }), 'teal')
    assert.equal(await bob.ask('recall()', { contextId: 'c' }), '')
    assert.equal(running(), 2)
    await eventually(() => running() === 0)
    await alice.ask('say hi')
    assert.equal(running(), 1)
    await opened.close?.()
    assert.equal(running(), 0)
  })

  it('may use the newest version of the protocol', async (t) => {
    const { folder } = aProgram(t)
    const entry = { command: [process.execPath, program, folder.path, 'new'], cwd: import.meta.dirname }
    const { opened, agent } = await open(t, entry)
    await opened.health?.(signal)
    assert.equal((await opened.fetchCard?.(signal))?.name, 'Scripted server')
    const asked = (await agent.send('book()')) as Task
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal(await agent.ask('Lisbon', { taskId: asked.id }), 'A flight to Lisbon')
    const { id } = (await agent.send('wait()', { returnImmediately: true })) as Task
    await folder.waitForFile('begun')
    await agent.cancel(id)
    await folder.waitForFile('stopped')
  })

  it('may be shared by all conversations, which then cannot be asked for input', async (t) => {
    const { entry, folder } = aProgram(t)
    const { opened } = await open(t, { ...entry, shared: true })
    const answers: string[] = []
    for (const id of ['alice', 'bob']) {
      const agent = testAgent(opened.agent, { caller: { id }, server: { log: silent } })
      t.after(() => agent.close())
      answers.push(await agent.ask(id === 'alice' ? 'remember teal' : 'recall()'))
      assert.match(ending(await agent.send('book()')), /^FAILED: /)
    }
    assert.deepEqual(answers, ['noted', 'teal'])
    assert.equal(runningWith(folder.path).length, 1)
  })
})

describe('a server whose tools change', () => {
  it('is listed again as a program', async (t) => {
    const { entry } = aProgram(t)
    const looks = watched()
    const { opened, agent } = await openKind(
      t,
      mcpKind,
      { ...entry, shared: true },
      { services: { refreshCard: looks.again } },
    )
    const names = async () => (await opened.fetchCard?.(signal))?.skills?.map(({ id }) => id) ?? []
    assert.ok(!(await names()).includes('more'))
    await agent.ask('grow()')
    await looks.asked
    assert.ok((await names()).includes('more'))
    assert.equal(await agent.ask('more()'), 'more')
  })

  it('is listed again over HTTP', async (t) => {
    const session = createScriptedSession()
    const controls: ServerControls = { report() {}, waitForRelease: async () => {}, crash() {} }
    const handler = createMcpHandler(() => createScriptedMcpServer(controls, { session }))
    const place = await serveFetchHandler((request) => handler.fetch(request))
    t.after(async () => {
      await handler.close()
      await place.close()
    })
    const looks = watched()
    const { opened } = await openKind(t, mcpKind, { url: place.url }, { services: { refreshCard: looks.again } })
    const names = async () => (await opened.fetchCard?.(signal))?.skills?.map(({ id }) => id) ?? []
    assert.ok(!(await names()).includes('more'))
    session.extra = true
    handler.notify.toolsChanged()
    await looks.asked
    assert.ok((await names()).includes('more'))
  })
})

describe('a server that is not available', () => {
  it('lets the agent open, and is called once it is available', async (t) => {
    const first = await startEverythingServer(t)
    await first.stop()
    const { opened, agent } = await open(t, { url: first.url, connectTimeout: '5s' })
    await assert.rejects(opened.fetchCard?.(signal) ?? Promise.resolve(), { code: 'AGENT_UNAVAILABLE' })
    await assert.rejects(opened.health?.(signal) ?? Promise.resolve())
    await assert.rejects(agent.ask('echo hi'), (reason: Error) => {
      assert.ok(!reason.message.includes('127.0.0.1'))
      return reason.message === 'A tool server is unavailable now'
    })
    await startEverythingServer(t, first.port)
    assert.equal(await agent.ask('echo hi'), 'Echo: hi')
    await opened.health?.(signal)
  })

  it('fails a call if it disappears during the call', async (t) => {
    const server = await startEverythingServer(t)
    const { agent } = await open(t, { url: server.url })
    const reading = agent.stream('trigger-long-running-operation duration=60 steps=60')
    let last: Task['status'] | undefined
    for await (const event of reading) {
      if (!('statusUpdate' in event)) continue
      last = event.statusUpdate.status
      if (last.message !== undefined && last.state === 'TASK_STATE_WORKING') await server.stop()
    }
    assert.deepEqual([last?.state, textOf(last?.message?.parts)], ['TASK_STATE_FAILED', lost])
  })
})

const silent = { debug() {}, info() {}, warn() {}, error() {} }

function watched(): { readonly asked: Promise<void>; again(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { asked: promise, again: () => resolve() }
}

/** Of the processes of this machine, those that have this word in their command. */
function runningWith(word: string): readonly number[] {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word)
    } catch {
      return false
    }
  })
}
