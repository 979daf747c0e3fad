/** Agents are added, changed and removed with the configuration, and an agent that cannot be opened does not affect others. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { memoryStore, type Agent, type Message, type Task } from '@parley/a2a'
import { memoryKeyValueStore, type Store } from '@parley/a2a/stores'
import { createHandler, type CallContext, type Handler } from '@parley/a2a/server'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { z } from 'zod'
import type { AgentKind, OpenAgent } from '../agents/kind.ts'
import { checkConfig } from '../config/check-config.ts'
import { createAgentRegistry, type AgentRegistry, type AgentsConfig } from './agent-registry.ts'
import { testAgentServices } from '../agents/testing/test-agent-services.ts'

/** Agents that behave as the test specifies for a word of their entry. */
interface Scene {
  readonly registry: AgentRegistry
  readonly handler: Handler
  readonly closed: readonly string[]
  readonly opened: readonly string[]
  apply(agents: object, bundles?: object): ReturnType<AgentRegistry['apply']>
  send(agent: string, text: string, more?: object): Promise<Task>
}

type Open = (word: string) => OpenAgent | Promise<OpenAgent>

async function scene(t: TestContext, open: Open, first: object, store: Store = memoryStore()): Promise<Scene> {
  const closed: string[] = []
  const opened: string[] = []
  const kind: AgentKind<{ word: string }> = {
    kind: 'word',
    schema: z.strictObject({ word: z.string() }),
    async open({ word }) {
      opened.push(word)
      const made = await open(word)
      return {
        ...made,
        async close() {
          await made.close?.()
          closed.push(word)
        },
      }
    },
  }
  const parts = testAgentServices({ kv: memoryKeyValueStore() })
  const registry = createAgentRegistry({
    kinds: [kind],
    log: parts.log,
    agentServices: (name) => ({ ...parts, name }),
    limit: (agent) => agent,
    security: () => ({}),
    times: { firstRetryMs: 5, lastRetryMs: 20, openTimeoutMs: 1_000, agentWaitMs: 5_000 },
  })
  const wanted = (agents: object, skillBundles: object = {}): AgentsConfig => {
    const checked = checkConfig({ agents, skillBundles }, { kinds: [kind], baseDir: '/' })
    assert.ok('config' in checked, JSON.stringify(checked))
    return checked.config
  }
  await registry.apply(wanted(first))
  const handler = createHandler({ store, agents: registry.settings(), default: registry.defaultName(), log: parts.log })
  registry.attachServer(handler.agents)
  await handler.ready
  t.after(async () => {
    await handler.close()
    await registry.close()
  })
  return {
    registry,
    handler,
    closed,
    opened,
    apply: (agents, bundles) => registry.apply(wanted(agents, bundles)),
    async send(agent, text, more) {
      const answer = await handler.engine.sendMessage({ message: message(text), ...more }, contextOf(agent))
      assert.ok('task' in answer)
      return answer.task
    },
  }
}

let count = 0
function message(text: string): Message {
  return { messageId: `m-${(count += 1)}`, role: 'ROLE_USER', parts: [{ text }] }
}

function contextOf(agent: string): CallContext {
  const signal = new AbortController().signal
  return { agent, tenant: '', caller: { id: 'me' }, signal, extensions: [], canListTasks: true }
}

const says =
  (word: string): Open =>
  () => ({ agent: () => word })
const entry = (word: string, more: object = {}): object => ({ kind: 'word', word, ...more })
const textOf = ({ artifacts = [], status }: Task): string =>
  [...artifacts.flatMap(({ parts }) => parts), ...(status.message?.parts ?? [])]
    .map((part) => ('text' in part ? part.text : ''))
    .join('')

describe('the registry', () => {
  it('serves what the configuration names, the default where none is named', async (t) => {
    const { registry, handler, send } = await scene(t, (word) => ({ agent: () => word }), {
      a: entry('one'),
      b: entry('two', { default: true }),
    })
    assert.deepEqual(handler.agents.names(), ['a', 'b'])
    assert.equal(registry.defaultName(), 'b')
    assert.equal(textOf(await send('a', 'hi')), 'one')
    assert.equal(textOf(await send('b', 'hi')), 'two')
  })

  it('adds, changes and removes agents while the server runs', async (t) => {
    const { handler, send, apply, closed, opened } = await scene(t, (word) => ({ agent: () => word }), {
      a: entry('one'),
      b: entry('two'),
    })
    assert.deepEqual(await apply({ b: entry('two'), a: entry('uno'), c: entry('three') }), {
      added: ['c'],
      changed: ['a'],
      removed: [],
    })
    assert.equal(textOf(await send('a', 'hi')), 'uno')
    assert.equal(textOf(await send('c', 'hi')), 'three')
    assert.deepEqual(opened, ['one', 'two', 'uno', 'three'])
    const changes = await apply({ c: entry('three') })
    assert.deepEqual(changes, { added: [], changed: [], removed: ['b', 'a'] })
    assert.deepEqual(handler.agents.names(), ['c'])
    await assert.rejects(() => send('a', 'hi'), { code: 'AGENT_UNAVAILABLE' })
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(closed.toSorted(), ['one', 'two', 'uno'])
  })

  it('does not open an agent anew when only its card changes', async (t) => {
    const { registry, apply, opened } = await scene(t, says('x'), { a: entry('one') })
    const changes = await apply(
      { a: entry('one', { description: 'New', skillBundles: ['b'] }) },
      { b: [{ name: 'Skill' }] },
    )
    assert.deepEqual(changes.changed, ['a'])
    const { settings } = registry.status('a') ?? assert.fail()
    assert.equal(settings.description, 'New')
    assert.deepEqual(
      settings.skills?.map(({ name }) => name),
      ['Skill'],
    )
    assert.deepEqual(opened, ['one'])
    assert.deepEqual(
      (await apply({ a: entry('one', { description: 'New', skillBundles: ['b'] }) }, { b: [{ name: 'Skill' }] }))
        .changed,
      [],
    )
  })

  it('opens the tasks of an agent when the agent itself asks for it, and the message is then in the log before it runs', async (t) => {
    const store = memoryStore()
    const states: unknown[] = []
    const agent: Agent = async ({ task }) => {
      states.push((await store.tasks.load(task.id))?.status.state)
      return 'done'
    }
    const { registry, send } = await scene(
      t,
      (word) => ({ agent, ...(word === 'durable' ? { openAfterMs: 0 } : {}) }),
      { a: entry('durable'), b: entry('usual') },
      store,
    )
    assert.deepEqual(
      ['a', 'b'].map((name) => registry.status(name)?.settings.openAfterMs),
      [0, undefined],
    )
    await send('a', 'go')
    await send('b', 'go')
    assert.deepEqual(states, ['TASK_STATE_WORKING', undefined])
  })

  it('wraps an agent with closeWithWhole once, and does not open it anew', async (t) => {
    const { registry, apply, opened } = await scene(t, says('x'), { a: entry('one') })
    const agentNow = (): unknown => registry.status('a')?.settings.agent
    const plain = agentNow()
    await apply({ a: entry('one', { closeWithWhole: true }) })
    const wrapped = agentNow()
    assert.notEqual(wrapped, plain)
    await apply({ a: entry('one', { closeWithWhole: true, description: 'New' }) })
    assert.equal(agentNow(), wrapped)
    assert.deepEqual(opened, ['one'])
  })

  it('lets a turn end with the agent it began with, and closes that one only then', async (t) => {
    const gate = Promise.withResolvers<void>()
    const { send, apply, closed, handler } = await scene(
      t,
      (word) => ({
        async *agent() {
          yield `${word} begins`
          if (word === 'old') await gate.promise
          yield `, ${word} ends`
        },
      }),
      { a: entry('old') },
    )
    const running = await send('a', 'go', { configuration: { returnImmediately: true } })
    await apply({ a: entry('new') })
    assert.equal(textOf(await send('a', 'go')), 'new begins, new ends')
    assert.equal(closed.length, 0)
    gate.resolve()
    const task = await until(() => handler.engine.getTask({ id: running.id }, contextOf('a')), isOver)
    assert.equal(textOf(task), 'old begins, old ends')
    await until(async () => closed.includes('old'), Boolean)
  })

  it('takes nothing new for an agent that was removed, and lets it finish what runs', async (t) => {
    const gate = Promise.withResolvers<void>()
    const { send, apply, closed, handler } = await scene(
      t,
      (word) => ({ agent: async () => (word === 'slow' ? gate.promise.then(() => 'done') : word) }),
      { a: entry('slow'), b: entry('b') },
    )
    const running = await send('a', 'go', { configuration: { returnImmediately: true } })
    await apply({ b: entry('b') })
    await assert.rejects(() => send('a', 'hi'), { code: 'AGENT_UNAVAILABLE' })
    assert.equal(closed.length, 0)
    gate.resolve()
    assert.equal(textOf(await until(() => handler.engine.getTask({ id: running.id }, contextOf('a')), isOver)), 'done')
    await until(async () => closed.includes('slow'), Boolean)
  })
})

describe('an agent that cannot be opened', () => {
  it('does not prevent others from starting, reports the error, and is retried until it opens', async (t) => {
    let tries = 0
    const open: Open = (word) => {
      if (word === 'bad' && (tries += 1) < 4) throw new Error('the backend at 10.0.0.1 is down')
      return { agent: () => word }
    }
    const { registry, send, handler } = await scene(t, open, { bad: entry('bad'), good: entry('good') })
    assert.equal(textOf(await send('good', 'hi')), 'good')
    const status = registry.status('bad')
    assert.equal(status?.state, 'unavailable')
    assert.equal(status?.startError?.message, 'the backend at 10.0.0.1 is down')
    assert.ok((status.retry?.nextTryAt ?? 0) > status.startError.at)
    assert.match(status?.settings.description ?? '', /not available/)
    assert.doesNotMatch(status?.settings.description ?? '', /10\.0\.0\.1/)
    assert.throws(() => registry.requireOpen('bad'), { code: 'AGENT_UNAVAILABLE' })
    assert.deepEqual(handler.agents.names(), ['bad', 'good'])
    await until(
      async () => registry.status('bad'),
      (now) => now?.state === 'open',
    )
    registry.requireOpen('bad')
    assert.equal(registry.status('bad')?.startError, undefined)
    assert.doesNotMatch(registry.status('bad')?.settings.description ?? '', /not available/)
    assert.equal(textOf(await send('bad', 'hi')), 'bad')
  })

  it('is waited for by a turn that a restart interrupted, and then does as it says', async (t) => {
    const { file, ids } = await interrupted(t, { a: { resume: 'rerun', run: forever }, f: forever })
    let isUp = false
    const open: Open = (word) => {
      if (!isUp) throw new Error('not yet')
      return {
        agent: word === 'a' ? { resume: 'rerun', run: ({ resumed }) => `again ${resumed?.attempt}` } : () => 'x',
      }
    }
    const { handler } = await scene(t, open, { a: entry('a'), f: entry('f') }, sqliteStore(file))
    const task = (agent: string): Promise<Task> => handler.engine.getTask({ id: ids[agent] ?? '' }, contextOf(agent))
    assert.equal((await task('a')).status.state, 'TASK_STATE_WORKING')
    isUp = true
    assert.match(textOf(await until(() => task('a'), isOver)), /again 2/)
    const failed = await until(() => task('f'), isOver)
    assert.equal(failed.status.state, 'TASK_STATE_FAILED')
    assert.match(textOf(failed), /interrupted by a restart/)
  })

  it('is replaced by one that the configuration mends, and what waited goes there', async (t) => {
    const { file, ids } = await interrupted(t, { a: { resume: 'rerun', run: forever } })
    const open: Open = (word) => {
      if (word === 'typo') throw new Error('there is no typo')
      return { agent: { resume: 'rerun', run: () => 'fixed' } }
    }
    const { handler, apply, closed } = await scene(t, open, { a: entry('typo') }, sqliteStore(file))
    assert.deepEqual((await apply({ a: entry('right') })).changed, ['a'])
    const task = await until(() => handler.engine.getTask({ id: ids['a'] ?? '' }, contextOf('a')), isOver)
    assert.equal(textOf(task), 'fixed')
    assert.equal(closed.length, 0)
  })

  it('that takes too long to open is closed when it comes after all', async (t) => {
    const late = Promise.withResolvers<OpenAgent>()
    let isClosed = false
    const kind: AgentKind = { kind: 'late', schema: z.strictObject({}), open: () => late.promise }
    const parts = testAgentServices()
    const registry = createAgentRegistry({
      kinds: [kind],
      log: parts.log,
      agentServices: () => parts,
      limit: (agent) => agent,
      security: () => ({}),
      times: { openTimeoutMs: 10, firstRetryMs: 60_000 },
    })
    t.after(() => registry.close())
    const checked = checkConfig({ agents: { a: { kind: 'late' } } }, { kinds: [kind], baseDir: '/' })
    assert.ok('config' in checked)
    await registry.apply(checked.config)
    assert.match(registry.status('a')?.startError?.message ?? '', /took longer than 0\.01 s/)
    late.resolve({ agent: () => 'x', close: async () => void (isClosed = true) })
    await until(async () => isClosed, Boolean)
  })
})

describe('what an agent says of itself', () => {
  it('is on its card from the start, and follows what it says later', async (t) => {
    let skills = ['first']
    const look = async () => ({ skills: skills.map((name) => ({ id: name, name, description: name, tags: ['t'] })) })
    const { registry, handler } = await scene(t, () => ({ agent: () => 'x', fetchCard: look }), { a: entry('a') })
    const shown = async (): Promise<readonly string[]> => {
      const response = await handler.fetch(new Request('http://localhost/a2a/a/.well-known/agent-card.json'))
      const card = (await response.json()) as { skills: { name: string }[] }
      return card.skills.map(({ name }) => name)
    }
    assert.deepEqual(await shown(), ['first'])
    skills = ['first', 'second']
    await registry.refreshCard('a')
    assert.deepEqual(await shown(), ['first', 'second'])
  })

  it('stays what it was when it cannot be asked', async (t) => {
    let isDown = false
    const look = async () => {
      if (isDown) throw new Error('down')
      return { description: 'Known' }
    }
    const { registry } = await scene(t, () => ({ agent: () => 'x', fetchCard: look }), { a: entry('a') })
    isDown = true
    await registry.refreshCard('a')
    assert.equal(registry.status('a')?.settings.description, 'Known')
  })
})

const forever = (): Promise<never> => new Promise(() => {})

/** A store in which a task of each agent was running when the process ended. */
async function interrupted(t: TestContext, agents: Record<string, Agent>) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-registry-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'tasks.db')
  const before = createHandler({ store: sqliteStore(file), agents })
  await before.ready
  const ids: Record<string, string> = {}
  for (const agent of Object.keys(agents)) {
    const request = { message: message('go'), configuration: { returnImmediately: true } }
    const answer = await before.engine.sendMessage(request, contextOf(agent))
    ids[agent] = 'task' in answer ? answer.task.id : ''
  }
  await before.close()
  return { file, ids }
}

function isOver({ status }: Task): boolean {
  return ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED'].includes(status.state)
}

async function until<T>(look: () => Promise<T>, isRight: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look()
    if (isRight(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
