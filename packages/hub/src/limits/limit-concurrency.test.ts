import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { inputRequired, type Agent, type Report, type Task, type Turn } from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { testAgent, type TestAgent, type TestAgentOptions } from '@parley/a2a/testing'
import { type ConcurrencyOptions, limitConcurrency } from './limit-concurrency.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const opened: TestAgent[] = []
after(async () => {
  for (const agent of opened) await agent.close()
})

function open(agent: Agent, options: TestAgentOptions = {}): TestAgent {
  const people = {
    log: quiet,
    authenticate: ({ header }: { header(name: string): string | undefined }) => ({ id: header('x-who') ?? 'ann' }),
  }
  const tested = testAgent(agent, { cancelGraceMs: 100, server: people, ...options })
  opened.push(tested)
  return tested
}

interface Bench {
  readonly agent: Agent
  readonly running: readonly string[]
  readonly begun: readonly string[]
  most(): number
  /** Resolves when this many turns have begun in total. */
  beganAll(count: number): Promise<void>
  finish(text: string): void
}

/** An agent that works on each message until the test completes it. */
function bench(options: ConcurrencyOptions): Bench {
  const running: string[] = []
  const begun: string[] = []
  const done = new Map<string, () => void>()
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  let most = 0
  async function* run({ text, signal }: Turn): AsyncGenerator<Report> {
    running.push(text)
    begun.push(text)
    most = Math.max(most, running.length)
    for (const { count, resolve } of waiting) if (begun.length >= count) resolve()
    try {
      await new Promise<void>((resolve, reject) => {
        done.set(text, resolve)
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
      yield `did ${text}`
    } finally {
      running.splice(running.indexOf(text), 1)
    }
  }
  return {
    agent: limitConcurrency({ resume: 'rerun', run }, options),
    running,
    begun,
    most: () => most,
    beganAll: (count) =>
      new Promise((resolve) => (begun.length >= count ? resolve() : waiting.push({ count, resolve }))),
    finish: (text) => done.get(text)?.(),
  }
}

const textOf = ({ artifacts = [] }: Task): string =>
  artifacts.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('')

describe('an agent with a limit of concurrency', () => {
  it('works on so many turns at one time, callers in turn, and does them all', async () => {
    const work = bench({ concurrent: 2 })
    const agent = open(work.agent)
    const send = (who: string, text: string): Promise<unknown> =>
      agent.wire.call(
        'SendMessage',
        { message: { messageId: text, role: 'ROLE_USER', parts: [{ text }] } },
        { headers: { 'x-who': who } },
      )
    const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1'].map((text) => send(text.slice(0, 1), text))
    for (let count = 2; count <= 7; count++) {
      await work.beganAll(count)
      if (count < 7) work.finish(work.running[0] as string)
    }
    for (const text of [...work.running]) work.finish(text)
    for (const answer of (await Promise.all(all)) as { task: Task }[]) assert.match(textOf(answer.task), /^did/)
    assert.equal(work.most(), 2)
    assert.deepEqual(work.begun, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'a5'])
  })

  it('says that a turn waits only if it waits noticeably', async () => {
    const work = bench({ concurrent: 1, noticeMs: 20 })
    const agent = open(work.agent)
    const first = agent.send('first')
    await work.beganAll(1)
    const stream = agent.stream('second')[Symbol.asyncIterator]()
    const seen: string[] = []
    for (let next = await stream.next(); next.done !== true; next = await stream.next()) {
      const event = next.value
      const said = 'statusUpdate' in event ? event.statusUpdate.status.message?.parts[0] : undefined
      if (said !== undefined && 'text' in said) {
        seen.push(said.text)
        work.finish('first')
        await work.beganAll(2)
        work.finish('second')
      }
    }
    assert.deepEqual(seen, ['Waiting: the agent is busy with other tasks'])
    assert.equal(textOf((await first) as Task), 'did first')
    const quick = bench({ concurrent: 1 })
    const other = open(quick.agent)
    const one = other.send('one')
    await quick.beganAll(1)
    const two = other.stream('two').all()
    quick.finish('one')
    await quick.beganAll(2)
    quick.finish('two')
    await one
    assert.doesNotMatch(JSON.stringify(await two), /Waiting/)
  })

  it('turns away a new message with 503 and Retry-After when the queue is full', async () => {
    const work = bench({ concurrent: 1, queue: 1 })
    const agent = open(work.agent)
    const [first, second] = [agent.send('first'), agent.send('second')]
    await work.beganAll(1)
    const body = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'third' }] } }
    const response = await agent.fetch(
      new Request('http://agent.test/message:send', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify(body),
      }),
    )
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '5'])
    assert.match(await response.text(), /busy/)
    work.finish('first')
    await work.beganAll(2)
    work.finish('second')
    await Promise.all([first, second])
    assert.deepEqual(work.begun, ['first', 'second'])
  })

  it('gives up on a new message that waited for too long', async () => {
    const work = bench({ concurrent: 1, queueTimeoutMs: 10 })
    const agent = open(work.agent)
    const first = agent.send('first')
    await work.beganAll(1)
    await assert.rejects(agent.send('second'), { code: 'AGENT_UNAVAILABLE' })
    work.finish('first')
    await first
  })

  it('drops a turn that is canceled while it waits', async () => {
    const work = bench({ concurrent: 1 })
    const agent = open(work.agent)
    const first = agent.send('first')
    await work.beganAll(1)
    const second = (await agent.send('second', { returnImmediately: true })) as Task
    assert.equal((await agent.cancel(second.id)).status.state, 'TASK_STATE_CANCELED')
    const third = agent.send('third')
    work.finish('first')
    await work.beganAll(2)
    work.finish('third')
    await Promise.all([first, third])
    assert.deepEqual(work.begun, ['first', 'third'])
  })

  it('has its place back from a turn that is canceled or fails while it runs', async () => {
    const work = bench({ concurrent: 1 })
    const agent = open(work.agent)
    const first = (await agent.send('first', { returnImmediately: true })) as Task
    await work.beganAll(1)
    await agent.cancel(first.id)
    const second = agent.send('second')
    await work.beganAll(2)
    work.finish('second')
    await second
    const failing = open(
      limitConcurrency(
        ({ text }) => {
          if (text === 'throw') throw new Error('no')
          if (text === 'reject') return Promise.reject(new Error('no'))
          return text
        },
        { concurrent: 1, queueTimeoutMs: 5_000 },
      ),
    )
    for (const text of ['throw', 'reject', 'throw']) await failing.send(text)
    assert.equal(await failing.ask('well'), 'well')
  })

  it('never turns away what goes on with a task', async () => {
    const done = Promise.withResolvers<void>()
    const agent = open(
      limitConcurrency(
        async function* ({ text }) {
          if (text === 'question') yield inputRequired('Which?')
          else if (text === 'long') await done.promise
          yield `did ${text}`
        },
        { concurrent: 1, queue: 0 },
      ),
    )
    const asked = (await agent.send('question')) as Task
    const long = agent.send('long')
    await assert.rejects(agent.send('new'), { code: 'AGENT_UNAVAILABLE' })
    const answer = agent.send('that one', { taskId: asked.id })
    done.resolve()
    assert.equal(textOf((await answer) as Task), 'did that one')
    await long
  })

  it('gives its place to others while it waits for an answer', async () => {
    const agent = open(
      limitConcurrency(async (turn) => (turn.text === 'ask' ? `you said ${await turn.ask('What?')}` : turn.text), {
        concurrent: 1,
        queue: 0,
      }),
    )
    const asking = (await agent.send('ask')) as Task
    assert.equal(asking.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal(await agent.ask('hello'), 'hello')
    assert.equal(textOf((await agent.send('yes', { taskId: asking.id })) as Task), 'you said yes')
    assert.equal(await agent.ask('hello again'), 'hello again')
  })

  it('says what the agent says, whatever that gives back', async () => {
    const observable = {
      subscribe(observer: { next(report: Report): void; complete(): void }) {
        observer.next('a')
        observer.next('b')
        observer.complete()
      },
    }
    const outputs: Readonly<Record<string, () => unknown>> = {
      text: () => 'ab',
      promise: async () => 'ab',
      list: () => ['a', 'b'],
      generator: function* () {
        yield 'a'
        yield 'b'
      },
      stream: () => ReadableStream.from(['a', 'b']),
      observable: () => observable,
      returned: async function* () {
        yield { state: 'TASK_STATE_WORKING' }
        return 'ab'
      },
    }
    for (const [name, give] of Object.entries(outputs)) {
      const plain = open(give as Agent)
      const limited = limitConcurrency(give as Agent, { concurrent: 1 })
      const behind = open(limited)
      const shape = (task: Task) => [task.status.state, task.artifacts]
      const expected = shape((await plain.send('x')) as Task)
      // One after the other, and several at once so that some have to wait.
      assert.deepEqual(shape((await behind.send('x')) as Task), expected, name)
      for (const task of await Promise.all([1, 2, 3].map(() => behind.send('x')))) {
        assert.deepEqual(shape(task as Task), expected, `${name}, after waiting`)
      }
    }
    const direct = open(limitConcurrency(() => ({ reply: 'hi' }), { concurrent: 1 }))
    assert.ok('parts' in (await direct.send('x')))
  })

  it('waits in line again after a restart, without being turned away', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-limits-'))
    after(() => rmSync(folder, { recursive: true, force: true }))
    const store = (): Store => sqliteStore({ file: join(folder, 'tasks.db'), durability: 'normal' })
    const first = bench({ concurrent: 1 })
    const dying = open(first.agent, { store: store() })
    const texts = ['one', 'two', 'three']
    const tasks = await Promise.all(texts.map((text) => dying.send(text, { returnImmediately: true })))
    await first.beganAll(1)
    await dying.close()
    const second = bench({ concurrent: 1, queue: 0, queueTimeoutMs: 1 })
    const agent = open(second.agent, { store: store() })
    for (let count = 1; count <= 3; count++) {
      await second.beganAll(count)
      second.finish(second.running[0] as string)
    }
    assert.deepEqual([second.most(), [...second.begun].sort()], [1, [...texts].sort()])
    for (const { id } of tasks as Task[]) {
      const { state } = (await agent.get(id)).status
      // The last record may not be written yet.
      if (state !== 'TASK_STATE_COMPLETED')
        assert.equal((await agent.subscribe(id).states()).at(-1), 'TASK_STATE_COMPLETED')
    }
  })
})
