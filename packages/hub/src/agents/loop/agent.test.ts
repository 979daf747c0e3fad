import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { A2AError } from '@parley/a2a'
import type { Agent, Artifact, Message, StreamEvent, Struct, Task } from '@parley/a2a'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { testAgent, type TestAgentOptions } from '@parley/a2a/testing'
import { openaiKind } from '../openai/index.ts'
import { testAgentServices } from '../testing/test-agent-services.ts'
import { scriptedModel, type Script, type SeenRequest } from '../testing/scripted-model.ts'
import { loopAgent } from './agent.ts'
import { loopEntry } from './entry.ts'
import type { LoopTool, ToolSource } from './tool.ts'

type Run = NonNullable<LoopTool['run']>

/** Tools that a test defines. */
function tools(runs: Readonly<Record<string, Run | undefined>>, more: Partial<LoopTool> = {}): ToolSource {
  const made = Object.entries(runs).map(([name, run]): LoopTool => ({
    name,
    title: name.toUpperCase(),
    description: name,
    inputSchema: { type: 'object' },
    timeoutMs: 5_000,
    ...(run !== undefined ? { run } : {}),
    ...more,
  }))
  return { label: 'tools of the test', tools: async () => made, skills: async () => [] }
}

const says =
  (text: string): Run =>
  async () => ({ parts: [{ text }] })

interface Bench {
  readonly entry?: object
  readonly sources?: readonly ToolSource[]
  readonly test?: TestAgentOptions
  readonly system?: string
}

async function open(t: TestContext, script: Script, { entry = {}, sources = [], test = {}, system }: Bench = {}) {
  const model = await scriptedModel(script)
  const parts = testAgentServices()
  const gpt = await openaiKind.open(
    openaiKind.schema.parse({ baseUrl: model.url, model: 'scripted', retries: 0 }),
    parts,
  )
  const make = (): Agent =>
    loopAgent(loopEntry.parse({ model: 'gpt', ...entry }), {
      model: () => gpt.model,
      system,
      sources,
      inProcessClient: parts.inProcessClient,
      monotonicNow: () => performance.now(),
    })
  const agent = testAgent(make(), { ...test, server: { log: parts.log } })
  t.after(async () => {
    await agent.close()
    await model.close()
  })
  return { model, agent, lines: parts.lines, make, log: parts.log }
}

/** Calls these tools once, all together, and then answers with their results. */
const callOnce =
  (...calls: { name: string; input?: unknown; id?: string }[]): Script =>
  ({ body }) => {
    const results = resultsIn(body)
    return results.length === 0
      ? { calls: calls.map(({ input = {}, ...call }) => ({ input, ...call })) }
      : { say: results.join(' | ') }
  }
const resultsIn = ({ messages }: SeenRequest['body']) =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []))
const textOf = (artifacts: readonly Artifact[] = []) =>
  artifacts.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('')
const statuses = (events: readonly StreamEvent[]) =>
  events.flatMap((event) => ('statusUpdate' in event ? [event.statusUpdate] : []))
const toolCalls = (events: readonly StreamEvent[]) =>
  statuses(events).flatMap(({ metadata }) =>
    metadata?.['toolCall'] === undefined ? [] : [metadata['toolCall'] as Struct],
  )

describe('a model with tools', () => {
  it('calls them, gets the results and answers; each call is reported', async (t) => {
    const add: Run = async ({ a, b }) => ({ parts: [{ data: { sum: Number(a) + Number(b) } }] })
    const script: Script = (_, count) =>
      count === 1 ? { say: 'Let me see.', calls: [{ name: 'add', input: { a: 1, b: 2 } }], fragments: 4 } : { say: '3' }
    const { model, agent } = await open(t, script, { sources: [tools({ add })], system: 'Be exact.' })
    const events = await agent.stream('1 + 2?').all()
    const { body } = await model.request(2)
    assert.deepEqual(body.messages, [
      { role: 'system', content: 'Be exact.' },
      { role: 'user', content: '1 + 2?' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [{ id: 'call-1', type: 'function', function: { name: 'add', arguments: '{"a":1,"b":2}' } }],
      },
      { role: 'tool', tool_call_id: 'call-1', content: '{"sum":3}' },
    ])
    assert.equal(body.tools?.[0]?.function.name, 'add')
    const [started, ended] = toolCalls(events)
    assert.deepEqual(started, { id: 'call-1', name: 'add', outcome: 'started', arguments: { a: 1, b: 2 } })
    assert.deepEqual([ended?.['outcome'], ended?.['result']], ['succeeded', '{"sum":3}'])
    const last = statuses(events).at(-1)
    assert.equal(last?.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(last.metadata?.['usage'], { inputTokens: 14, outputTokens: 10, totalTokens: 24 })
    assert.equal([last.metadata?.['modelCalls']].flat().length, 2)
    const task = await agent.get(last.taskId)
    assert.equal(textOf(task.artifacts), 'Let me see.\n\n3')
  })

  it('receives in later tasks what it answered, without its steps', async (t) => {
    const { model, agent } = await open(t, callOnce({ name: 'look' }), { sources: [tools({ look: says('rain') })] })
    await agent.send('weather?', { contextId: 'talk' })
    await agent.send('sure?', { contextId: 'talk' })
    assert.deepEqual(
      (await model.request(3)).body.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'weather?'],
        ['assistant', 'rain'],
        ['user', 'sure?'],
      ],
    )
  })

  it('runs several at once, and no more than it may', async (t) => {
    let running = 0
    let most = 0
    const slow: Run = async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 20))
      running -= 1
      return { parts: [{ text: 'ok' }] }
    }
    const calls = Array.from({ length: 5 }, (_, index) => ({ name: 'slow', id: `c${index}` }))
    const { agent } = await open(t, callOnce(...calls), { sources: [tools({ slow })], entry: { parallel: 2 } })
    assert.equal(await agent.ask('go'), 'ok | ok | ok | ok | ok')
    assert.equal(most, 2)
  })

  it('gets the errors of a tool as results; reports do not reveal their details', async (t) => {
    const sources = [
      tools({
        broken: async () => {
          throw new Error('ECONNREFUSED 10.0.0.7')
        },
        refusing: async () => {
          throw new A2AError('AGENT_UNAVAILABLE', 'The library is closed')
        },
        failing: async () => ({ parts: [{ text: 'no such book' }], isError: true }),
      }),
      tools(
        { strict: says('never') },
        { inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } },
      ),
      tools({ slow: () => new Promise(() => {}) }, { timeoutMs: 20 }),
    ]
    const calls = [
      { name: 'broken' },
      { name: 'refusing' },
      { name: 'failing' },
      { name: 'strict' },
      { name: 'strict', input: '{"title":' },
      { name: 'slow' },
      { name: 'missing' },
    ].map((call, index) => ({ ...call, id: `c${index}` }))
    const { agent, model, lines } = await open(t, callOnce(...calls), { sources })
    const events = await agent.stream('go').all()
    const received = resultsIn((await model.request(2)).body)
    const expected = [
      /10\.0\.0\.7/,
      /closed/,
      /no such book/,
      /are invalid/,
      /not a JSON object/,
      /longer than 20 ms/,
      /Unknown tool "missing".*broken/,
    ]
    for (const [index, words] of expected.entries()) assert.match(received[index] ?? '', words)
    const ended = toolCalls(events).filter(({ outcome }) => outcome === 'failed')
    assert.equal(ended.length, 7)
    const seen = JSON.stringify(statuses(events).slice(0, -1))
    assert.match(seen, /The library is closed/)
    assert.doesNotMatch(seen, /10\.0\.0\.7/)
    assert.ok(lines.some(({ fields }) => /10\.0\.0\.7/.test(String(fields?.['cause']))))
  })

  it('ends after too many steps, and reports it', async (t) => {
    const { agent, model } = await open(t, () => ({ say: 'Once more.', calls: [{ name: 'look', input: {} }] }), {
      sources: [tools({ look: says('nothing') })],
      entry: { maxSteps: 3 },
    })
    const task = (await agent.send('go')) as Task
    assert.equal(task.status.state, 'TASK_STATE_FAILED')
    assert.match(JSON.stringify(task.status.message), /within 3 steps/)
    assert.equal(model.requests.length, 3)
    assert.match(textOf(task.artifacts), /Once more/)
  })

  it('gets long results cut, and gives files to the caller', async (t) => {
    const raw = Buffer.from('pixels').toString('base64')
    const sources = [
      tools({
        read: says('x'.repeat(5_000)),
        draw: async () => ({ parts: [{ text: 'Here:' }, { raw, mediaType: 'image/png', filename: 'cat.png' }] }),
      }),
    ]
    const { agent, model } = await open(t, callOnce({ name: 'read', id: 'r' }, { name: 'draw', id: 'd' }), {
      sources,
      entry: { resultLimit: 1_000 },
    })
    const task = (await agent.send('go')) as Task
    const [read, drawn] = resultsIn((await model.request(2)).body)
    assert.match(read ?? '', /^x{1000}\n\[4000 more characters/)
    assert.equal(drawn, 'Here:\n[cat.png: given to the user]')
    const file = task.artifacts?.find(({ name }) => name === 'cat.png')
    assert.deepEqual(file?.parts, [{ raw, mediaType: 'image/png', filename: 'cat.png' }])
  })

  it('keeps the report of a call within bounds', async (t) => {
    const { agent } = await open(t, callOnce({ name: 'read', input: { text: 'y'.repeat(9_000) } }), {
      sources: [tools({ read: says('x'.repeat(9_000)) })],
    })
    const [started, ended] = toolCalls(await agent.stream('go').all())
    assert.ok(String(started?.['arguments']).length < 2_200 && String(ended?.['result']).length < 2_200)
  })

  it('reports the progress of a call at intervals', async (t) => {
    const walk: Run = async (_, { progress }) => {
      for (let step = 1; step <= 50; step += 1) progress(`step ${step}`)
      return { parts: [{ text: 'there' }] }
    }
    const { agent } = await open(t, callOnce({ name: 'walk' }), { sources: [tools({ walk })] })
    const received = statuses(await agent.stream('go').all()).flatMap(({ status, metadata }) =>
      (metadata?.['toolCall'] as Struct | undefined)?.['outcome'] === 'progress' ? [status.message?.parts] : [],
    )
    assert.deepEqual(received, [[{ text: 'WALK: step 1' }]])
  })

  it('may have a tool ask the person, whose time does not count', async (t) => {
    const timeoutMs = 43_210
    const { setTimeout: realSetTimeout, clearTimeout: realClearTimeout } = globalThis
    const timers = new Set<unknown>()
    t.mock.method(globalThis, 'setTimeout', (run: () => void, ms?: number, ...rest: []) => {
      const timer = realSetTimeout(run, ms, ...rest)
      if (ms === timeoutMs) timers.add(timer)
      return timer
    })
    t.mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout | undefined) => {
      timers.delete(timer)
      realClearTimeout(timer)
    })
    const visit: Run = async (_, { ask }) => {
      assert.equal(timers.size, 1)
      const { parts } = await ask({ parts: [{ text: 'Which city?' }] })
      return { parts }
    }
    const sources = [tools({ visit }, { timeoutMs })]
    const { agent } = await open(t, callOnce({ name: 'visit' }), { sources })
    const asked = (await agent.send('go')) as Task
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal(timers.size, 0)
    const task = (await agent.send('Lisbon', { taskId: asked.id })) as Task
    assert.deepEqual([task.status.state, textOf(task.artifacts)], ['TASK_STATE_COMPLETED', 'Lisbon'])
  })

  it('continues without tools that cannot be reached, and is informed of it', async (t) => {
    const down: ToolSource = {
      label: 'a server',
      tools: () => Promise.reject(new Error('connect ECONNREFUSED')),
      skills: async () => [],
    }
    const { model, agent, lines } = await open(t, () => ({ say: 'Sorry' }), {
      sources: [down, tools({ look: says('x') })],
    })
    assert.equal(await agent.ask('go'), 'Sorry')
    const { body } = await model.request(1)
    assert.match(String(body.messages[0]?.content), /are unavailable now/)
    assert.equal(body.tools?.length, 1)
    assert.ok(lines.some(({ message }) => message === 'tools cannot be reached'))
  })

  it('fails if its model does not exist', async (t) => {
    const entry = loopEntry.parse({ model: 'gone' })
    const agent = testAgent(
      loopAgent(entry, {
        model: () => undefined,
        system: undefined,
        sources: [],
        inProcessClient: testAgentServices().inProcessClient,
        monotonicNow: () => performance.now(),
      }),
      {
        server: { log: testAgentServices().log },
      },
    )
    t.after(() => agent.close())
    const { status } = (await agent.send('go')) as Task
    assert.equal(status.state, 'TASK_STATE_FAILED')
  })

  it('takes pictures, and still has them when the task goes on', async (t) => {
    const picture = { raw: Buffer.from('pixels').toString('base64'), mediaType: 'image/png' }
    const visit: LoopTool['run'] = undefined
    const script: Script = ({ body }) =>
      resultsIn(body).length === 0 ? { calls: [{ name: 'camera', input: {} }] } : { say: 'Both are cats' }
    const { model, agent } = await open(t, script, { sources: [tools({ camera: visit })] })
    const asked = (await agent.send([{ text: 'Compare' }, picture])) as Task
    await agent.send('I have none', { taskId: asked.id })
    const { messages } = (await model.request(2)).body
    assert.match(JSON.stringify(messages[0]?.content), /image_url/)
    assert.deepEqual(messages.at(-1), { role: 'user', content: 'I have none' })
    assert.equal(messages.at(-2)?.content, 'The client has not run this tool.')
  })
})

describe('a loop that was interrupted', () => {
  /** The first tool is done; the second is running when the process dies. */
  it('goes on from where it was: nothing is run twice, and what is not known is said', async (t) => {
    const ran: string[] = []
    const began = Promise.withResolvers<void>()
    const sources = [
      tools({
        pay: async () => {
          ran.push('pay')
          return { parts: [{ text: 'paid' }] }
        },
        ship: () => {
          ran.push('ship')
          began.resolve()
          return new Promise(() => {})
        },
      }),
    ]
    const script: Script = ({ body }) => {
      const results = resultsIn(body)
      if (results.length === 0) return { say: 'Paying.', calls: [{ name: 'pay', input: {}, id: 'p' }] }
      if (results.length === 1) return { say: 'Shipping.', calls: [{ name: 'ship', input: {}, id: 's' }] }
      return { say: 'I do not know whether it was shipped.' }
    }
    const folder = mkdtempSync(join(tmpdir(), 'parley-loop-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'tasks.db')
    const { model, agent, make, log } = await open(t, script, { sources, test: { store: sqliteStore(file) } })
    const { id } = (await agent.send('order', { returnImmediately: true })) as Task
    await began.promise
    await agent.close()
    const again = testAgent(make(), { store: sqliteStore(file), server: { log } })
    t.after(() => again.close())
    const events = await again.subscribe(id).all()
    const task = await again.get(id)
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(ran, ['pay', 'ship'])
    assert.equal(model.requests.length, 3)
    const results = resultsIn((await model.request(3)).body)
    assert.equal(results[0], 'paid')
    assert.match(results[1] ?? '', /unknown/)
    assert.equal(textOf(task.artifacts), 'Paying.\n\nShipping.\n\nI do not know whether it was shipped.')
    const outcomes = [...toolCalls(events), ...((task.history ?? []) as Message[])]
    assert.ok(JSON.stringify(outcomes).includes('outcome unknown'))
  })
})
