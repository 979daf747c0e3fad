/** Agents of one hub call one another: real tasks, on behalf of the first caller and within its permissions. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { A2AError, memoryStore, type Agent, type Caller, type StreamEvent, type Task, type Turn } from '@parley/a2a'
import type { HandlerCall } from '@parley/a2a/internal'
import { createHandler, type AgentSettings, type Handler } from '@parley/a2a/server'
import type { InProcessClient } from '../agents/kind.ts'
import { createTestDelegation } from './testing/test-delegation.ts'
import { createInProcessClient, type InProcessClientDeps } from './in-process-client.ts'

interface Scene {
  readonly handler: Handler
  call(agent: string, text: string, caller?: Caller): Promise<Task>
}

/** `make` gets the in-process client of each agent, by its name. */
async function scene(
  t: TestContext,
  make: (inProcessClient: (name: string) => InProcessClient) => Record<string, AgentSettings | Agent>,
  parts: Partial<InProcessClientDeps> = {},
): Promise<Scene> {
  const started = Promise.withResolvers<HandlerCall>()
  const all: Record<string, AgentSettings> = {}
  const given: InProcessClientDeps = {
    handlerCall: () => started.promise,
    names: () => Object.keys(all),
    delegation: await createTestDelegation(),
    settings: (name) => all[name],
    requireOpen: () => {},
    permissionFor: () => ({}),
    countCall: () => {},
    url: (name) => `http://hub.example.com/a2a/${name}`,
    idempotencyWindowMs: () => 86_400_000,
    now: Date.now,
    ...parts,
  }
  for (const [name, one] of Object.entries(make((name) => createInProcessClient(given, name)))) {
    all[name] = typeof one === 'object' && 'agent' in one ? one : { agent: one }
  }
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const made = createHandler({ store: memoryStore(), agents: all, log })
  started.resolve(made.call)
  t.after(() => made.close())
  return {
    handler: made,
    async call(agent, text, caller = { id: 'me' }) {
      await made.ready
      const { signal } = new AbortController()
      const request = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } } as const
      const context = { agent, tenant: '', caller, signal, extensions: [], canListTasks: true }
      const answer = await made.engine.sendMessage(request, context)
      assert.ok('task' in answer)
      return answer.task
    },
  }
}

async function tell(
  inProcessClient: InProcessClient,
  agent: string,
  turn: Turn,
  text = turn.text,
  more: object = {},
): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of inProcessClient.stream({ agent, turn, message: { parts: [{ text }] }, ...more }))
    events.push(event)
  const last = events.at(-1)
  if (last === undefined || !('statusUpdate' in last)) return events
  const { status, metadata } = last.statusUpdate
  if (status.state === 'TASK_STATE_FAILED')
    throw new A2AError('TASK_FAILED', 'failed', { reason: String(metadata?.['reason']) })
  return events
}

const said = (events: readonly StreamEvent[]): string =>
  events
    .flatMap((event) => ('artifactUpdate' in event ? event.artifactUpdate.artifact.parts : []))
    .map((part) => ('text' in part ? part.text : ''))
    .join('')
const taskIn = (events: readonly StreamEvent[]): Task => {
  const [first] = events
  assert.ok(first !== undefined && 'task' in first)
  return first.task
}
const shownIn = ({ artifacts = [] }: Task): string =>
  artifacts
    .flatMap(({ parts }) => parts)
    .map((part) => ('text' in part ? part.text : ''))
    .join('')

describe('an in-process call', () => {
  it('is a task of the other agent that refers to the task it is for [S2-12 S4-21]', async (t) => {
    let seen: Turn | undefined
    const { call } = await scene(t, (inProcessClient) => ({
      front: async (turn) => `heard ${said(await tell(inProcessClient('front'), 'back', turn))}`,
      back(turn) {
        seen = turn
        return turn.text.toUpperCase()
      },
    }))
    const task = await call('front', 'hello')
    assert.equal(shownIn(task), 'heard HELLO')
    assert.deepEqual(seen?.message.referenceTaskIds, [task.id])
    assert.notEqual(seen?.task.id, task.id)
  })

  it('belongs to the agent that calls, on behalf of its caller: neither of them alone finds it', async (t) => {
    let child: Task | undefined
    const { call, handler } = await scene(t, (inProcessClient) => ({
      async front(turn) {
        child = taskIn(await tell(inProcessClient('front'), 'back', turn))
        return 'ok'
      },
      back: ({ caller }) => caller.id,
    }))
    await call('front', 'x', { id: 'key:anna', scopes: ['agent:*'] })
    const { signal } = new AbortController()
    const as = (id: string) => ({
      agent: 'back',
      tenant: '',
      caller: { id },
      signal,
      extensions: [],
      canListTasks: true,
    })
    const find = (id: string): Promise<Task> => handler.engine.getTask({ id: child?.id ?? '' }, as(id))
    assert.equal(shownIn(await find('agent:front|key:anna')), 'agent:front|key:anna')
    for (const other of ['key:anna', 'agent:front|key:bert', 'agent:other|key:anna', 'anonymous']) {
      await assert.rejects(() => find(other), { code: 'TASK_NOT_FOUND' })
    }
  })

  it('goes as far as the rights of the first caller, through agents in between', async (t) => {
    const asked: [string, string, readonly string[] | undefined][] = []
    const { call } = await scene(
      t,
      (inProcessClient) => ({
        a: async (turn) => said(await tell(inProcessClient('a'), 'b', turn)),
        b: async (turn) => said(await tell(inProcessClient('b'), 'c', turn)),
        c: () => 'secret',
      }),
      {
        permissionFor({ id, scopes }, agent) {
          asked.push([id, agent, scopes])
          return scopes?.includes(`agent:${agent}`) === true ? {} : undefined
        },
      },
    )
    const scopes = ['agent:a', 'agent:b']
    await assert.rejects(() => call('a', 'x', { id: 'me', scopes }), { details: { reason: 'AGENT_UNAVAILABLE' } })
    assert.deepEqual(asked, [
      ['me', 'b', scopes],
      ['agent:a|me', 'c', scopes],
    ])
    assert.equal(shownIn(await call('a', 'x', { id: 'me', scopes: [...scopes, 'agent:c'] })), 'secret')
  })

  it('holds callers to the skills they may use', async (t) => {
    const { call } = await scene(
      t,
      (inProcessClient) => ({
        a: async (turn) =>
          said(
            await tell(inProcessClient('a'), 'b', turn, 'x', {
              message: { parts: [{ text: 'x' }], metadata: { skillId: turn.text } },
            }),
          ),
        b: () => 'done',
      }),
      { permissionFor: () => ({ skills: ['read'] }) },
    )
    assert.equal(shownIn(await call('a', 'read')), 'done')
    await assert.rejects(() => call('a', 'write'), { code: 'PERMISSION_DENIED' })
  })

  it('that was sent before is sent again within the window, and never after it [B-163]', async (t) => {
    const messageId = crypto.randomUUID()
    let runs = 0
    const { call } = await scene(
      t,
      (inProcessClient) => ({
        front: async (turn) =>
          said(await tell(inProcessClient('front'), 'back', turn, 'x', { messageId, sentAt: Number(turn.text) })),
        back: () => String((runs += 1)),
      }),
      { idempotencyWindowMs: () => 5_000, now: () => 10_000 },
    )
    assert.equal(shownIn(await call('front', '10000')), '1')
    assert.equal(shownIn(await call('front', '5001')), '2', 'of another task: its message refers to that one')
    await assert.rejects(() => call('front', '5000'), { code: 'TASK_FAILED', details: { reason: 'INTERRUPTED' } })
    assert.equal(runs, 2)
  })

  it('opens one task where the hub recognises no repeats and the other agent does not stream', async (t) => {
    let runs = 0
    const go = Promise.withResolvers<void>()
    const { call } = await scene(
      t,
      (inProcessClient) => ({
        async front(turn) {
          const states: string[] = []
          for await (const event of inProcessClient('front').stream({
            agent: 'back',
            turn,
            message: { parts: [{ text: 'x' }] },
          })) {
            if ('task' in event) states.push(event.task.status.state)
            go.resolve()
          }
          return states.at(-1) ?? ''
        },
        back: {
          streaming: false,
          idempotency: 'off',
          async agent() {
            runs += 1
            await go.promise
            return 'done'
          },
        },
      }),
      { idempotencyWindowMs: () => 0 },
    )
    assert.equal(shownIn(await call('front', 'x')), 'TASK_STATE_COMPLETED')
    assert.equal(runs, 1)
  })

  it('does not go in circles, and not through more agents than may be', async (t) => {
    const begun: string[] = []
    const onward =
      (name: string, to: string) =>
      (inProcessClient: (name: string) => InProcessClient): Agent =>
      async (turn) => {
        begun.push(name)
        return said(await tell(inProcessClient(name), to, turn))
      }
    const { call } = await scene(t, (inProcessClient) => ({
      a: onward('a', 'b')(inProcessClient),
      b: onward('b', 'a')(inProcessClient),
    }))
    await assert.rejects(() => call('a', 'x'), { details: { reason: 'DELEGATION_LOOP' } })
    assert.deepEqual(begun.splice(0), ['a', 'b'])

    const chain = Array.from({ length: 11 }, (_, index) => `a${index}`)
    const { call: callChain } = await scene(t, (inProcessClient) =>
      Object.fromEntries(chain.map((name, index) => [name, onward(name, chain[index + 1] ?? 'a0')(inProcessClient)])),
    )
    await assert.rejects(() => callChain('a0', 'x'), { details: { reason: 'DELEGATION_DEPTH' } })
    assert.deepEqual(begun, chain.slice(0, 9))
  })

  it('goes on with a task that asked back, and can be canceled', async (t) => {
    const states: string[] = []
    const { call } = await scene(t, (inProcessClient) => ({
      async front(turn) {
        const task = taskIn(await tell(inProcessClient('front'), 'asking', turn))
        states.push(said(await tell(inProcessClient('front'), 'asking', turn, 'Rome', { taskId: task.id })))
        const started = inProcessClient('front').stream({ agent: 'endless', turn, message: { parts: [{ text: 'x' }] } })
        for await (const event of started) {
          if (!('task' in event)) continue
          states.push((await inProcessClient('front').cancel('endless', event.task.id, turn)).status.state)
        }
        return 'ok'
      },
      asking: async (turn) =>
        (await turn.history()).length < 2
          ? { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Where?' }
          : `to ${turn.text}`,
      endless: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    }))
    await call('front', 'x')
    assert.deepEqual(states, ['to Rome', 'TASK_STATE_CANCELED'])
  })

  it('works with agents that do not stream', async (t) => {
    const { call } = await scene(t, (inProcessClient) => ({
      front: async (turn) => shownIn(taskIn(await tell(inProcessClient('front'), 'plain', turn))),
      plain: { agent: () => 'all at once', streaming: false },
    }))
    assert.equal(shownIn(await call('front', 'x')), 'all at once')
  })

  it('shows the card of an agent that the caller may use, and none of others', async (t) => {
    let cards: unknown[] = []
    const { call } = await scene(
      t,
      (inProcessClient) => ({
        async front(turn) {
          cards = [
            await inProcessClient('front').card('back', turn),
            await inProcessClient('front').card('hidden', turn),
            await inProcessClient('front').card('none', turn),
          ]
          return 'ok'
        },
        back: {
          agent: () => 'x',
          description: 'Helps',
          skills: [{ id: 's', name: 'S', description: 'd', tags: ['t'] }],
        },
        hidden: () => 'x',
      }),
      { permissionFor: (_, agent) => (agent === 'hidden' ? undefined : {}) },
    )
    await call('front', 'x')
    const [back, hidden, none] = cards as [{ description: string; skills: unknown[] }, unknown, unknown]
    assert.deepEqual([back.description, back.skills.length, hidden, none], ['Helps', 1, undefined, undefined])
  })

  it('is refused for an agent that does not exist, and for one that is not open', async (t) => {
    const failures: unknown[] = []
    const { call } = await scene(
      t,
      (inProcessClient) => ({
        async front(turn) {
          for (const agent of ['none', 'back']) {
            await tell(inProcessClient('front'), agent, turn).catch((reason: { code: string }) =>
              failures.push(reason.code),
            )
          }
          return 'ok'
        },
        back: () => 'x',
      }),
      {
        requireOpen() {
          throw Object.assign(new Error('down'), { code: 'AGENT_UNAVAILABLE' })
        },
      },
    )
    await call('front', 'x')
    assert.deepEqual(failures, ['AGENT_UNAVAILABLE', 'AGENT_UNAVAILABLE'])
  })
})
