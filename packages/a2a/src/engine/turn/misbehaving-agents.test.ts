/** Agents that misbehave: the task fails, and nothing else does. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurnOfTheLoop, setTimeout as sleep } from 'node:timers/promises'
import { throwError } from 'rxjs'
import type { Agent, Turn } from '../../agents/agent.ts'
import { artifact, fail, inputRequired, status } from '../../agents/reports.ts'
import type { Task } from '../../model/task.ts'
import {
  artifactText,
  eventually,
  openTestEngine,
  textOfMessage,
  short,
  typesOf,
} from '../../testing/fixtures/test-engine.ts'

/** Reports that TypeScript would reject. */
const nonsense = (...said: readonly unknown[]): Agent =>
  async function* () {
    yield* said
  } as unknown as Agent

const cycle: Record<string, unknown> = {}
cycle['itself'] = cycle

const throwing: Readonly<Record<string, Agent>> = {
  'throws at once': () => {
    throw new Error('secret')
  },
  rejects: async () => {
    await sleep(1)
    throw new Error('secret')
  },
  'throws after it said something': async function* () {
    yield 'half'
    throw new Error('secret')
  },
  'throws no error but an object without a text': () => {
    throw Object.create(null) as Error
  },
  'throws nothing': () => {
    throw undefined
  },
  'throws an error whose stack cannot be read': () => {
    throw Object.defineProperty(new Error('secret'), 'stack', {
      get: () => {
        throw new Error('secret')
      },
    })
  },
  'gives back an observable that errs': () => throwError(() => new Error('secret')),
  'gives back an observable that cannot be subscribed to': () => ({
    subscribe() {
      throw new Error('secret')
    },
  }),
  'gives back a stream that errs': () =>
    new ReadableStream({ pull: (controller) => controller.error(new Error('secret')) }),
  'gives back an iterable without an iterator': () => ({
    [Symbol.asyncIterator]() {
      throw new Error('secret')
    },
  }),
  'gives back an iterator that answers nonsense': () =>
    ({ [Symbol.asyncIterator]: () => ({ next: () => 5 }) }) as unknown as AsyncIterable<string>,
  'gives back a promise whose then throws': () =>
    ({
      get then(): never {
        throw new Error('secret')
      },
    }) as unknown as Promise<string>,
  'gives back an iterator that throws': () => ({
    [Symbol.iterator]: () => ({
      next() {
        throw new Error('secret')
      },
    }),
  }),
}

const senseless: Readonly<Record<string, Agent>> = {
  'a number': nonsense(42),
  null: nonsense('before', null),
  'a function': nonsense(() => {}),
  'a number, returned': (() => 42) as unknown as Agent,
  'bytes, returned': (() => new Uint8Array(3)) as unknown as Agent,
  'a symbol': nonsense(Symbol('secret')),
  'an empty object': nonsense({}),
  'an object without a prototype': nonsense(Object.create(null)),
  'a list in a list': nonsense(['a']),
  'a part with two contents': nonsense({ text: 'a', url: 'https://x' }),
  'a part whose text is no text': nonsense({ text: 42 }),
  'data with a cycle': nonsense({ data: cycle }),
  'data that JSON has no word for': nonsense({ data: 1n }),
  'data of more JSON values than the limit': nonsense({ data: Array.from({ length: 100_000 }, () => 0) }),
  'metadata that is no object': nonsense({ text: 'a', metadata: 'm' }),
  'metadata that JSON makes a text of': nonsense({ text: 'a', metadata: new Date(0) }),
  'an artifact without a name': nonsense({ artifact: { parts: [{ text: 'a' }] } }),
  'an artifact without parts': nonsense({ artifact: { artifactId: 'a', parts: [] } }),
  'an artifact that is none': nonsense({ artifact: null }),
  'an artifact with a part that is none': nonsense({ artifact: { artifactId: 'a', parts: [null] } }),
  'an artifact whose parts are none': nonsense({ artifact: { artifactId: 'a', parts: 'zzz' } }),
  'a file whose name is none': nonsense({ url: 'https://x', filename: 42 }),
  'an artifact with extensions that are no list': nonsense({
    artifact: { artifactId: 'a', parts: [{ text: 'a' }], extensions: 'e' },
  }),
  'an unknown state': nonsense({ state: 'TASK_STATE_ASLEEP' }),
  'no state': nonsense({ state: undefined }),
  'the state that says nothing': nonsense({ state: 'TASK_STATE_UNSPECIFIED' }),
  'a message without parts': nonsense({ state: 'TASK_STATE_WORKING', message: {} }),
  'a message that is a number': nonsense({ state: 'TASK_STATE_FAILED', message: 42 }),
  'a reply that is nothing': nonsense({ reply: null }),
  'a task of its own': nonsense({ kind: 'task', id: 't', status: { state: 'working' } }),
  'an object that throws when it is looked at': nonsense({
    get text(): string {
      throw new Error('secret')
    },
  }),
  'an object that throws whatever is asked of it': nonsense(
    new Proxy(
      {},
      {
        has() {
          throw new Error('secret')
        },
      },
    ),
  ),
}

function assertFailed(task: Task): void {
  assert.equal(short(task.status.state), 'FAILED')
  assert.equal(textOfMessage(task.status.message), 'The agent failed')
  assert.equal(task.status.message?.taskId, task.id)
  assert.equal(JSON.stringify(task).includes('secret'), false)
}

describe('an agent that', () => {
  for (const [name, agent] of Object.entries(throwing)) {
    it(`${name} fails its task, without the cause for the client [B-50]`, async (t) => {
      const testEngine = await openTestEngine(t, agent)
      const task = await testEngine.task('go')
      assertFailed(task)
      assert.ok(testEngine.lines.some(({ level, message }) => level === 'error' && message === 'agent failed'))
      assert.ok(typesOf(await testEngine.log(task.id)).includes('note'))
    })
  }
})

describe('an agent that reports', () => {
  it('a failure with a cause has it in its log, with the causes of the cause, and not in its task', async (t) => {
    const cause = new Error('a secret address', { cause: new Error('connect ECONNREFUSED') })
    const testEngine = await openTestEngine(t, () => fail('The model is down', { cause }))
    const task = await testEngine.task('go')
    assert.equal(textOfMessage(task.status.message), 'The model is down')
    assert.equal(JSON.stringify(task).includes('secret'), false)
    const notes = (await testEngine.log(task.id)).flatMap(({ body }) => (body.type === 'note' ? [body.text] : []))
    assert.equal(notes.length, 1)
    assert.match(notes[0] ?? '', /^Error: a secret address\n[\s\S]*\nCaused by: Error: connect ECONNREFUSED\n/)
  })

  for (const [name, agent] of Object.entries(senseless)) {
    it(`${name} fails its task [B-50]`, async (t) => {
      const testEngine = await openTestEngine(t, agent)
      assertFailed(await testEngine.task('go'))
    })
  }

  it('a chunk of an artifact that it never began, or had closed, fails its task [B-100]', async (t) => {
    const early = await openTestEngine(t, nonsense(artifact('report', { text: 'b', append: true })))
    assertFailed(await early.task('go'))
    const closed = artifact('report', { text: 'a', last: true })
    const late = await openTestEngine(t, nonsense(closed, artifact('report', { text: 'b', append: true })))
    const task = await late.task('go')
    assertFailed(task)
    assert.equal(artifactText(task, 'report'), 'a')
  })

  it('an invalid value is stopped and can clean up', async (t) => {
    let cleaned = false
    const testEngine = await openTestEngine(t, async function* () {
      try {
        yield { text: 'a', url: 'https://x' }
      } finally {
        cleaned = true
      }
    })
    assertFailed(await testEngine.task('go'))
    await eventually(() => cleaned)
  })

  it('an object and changes it afterwards has no effect', async (t) => {
    const rows = [1]
    const testEngine = await openTestEngine(t, async function* () {
      yield { data: { rows } }
      rows.push(2)
    })
    assert.deepEqual((await testEngine.task('go')).artifacts?.[0]?.parts, [{ data: { rows: [1] } }])
  })
})

describe('the engine', () => {
  it('ignores an agent that reports after the end [B-43]', async (t) => {
    const more = Promise.withResolvers<void>()
    const zombie: { turn?: Turn } = {}
    const testEngine = await openTestEngine(t, async function* (turn: Turn) {
      if (turn.text !== 'first') {
        yield 'second turn'
        return
      }
      zombie.turn = turn
      try {
        yield inputRequired('Which?')
      } finally {
        await more.promise
        yield 'too late'
      }
    })
    const { id } = await testEngine.task('first')
    const done = await testEngine.task({ taskId: id, parts: [{ text: 'next' }] })
    const log = await testEngine.log(id)
    more.resolve()
    await assert.rejects(async () => zombie.turn?.checkpoint(1), { code: 'INTERRUPTED' })
    await assert.rejects(async () => zombie.turn?.ask('Still there?'), { code: 'INTERRUPTED' })
    await nextTurnOfTheLoop()
    assert.deepEqual(await testEngine.get(id), done)
    assert.deepEqual(await testEngine.log(id), log)
  })

  it('does not let an agent report through its last turn', async (t) => {
    const zombie: { turn?: Turn } = {}
    const gates = { first: Promise.withResolvers<void>(), second: Promise.withResolvers<void>() }
    const testEngine = await openTestEngine(t, async (turn) => {
      zombie.turn ??= turn
      await gates[turn.text as 'first' | 'second'].promise
    })
    const { id } = await testEngine.start('first')
    const second = testEngine.task({ taskId: id, parts: [{ text: 'second' }] })
    await eventually(async () => (await testEngine.get(id)).history?.length === 2)
    gates.first.resolve()
    await eventually(
      async () => typesOf(await testEngine.log(id)).filter((type) => type === 'turn-started').length === 2,
    )
    await assert.rejects(async () => zombie.turn?.checkpoint('stale'), { code: 'INTERRUPTED' })
    await assert.rejects(async () => zombie.turn?.ask('Still there?'), { code: 'INTERRUPTED' })
    gates.second.resolve()
    assert.equal(short((await second).status.state), 'COMPLETED')
    assert.equal(typesOf(await testEngine.log(id)).includes('checkpoint'), false)
  })

  it('keeps the outcome of an agent that throws during cleanup', async (t) => {
    const agents: readonly Agent[] = [
      function* () {
        try {
          yield inputRequired('Which?')
        } finally {
          // eslint-disable-next-line no-unsafe-finally -- this is the point
          throw new Error('in finally')
        }
      },
      async function* () {
        try {
          yield inputRequired('Which?')
        } finally {
          // eslint-disable-next-line no-unsafe-finally -- this is the point
          throw new Error('in finally')
        }
      },
      () => ({
        subscribe(observer) {
          observer.next(inputRequired('Which?'))
          return {
            unsubscribe() {
              throw new Error('in unsubscribe')
            },
          }
        },
      }),
    ]
    for (const agent of agents) {
      const testEngine = await openTestEngine(t, agent)
      assert.equal(short((await testEngine.task('go')).status.state), 'INPUT_REQUIRED')
    }
    await nextTurnOfTheLoop()
  })

  it('raises no alarm for an agent that fails after it was stopped', async (t) => {
    const ended: string[] = []
    const testEngine = await openTestEngine(
      t,
      async function* ({ signal, text }: Turn) {
        yield status('working')
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await sleep(10)
        ended.push(text)
        throw new Error('too late to matter')
      },
      { options: { cancelGraceMs: 1 } },
    )
    for (const text of ['a', 'b', 'c']) {
      const { id } = await testEngine.start(text)
      assert.equal(short((await testEngine.cancel(id)).status.state), 'CANCELED')
    }
    await eventually(() => ended.length === 3)
    await nextTurnOfTheLoop()
  })

  it('still serves others while an agent yields forever without a pause', async (t) => {
    const testEngine = await openTestEngine(
      t,
      function* ({ text }: Turn) {
        if (text === 'ok') yield 'served'
        else for (;;) yield 'x'
      },
      { options: { turnTimeoutMs: 400 } },
    )
    const endless = testEngine.task('endless')
    assert.equal(artifactText(await testEngine.task('ok')), 'served')
    const task = await endless
    assert.equal(textOfMessage(task.status.message), 'Task timed out')
  })

  it('serves others normally while agents misbehave in every way', async (t) => {
    const bad = [...Object.values(throwing), ...Object.values(senseless)]
    const byName = new Map(bad.map((agent, index) => [`bad${index}`, agent]))
    const good: Agent = async function* ({ text }: Turn) {
      for (const word of ['a', 'b', text]) {
        yield word
        await sleep(1)
      }
    }
    const testEngine = await openTestEngine(t, good, { lookUp: (name) => byName.get(name) ?? good })
    const failed = [...byName.keys()].map((agent) => testEngine.task('go', { as: { agent } }))
    const served = Array.from({ length: 50 }, (_, index) => testEngine.task(`${index}`))
    for (const task of await Promise.all(failed)) assert.equal(short(task.status.state), 'FAILED')
    for (const [index, task] of (await Promise.all(served)).entries()) assert.equal(artifactText(task), `ab${index}`)
  })

  it('leaves no timer of a canceled agent that never ends', async (t) => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const testEngine = await openTestEngine(t, () => new Promise(() => {}), {
      options: { cancelGraceMs: 1 },
      sweepMs: 1_000_000,
    })
    const before = timers()
    const tasks = await Promise.all(Array.from({ length: 50 }, () => testEngine.start('go')))
    assert.ok(timers() > before)
    await Promise.all(tasks.map(({ id }) => testEngine.cancel(id)))
    assert.ok(timers() <= before, `${timers()} timers, ${before} before`)
  })
})
