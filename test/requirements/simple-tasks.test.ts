/** The simple module, inbound: the scenarios and invariants of its document, with its names and values. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { A2AError } from '@parley/a2a'
import { clearTaskStore, handleTaskGet, handleTaskSend, NotFoundError, ValidationError } from '@parley/a2a/simple'
import type { A2AMessage, A2ATask, A2ATaskDeps, A2ATaskSendRequest, A2ATaskState } from '@parley/a2a/simple'
import { ada, Database, depsOf, edsger, grace, ProcessManager } from './simple-sessions.ts'

afterEach(clearTaskStore)

const said = (role: A2AMessage['role'], text: string): A2AMessage => ({ role, parts: [{ type: 'text', text }] })

function open(...agents: (typeof ada)[]) {
  const db = new Database(...agents)
  const processManager = new ProcessManager()
  return { db, processManager, deps: depsOf(db, processManager) }
}

/** Time as the module and its engine see it. Everything due has happened when `advance` resolves. */
function stopTheClock(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse('2026-02-26T10:00:00Z') })
  let elapsed = 0
  // Whole: a sum with a fraction is rounded, and a timer then comes a step later.
  const from = Math.round(performance.now())
  t.mock.method(performance, 'now', () => from + elapsed)
  const delays: (number | undefined)[] = []
  const { setTimeout } = globalThis
  t.mock.method(globalThis, 'setTimeout', (run: () => void, ms?: number) => {
    delays.push(ms)
    return setTimeout(run, ms)
  })
  return {
    /** The engine opens a task in real time, and its deadline has no timer before. */
    async timerOf(ms: number): Promise<void> {
      while (!delays.includes(ms)) await nextTurn()
    },
    async advance(ms: number): Promise<void> {
      for (const end = elapsed + ms; elapsed < end;) {
        const step = Math.min(50, end - elapsed)
        elapsed += step
        t.mock.timers.tick(step)
        await nextTurn()
      }
    },
  }
}

describe('Scenario: Inbound task lifecycle', () => {
  it('creates a task, works after session creation, appends assistant output and completes [S0-1 S0-2 S0-3 S0-6 S0-12 S0-16 S0-29]', () => {
    const { db, processManager, deps } = open(grace)
    const states: A2ATaskState[] = []
    const task: A2ATask = handleTaskSend(deps, { message: 'Hello' })
    states.push(task.state)
    assert.deepEqual(db.sessions, [
      { id: 's1', agentId: 'a2', projectId: 'p1', source: 'agent', initialPrompt: 'Hello' },
    ])
    assert.deepEqual(processManager.started, [{ session: db.sessions[0], prompt: 'Hello' }])
    assert.equal(task.sessionId, 's1')
    assert.deepEqual(task.messages, [said('user', 'Hello')])

    processManager.emit('s1', { type: 'assistant', content: 'Hi there' })
    assert.deepEqual(handleTaskGet(task.id)?.messages, [said('user', 'Hello'), said('agent', 'Hi there')])
    states.push(task.state)

    processManager.emit('s1', { type: 'session_exited' })
    states.push(task.state)
    assert.deepEqual(states, ['working', 'working', 'completed'])
    assert.equal(handleTaskGet(task.id)?.state, 'completed')
  })

  it('is submitted until the session exists, and is not created if none can be [S0-3 S0-6 S0-29]', () => {
    const { deps, processManager } = open(grace)
    const failing: A2ATaskDeps = {
      ...deps,
      createSession() {
        throw new Error('the disk is full')
      },
    }
    assert.throws(() => handleTaskSend(failing, { message: 'Hello' }), /the disk is full/)
    assert.deepEqual(processManager.started, [])
  })

  it('reads assistant output in blocks, and the body in its envelope [S0-4 S0-6]', () => {
    const { db, processManager, deps } = open(grace)
    const body: A2ATaskSendRequest = { method: 'tasks/send', params: { message: 'Hello', skill: 'greet' } }
    const task = handleTaskSend(deps, body)
    const content = [{ type: 'text', text: 'Hi ' }, { type: 'thinking' }, { type: 'text', text: 'there' }]
    processManager.emit('s1', { type: 'assistant', message: { role: 'assistant', content } })
    processManager.emit('s1', { type: 'assistant', message: { content: [] } })
    processManager.emit('s1', { type: 'tool_use', content: 'not said' })
    assert.deepEqual(task.messages, [said('user', 'Hello'), said('agent', 'Hi there')])
    assert.equal(db.sessions[0]?.initialPrompt, 'Hello')
  })

  it('uses the database for dependencies that are not passed [S0-6]', () => {
    const { db, processManager, deps } = open(grace)
    const own = {
      listAgents: () => db.agents,
      createSession: (input: Parameters<NonNullable<typeof deps.createSession>>[1]) => deps.createSession!(db, input),
    }
    assert.equal(handleTaskSend({ db: own, processManager }, { message: 'Hello' }).sessionId, 's1')
    assert.throws(() => handleTaskSend({ db, processManager }, { message: 'Hello' }), /^ValidationError: listAgents/)
  })

  it('has one message for each assistant event, and updatedAt moves with each [S0-3]', async (t) => {
    const clock = stopTheClock(t)
    const { processManager, deps } = open(grace)
    const task = handleTaskSend(deps, { message: 'Hello' })
    const at: string[] = [task.createdAt, task.updatedAt]
    for (const content of ['One', 'Two', 'Three']) {
      await clock.advance(1_000)
      processManager.emit('s1', { type: 'assistant', content })
      at.push(task.updatedAt)
    }
    await clock.advance(1_000)
    processManager.emit('s1', { type: 'session_stopped' })
    at.push(task.updatedAt)
    const seconds = [0, 0, 1, 2, 3, 4].map((second) => `2026-02-26T10:00:0${second}.000Z`)
    assert.deepEqual(at, seconds)
    assert.deepEqual(
      task.messages.map(({ parts }) => parts[0]?.text),
      ['Hello', 'One', 'Two', 'Three'],
    )
    assert.equal(task.state, 'completed')
  })
})

describe('Scenario: Inbound task timeout', () => {
  it('fails with "Task timed out" when 5 seconds elapse without a session exit event [S0-20 S0-30]', async (t) => {
    const clock = stopTheClock(t)
    const { processManager, deps } = open(grace)
    const task = handleTaskSend(deps, { message: 'Hello', timeoutMs: 5000 })
    await clock.timerOf(5_000)
    await clock.advance(4_950)
    assert.equal(task.state, 'working')
    await clock.advance(100)
    assert.equal(task.state, 'failed')
    assert.deepEqual(task.messages, [said('user', 'Hello'), said('agent', 'Task timed out')])
    assert.equal(processManager.listeners('s1'), 0)
    processManager.emit('s1', { type: 'session_exited' })
    assert.equal(task.state, 'failed', 'states only move forward')
  })

  it('has a default limit of five minutes [S0-20]', async (t) => {
    const clock = stopTheClock(t)
    const { deps } = open(grace)
    const task = handleTaskSend(deps, { message: 'Hello' })
    await clock.timerOf(300_000)
    await clock.advance(299_900)
    assert.equal(task.state, 'working')
    await clock.advance(200)
    assert.equal(task.state, 'failed')
  })

  it('is cleared on session exit and on error: there is no second transition [S0-15 S0-16 S0-21]', async (t) => {
    const clock = stopTheClock(t)
    const { processManager, deps } = open(grace)
    const exited = handleTaskSend(deps, { message: 'Hello', timeoutMs: 5000 })
    const failed = handleTaskSend(deps, { message: 'Hello', timeoutMs: 5000 })
    await clock.advance(1_000)
    processManager.emit('s1', { type: 'session_exited' })
    processManager.emit('s2', { type: 'error', error: { message: 'It broke' } })
    const before = structuredClone([exited, failed])
    assert.deepEqual(
      before.map(({ state }) => state),
      ['completed', 'failed'],
    )
    assert.deepEqual(failed.messages.at(-1), said('agent', 'It broke'))
    await clock.advance(10_000)
    for (const type of ['assistant', 'error', 'session_stopped']) {
      processManager.emit('s1', { type, content: 'Late' })
      processManager.emit('s2', { type, content: 'Late' })
    }
    assert.deepEqual([exited, failed], before)
  })
})

describe('A process manager that fails', () => {
  const failure = new Error('spawn failed')
  const ways = {
    'at once': () => {
      throw failure
    },
    later: () => Promise.reject(failure),
  }

  for (const [when, failing] of Object.entries(ways)) {
    for (const method of ['startProcess', 'subscribe'] as const) {
      it(`in ${method} ${when} fails the task and is unsubscribed [S0-16 S0-34]`, async () => {
        const { processManager, deps } = open(grace)
        const own = processManager[method].bind(processManager) as (...given: unknown[]) => void
        const failingToo = (...given: unknown[]): unknown => {
          own(...given)
          return failing()
        }
        Object.assign(processManager, { [method]: failingToo })
        const task = handleTaskSend(deps, { message: 'Hello' })
        await nextTurn()
        assert.equal(handleTaskGet(task.id), task)
        assert.deepEqual([task.state, task.messages.at(-1)], ['failed', said('agent', 'spawn failed')])
        assert.equal(processManager.listeners('s1'), 0)
        const isStarted = method === 'startProcess' || when === 'later'
        assert.equal(processManager.started.length, isStarted ? 1 : 0)
      })
    }

    it(`in unsubscribe ${when} keeps the final state of the task`, async () => {
      const { processManager, deps } = open(grace)
      Object.assign(processManager, { unsubscribe: failing })
      const task = handleTaskSend(deps, { message: 'Hello' })
      processManager.emit('s1', { type: 'session_exited' })
      await nextTurn()
      assert.equal(task.state, 'completed')
    })
  }

  it('is unsubscribed from once it has subscribed', async () => {
    const { processManager, deps } = open(grace)
    const subscribe = processManager.subscribe.bind(processManager)
    const { promise, resolve } = Promise.withResolvers<void>()
    const subscribeLater = (...given: Parameters<typeof subscribe>): unknown => promise.then(() => subscribe(...given))
    Object.assign(processManager, { subscribe: subscribeLater, startProcess: ways['at once'] })
    const task = handleTaskSend(deps, { message: 'Hello' })
    assert.equal(task.state, 'failed')
    resolve()
    await nextTurn()
    assert.equal(processManager.listeners('s1'), 0)
  })
})

describe('Scenario: No suitable agent for inbound task', () => {
  it("throws NotFoundError('Agent with default project') [S0-17 S0-33]", () => {
    const { deps, processManager } = open(ada)
    assert.throws(() => handleTaskSend(deps, { message: 'Hello' }), new NotFoundError('Agent with default project'))
    assert.throws(
      () => handleTaskSend(deps, { message: 'Hello' }),
      (error) => error instanceof NotFoundError && error instanceof A2AError && error.code === 'AGENT_UNAVAILABLE',
    )
    assert.deepEqual(processManager.started, [])
  })

  it('selects the first agent with defaultProjectId [S0-17]', () => {
    const { db, deps } = open(ada, grace, edsger)
    handleTaskSend(deps, { message: 'Hello' })
    assert.equal(db.sessions[0]?.agentId, 'a2')
  })

  it('refuses an invalid submission with a ValidationError that names the field', () => {
    const { deps } = open(grace)
    for (const body of [{}, { message: '' }, { message: 7 }, { message: 'x', timeoutMs: 0 }, { params: {} }, null]) {
      assert.throws(
        () => handleTaskSend(deps, body as never),
        (error) =>
          error instanceof ValidationError && error.code === 'INVALID_PARAMS' && error.details.violations?.length === 1,
        JSON.stringify(body),
      )
    }
  })
})

describe('The task store', () => {
  it('finds a task by its id alone, and clears all on request [S0-10 S0-13]', () => {
    const { processManager, deps } = open(grace)
    const task = handleTaskSend(deps, { message: 'Hello' })
    assert.equal(handleTaskGet(task.id), task)
    assert.equal(handleTaskGet('unknown'), null)
    clearTaskStore()
    assert.equal(handleTaskGet(task.id), null)
    processManager.emit('s1', { type: 'session_exited' })
    assert.equal(task.state, 'completed', 'what a caller holds goes on with its session')
  })

  it('keeps 1000 tasks, removes 100 of the oldest finished ones beyond that, and never an active one [S0-18 S0-19]', () => {
    const { processManager, deps } = open(grace)
    const send = (count: number): A2ATask[] =>
      Array.from({ length: count }, () => handleTaskSend(deps, { message: 'x' }))
    const [active] = send(1)
    const tasks = send(999)
    for (const { sessionId } of tasks.slice(0, 150)) processManager.emit(sessionId, { type: 'session_exited' })
    const isKept = ({ id }: A2ATask): boolean => handleTaskGet(id) !== null
    assert.ok(tasks.every(isKept))
    send(1)
    assert.equal(tasks.findIndex(isKept), 100)
    assert.ok(tasks.slice(100).every(isKept))
    assert.ok(isKept(active!))
    send(200)
    assert.equal(tasks.findIndex(isKept), 150, 'only the finished ones are eligible')
    assert.ok(isKept(active!))
  })
})
