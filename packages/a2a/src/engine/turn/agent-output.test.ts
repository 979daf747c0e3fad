/** Every kind of output of an agent, and what the client receives for it. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { from, interval, map, of, Subject, take } from 'rxjs'
import type { Agent, Report, Turn } from '../../agents/agent.ts'
import { artifact, data, fail, file, inputRequired, reject, status } from '../../agents/reports.ts'
import {
  artifactText,
  chunksOf,
  eventually,
  openTestEngine,
  textOfMessage,
  short,
  statesOf,
} from '../../testing/fixtures/test-engine.ts'

async function run(t: TestContext, agent: Agent) {
  const testEngine = await openTestEngine(t, agent)
  const items = await (await testEngine.stream('go')).rest()
  const [first] = items
  assert.ok(first !== undefined && 'task' in first.event)
  return { task: await testEngine.get(first.event.task.id), items }
}

describe('text', () => {
  it('that is returned is one complete and closed artifact', async (t) => {
    const { task, items } = await run(t, () => 'Hello')
    assert.deepEqual(task.artifacts, [{ artifactId: 'answer', parts: [{ text: 'Hello' }] }])
    const chunk = items.find(({ event }) => 'artifactUpdate' in event)?.event
    assert.ok(chunk !== undefined && 'artifactUpdate' in chunk)
    assert.equal(chunk.artifactUpdate.lastChunk, true)
    assert.equal(chunk.artifactUpdate.append, undefined)
    assert.deepEqual(statesOf(items), ['SUBMITTED', 'WORKING', 'COMPLETED'])
  })

  it('that is yielded is one artifact in chunks, with lastChunk on the last [B-100]', async (t) => {
    const { task, items } = await run(t, async function* () {
      yield 'a'
      yield 'b'
      yield status('half')
      yield 'c'
    })
    assert.deepEqual(task.artifacts, [{ artifactId: 'answer', parts: [{ text: 'abc' }] }])
    const flags = items.flatMap(({ event }) => {
      if (!('artifactUpdate' in event)) return []
      const {
        artifact: { parts },
        append = false,
        lastChunk = false,
      } = event.artifactUpdate
      return [[parts, append, lastChunk]]
    })
    assert.deepEqual(flags, [
      [[{ text: 'a' }], false, false],
      [[{ text: 'b' }], true, false],
      [[{ text: 'c' }], true, true],
    ])
  })

  it('is closed by an empty chunk if the last one was written before the agent ended [B-100]', async (t) => {
    const end = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, async function* () {
      yield 'a'
      await end.promise
    })
    const stream = await testEngine.stream('go')
    const early = await stream.through((item) => chunksOf([item]).length > 0)
    end.resolve()
    const items = [...early, ...(await stream.rest())]
    const flags = items.flatMap(({ event }) => ('artifactUpdate' in event ? [event.artifactUpdate.lastChunk] : []))
    assert.deepEqual(chunksOf(items), ['a', ''])
    assert.deepEqual(flags, [undefined, true])
  })

  it('has no empty chunk if the agent yields an empty text at the end, as models often do', async (t) => {
    const yielded = await run(t, function* () {
      yield 'a'
      yield ''
    })
    const returned = await run(t, async function* () {
      yield 'a'
      return ''
    })
    for (const { items } of [yielded, returned]) {
      const flags = items.flatMap(({ event }) => ('artifactUpdate' in event ? [event.artifactUpdate.lastChunk] : []))
      assert.deepEqual([chunksOf(items), flags], [['a'], [true]])
    }
    assert.deepEqual(chunksOf((await run(t, () => '')).items), [''])
  })

  it('is closed by its own last chunk, whatever follows', async (t) => {
    const { items } = await run(t, function* () {
      yield 'a'
      yield data({ rows: 1 })
    })
    const flags = items.flatMap(({ event }) =>
      'artifactUpdate' in event ? [[event.artifactUpdate.artifact.artifactId, event.artifactUpdate.lastChunk]] : [],
    )
    assert.deepEqual(flags, [
      ['answer', true],
      ['data', true],
    ])
  })

  it('that a generator returns after it yielded some ends the same artifact', async (t) => {
    const { task, items } = await run(t, async function* () {
      yield 'a'
      return 'b'
    })
    assert.equal(artifactText(task), 'ab')
    assert.deepEqual(chunksOf(items), ['a', 'b'])
  })

  it('is closed also when the turn ends with a question or a failure', async (t) => {
    for (const ending of [inputRequired('Which?'), fail('no'), { reply: 'done' }]) {
      const { items } = await run(t, async function* () {
        yield 'a'
        yield ending
      })
      assert.deepEqual(chunksOf(items), ['a'])
    }
  })

  it('keeps its chunks apart in the task if configured', async (t) => {
    const words: Agent = function* () {
      yield 'a'
      yield 'b'
    }
    const testEngine = await openTestEngine(t, words, { options: { coalesceText: false } })
    const apart = [{ text: 'a' }, { text: 'b' }]
    const task = await testEngine.task('go')
    assert.deepEqual(task.artifacts?.[0]?.parts, apart)
    const again = await openTestEngine(t, words, { options: { coalesceText: false }, store: testEngine.store })
    assert.deepEqual((await again.get(task.id)).artifacts?.[0]?.parts, apart, 'and so after it was read again')
  })

  it('of 16,000 chunks is one part of the task, and 16,000 chunks of the stream', async (t) => {
    const { task, items } = await run(t, function* () {
      for (let word = 0; word < 16_000; word += 1) yield 'word '
    })
    assert.equal(task.artifacts?.[0]?.parts.length, 1)
    assert.equal(artifactText(task)?.length, 80_000)
    assert.equal(chunksOf(items).filter((text) => text !== '').length, 16_000)
  })
})

describe('other output of an agent', () => {
  it('becomes artifacts: data, files, named ones in chunks', async (t) => {
    const { task } = await run(t, function* () {
      yield data({ rows: 42 })
      yield data(null)
      yield file(new TextEncoder().encode('ABC'), { name: 'a.txt', mediaType: 'text/plain' })
      yield file('https://example.com/b')
      yield { text: 'a part of its own', mediaType: 'text/markdown' }
      yield artifact('report', { text: 'a', name: 'The report' })
      yield artifact('report', { text: 'b', append: true })
      yield artifact('report', { last: true })
    })
    assert.deepEqual(task.artifacts, [
      { artifactId: 'data', parts: [{ data: { rows: 42 } }] },
      { artifactId: 'data.2', parts: [{ data: null }] },
      { artifactId: 'file', name: 'a.txt', parts: [{ raw: 'QUJD', filename: 'a.txt', mediaType: 'text/plain' }] },
      { artifactId: 'file.2', parts: [{ url: 'https://example.com/b' }] },
      { artifactId: 'text', parts: [{ text: 'a part of its own', mediaType: 'text/markdown' }] },
      { artifactId: 'report', name: 'The report', parts: [{ text: 'ab' }] },
    ])
  })

  it('has separate names in each turn', async (t) => {
    const testEngine = await openTestEngine(t, function* ({ text }: Turn) {
      yield data(text)
      yield data(text)
      yield text
      if (text === 'one') yield inputRequired('And?')
    })
    const { id } = await testEngine.task('one')
    const done = await testEngine.task({ taskId: id, parts: [{ text: 'two' }] })
    assert.deepEqual(
      done.artifacts?.map(({ artifactId }) => artifactId),
      ['data', 'data.2', 'answer', 'data-2', 'data-2.2', 'answer-2'],
    )
  })

  it('becomes states: working with a message, rejected, failed', async (t) => {
    const working = await run(t, function* () {
      yield status('Looking', { page: 3 })
    })
    const update = working.items.find(({ event }) => 'statusUpdate' in event)?.event
    assert.ok(update !== undefined && 'statusUpdate' in update)
    assert.equal(textOfMessage(update.statusUpdate.status.message), 'Looking')
    assert.deepEqual(update.statusUpdate.metadata, { page: 3 })
    assert.deepEqual(statesOf(working.items), ['SUBMITTED', 'WORKING', 'COMPLETED'])
    const rejected = await run(t, () => reject({ parts: [{ data: 1 }], metadata: { why: 'busy' } }))
    assert.deepEqual(rejected.task.status.message?.metadata, { why: 'busy' })
    assert.equal(short((await run(t, () => fail('Down'))).task.status.state), 'FAILED')
    const submitted = await run(t, () => ({ state: 'TASK_STATE_SUBMITTED' }))
    assert.deepEqual(statesOf(submitted.items), ['SUBMITTED', 'WORKING', 'COMPLETED'], 'no task is submitted twice')
  })

  it('may be empty: the task is still COMPLETED', async (t) => {
    const nothings: readonly Agent[] = [
      () => {},
      () => null,
      async () => undefined,
      function* () {},
      async function* () {},
      () => [],
    ]
    for (const agent of nothings) {
      const { task, items } = await run(t, agent)
      assert.deepEqual(statesOf(items), ['SUBMITTED', 'COMPLETED'])
      assert.equal(task.artifacts, undefined)
    }
  })
})

describe('the forms of an agent', () => {
  const words: readonly Report[] = ['a', 'b', 'c']
  const ways: Readonly<Record<string, Agent>> = {
    'an array': () => words,
    'a promise of an array': async () => words,
    'a generator': function* () {
      yield* words
    },
    'an async generator': async function* () {
      yield* words
    },
    'a promise of an async generator': async () =>
      (async function* () {
        yield* words
      })(),
    'a set': () => new Set(words),
    'a web stream': () => ReadableStream.from(words),
    'an observable of rxjs': () => from(words),
    'an observable that takes its time': () =>
      interval(1).pipe(
        take(3),
        map((index) => words[index] as Report),
      ),
    'an observable whose subscription is a function': () => ({
      subscribe(observer) {
        for (const word of words) observer.next(word)
        observer.complete()
        return () => {}
      },
    }),
    'an observable whose subscription is nothing': () => ({
      subscribe(observer) {
        setTimeout(() => {
          for (const word of words) observer.next(word)
          observer.complete()
          observer.next('too late')
        }, 1)
      },
    }),
  }
  for (const [name, agent] of Object.entries(ways)) {
    it(`are ${name}`, async (t) => {
      const { task, items } = await run(t, agent)
      assert.equal(artifactText(task), 'abc')
      assert.deepEqual(chunksOf(items), ['a', 'b', 'c'])
      assert.equal(short(task.status.state), 'COMPLETED')
    })
  }

  it('are released when the turn ends before they do', async (t) => {
    const letGo: string[] = []
    const subject = new Subject<Report>()
    const agents: readonly Agent[] = [
      function* () {
        try {
          yield inputRequired('Which?')
        } finally {
          letGo.push('generator')
        }
      },
      async function* () {
        try {
          yield inputRequired('Which?')
        } finally {
          letGo.push('async generator')
        }
      },
      () =>
        new ReadableStream<Report>({
          start: (controller) => controller.enqueue(inputRequired('Which?')),
          cancel: () => void letGo.push('web stream'),
        }),
      () => ({
        subscribe(observer) {
          observer.next(inputRequired('Which?'))
          return { unsubscribe: () => void letGo.push('observable') }
        },
      }),
      () => subject,
    ]
    for (const agent of agents) {
      const testEngine = await openTestEngine(t, agent)
      const asked = testEngine.task('go')
      if (agent === agents.at(-1)) {
        await eventually(() => subject.observed)
        subject.next(inputRequired('Which?'))
      }
      assert.equal(short((await asked).status.state), 'INPUT_REQUIRED')
    }
    await eventually(() => letGo.length === 4 && !subject.observed)
    assert.deepEqual(letGo, ['generator', 'async generator', 'web stream', 'observable'])
  })

  it('are released when the task is canceled, also while they wait', async (t) => {
    const letGo: string[] = []
    const silent = new Subject<Report>()
    const agents: readonly Agent[] = [
      () => new ReadableStream<Report>({ cancel: () => void letGo.push('web stream') }),
      () => silent,
      async ({ signal }) => {
        // Returned when it is already too late.
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await sleep(30)
        return { subscribe: () => ({ unsubscribe: () => void letGo.push('late observable') }) }
      },
    ]
    for (const agent of agents) {
      const testEngine = await openTestEngine(t, agent, { options: { cancelGraceMs: 5 } })
      const { id } = await testEngine.start('go')
      assert.equal(short((await testEngine.cancel(id)).status.state), 'CANCELED')
    }
    await eventually(() => letGo.length === 2 && !silent.observed)
    assert.deepEqual(letGo, ['web stream', 'late observable'])
  })

  it('are unsubscribed at once when the task is canceled, before the grace period ends', async (t) => {
    const source = new Subject<Report>()
    const testEngine = await openTestEngine(t, () => source, { options: { cancelGraceMs: 60_000 } })
    const { id } = await testEngine.start('go')
    await eventually(() => source.observed)
    source.next('one')
    assert.equal(short((await testEngine.cancel(id)).status.state), 'CANCELED')
    assert.equal(source.observed, false)
  })

  it('are read no faster than the log accepts', async (t) => {
    let said = 0
    const testEngine = await openTestEngine(t, function* () {
      for (; said < 10_000; said += 1) yield 'x'.repeat(1_000)
    })
    const stream = await testEngine.stream('go')
    await stream.next()
    assert.ok(said < 5_000, `${said} were said before anything was read`)
    assert.equal(chunksOf(await stream.rest()).filter((text) => text !== '').length, 10_000)
  })

  it('include an observable without backpressure, up to a limit', async (t) => {
    let unsubscribed = false
    const { task } = await run(t, () => ({
      subscribe(observer) {
        for (let word = 0; word < 20_000; word += 1) observer.next('x')
        return { unsubscribe: () => void (unsubscribed = true) }
      },
    }))
    assert.equal(short(task.status.state), 'FAILED')
    assert.equal(unsubscribed, true)
    assert.equal(short((await run(t, () => of('x'))).task.status.state), 'COMPLETED')
  })
})
