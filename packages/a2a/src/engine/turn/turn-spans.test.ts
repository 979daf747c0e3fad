/** The telemetry of a turn: spans in the log, and the trace context that it passes on. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent, OpenSpan, Turn } from '../../agents/agent.ts'
import { inputRequired, reject, reply, status } from '../../agents/reports.ts'
import type { Span } from '../../model/record.ts'
import { readTraceparent, spanIdOfTurn, traceIdOfTask } from '../../model/trace.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { eventually, openTestEngine, type TestEngine } from '../../testing/fixtures/test-engine.ts'
import { crashingStores } from '../../testing/fixtures/crashing-store.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`

async function spansOf(testEngine: TestEngine, taskId: string): Promise<readonly Span[]> {
  return (await testEngine.log(taskId)).flatMap(({ body }) => (body.type === 'span' ? [body.span] : []))
}

describe('a span of a turn', () => {
  it('is in the log when it has ended, with its parent, its time and its attributes', async (t) => {
    let now = 1_000
    const testEngine = await openTestEngine(
      t,
      async function* ({ span }: Turn) {
        const tool = span('search', { kind: 'tool', attributes: { a: 1, b: 1 } })
        now += 5
        const inner = span('ask', { kind: 'model', parent: tool })
        tool.set({ b: 2 })
        now += 7
        inner.end()
        tool.end('error', { c: 3 })
        yield 'done'
      },
      { now: () => now },
    )
    const { id } = await testEngine.task('go')
    const turn = spanIdOfTurn(id, 1, 1)
    const [inner, tool] = await spansOf(testEngine, id)
    assert.deepEqual(tool, {
      spanId: spanIdOfTurn(id, 1, 1, 1),
      parentId: turn,
      name: 'search',
      kind: 'tool',
      startedAt: 1_000,
      endedAt: 1_012,
      outcome: 'error',
      attributes: { a: 1, b: 2, c: 3 },
    })
    assert.deepEqual(inner, {
      spanId: spanIdOfTurn(id, 1, 1, 2),
      parentId: tool?.spanId,
      name: 'ask',
      kind: 'model',
      startedAt: 1_005,
      endedAt: 1_012,
      outcome: 'ok',
    })
  })

  it('ends once, and not before it began even if the clock is set back', async (t) => {
    let now = 1_000
    const testEngine = await openTestEngine(
      t,
      ({ span }) => {
        const one = span('one')
        now = 500
        one.end('canceled')
        one.end('ok', { late: true })
        one.set({ late: true })
        return 'done'
      },
      { now: () => now },
    )
    const spans = await spansOf(testEngine, (await testEngine.task('go')).id)
    assert.deepEqual(
      spans.map(({ startedAt, endedAt, outcome, attributes }) => [startedAt, endedAt, outcome, attributes]),
      [[1_000, 1_000, 'canceled', undefined]],
    )
  })

  const endings: readonly [how: string, agent: Agent, outcome: string][] = [
    ['ends well', ({ span }) => (span('left'), 'done'), 'ok'],
    ['asks', ({ span }) => (span('left'), inputRequired('Which?')), 'ok'],
    ['fails', ({ span }) => (span('left'), Promise.reject(new Error('no'))), 'error'],
    ['rejects', ({ span }) => (span('left'), reject('No')), 'error'],
  ]
  for (const [how, agent, outcome] of endings) {
    it(`that is open ends with its turn, when that ${how}`, async (t) => {
      const testEngine = await openTestEngine(t, agent)
      const spans = await spansOf(testEngine, (await testEngine.task('go')).id)
      assert.deepEqual(
        spans.map((span) => [span.name, span.outcome]),
        [['left', outcome]],
      )
    })
  }

  it('that is open is canceled with its task, whether the agent obeys or not, and inner spans end first', async (t) => {
    for (const obeys of [true, false]) {
      const testEngine = await openTestEngine(t, async function* ({ span, signal }: Turn) {
        const outer = span('outer')
        span('inner', { parent: outer })
        yield status('here')
        await new Promise<void>((resolve) => obeys && signal.addEventListener('abort', () => resolve()))
        signal.throwIfAborted()
      })
      const { id } = await testEngine.start('go')
      await eventually(async () => (await testEngine.get(id)).status.message !== undefined)
      await testEngine.cancel(id)
      const spans = await spansOf(testEngine, id)
      assert.deepEqual(
        spans.map(({ name, outcome }) => [name, outcome]),
        [
          ['inner', 'canceled'],
          ['outer', 'canceled'],
        ],
      )
    }
  })

  it('that is open fails with a turn that times out', async (t) => {
    const agent: Agent = ({ span }) => (span('slow'), new Promise<string>(() => {}))
    const testEngine = await openTestEngine(t, agent, { options: { turnTimeoutMs: 5 } })
    const { id } = await testEngine.task('go')
    assert.deepEqual(
      (await spansOf(testEngine, id)).map(({ name, outcome }) => [name, outcome]),
      [['slow', 'error']],
    )
  })

  it('comes after the opening of its task even if it ended before, and before the end', async (t) => {
    const testEngine = await openTestEngine(t, async function* ({ span }: Turn) {
      span('early').end()
      yield 'done'
    })
    const types = (await testEngine.log((await testEngine.task('go')).id)).map(({ body }) => body.type)
    assert.ok(types.indexOf('turn-started') < types.indexOf('span'))
    assert.equal(types.at(-1), 'status')
  })

  it('of a direct reply is not stored: there is no log', async (t) => {
    const direct = await openTestEngine(t, ({ span }) => (span('x').end(), reply('hi')))
    assert.ok('message' in (await direct.send('go')))
    assert.deepEqual(await direct.store.feed.read(0, 10), [])
  })

  it('is not stored after the thousandth of one turn, but stays usable for the agent', async (t) => {
    const last: OpenSpan[] = []
    const testEngine = await openTestEngine(t, ({ span }) => {
      for (let nth = 0; nth < 1_200; nth += 1) {
        const one = span(`n${nth}`)
        one.end()
        last[0] = one
      }
      return 'done'
    })
    assert.equal((await spansOf(testEngine, (await testEngine.task('go')).id)).length, 1_000)
    assert.ok(readTraceparent(last[0]?.traceparent))
  })

  for (const [name, begin] of Object.entries(crashingStores)) {
    it(`of a turn that runs again after a crash is a new one, over ${name}`, async (t) => {
      function run({ span, resumed, checkpoint }: Turn) {
        if (resumed !== undefined) return (span('second').end(), 'done')
        span('first').end()
        span('lost')
        return checkpoint({}).then(() => new Promise<string>(() => {}))
      }
      const life = begin(t)
      const testEngine = await openTestEngine(t, { resume: 'rerun', run }, life)
      const { id } = await testEngine.start('go')
      await eventually(async () => (await testEngine.log(id)).some(({ body }) => body.type === 'checkpoint'))
      const again = await openTestEngine(t, { resume: 'rerun', run }, await life.crash())
      await again.reaches(id, 'TASK_STATE_COMPLETED')
      assert.deepEqual(
        (await spansOf(again, id)).map(({ name: span, spanId }) => [span, spanId]),
        [
          ['first', spanIdOfTurn(id, 1, 1, 1)],
          ['second', spanIdOfTurn(id, 1, 2, 1)],
        ],
      )
    })
  }
})

describe('a span whose id was passed on', () => {
  it('continues after a restart under the same id, and is written once', async (t) => {
    const store = memoryStore({ leaseTtlMs: 60_000 })
    async function run({ span, resumed, checkpoint, signal }: Turn) {
      const begun = resumed?.checkpoint as { spanId: string; startedAt: number } | undefined
      const one = span('call', begun === undefined ? {} : { resumed: begun })
      try {
        if (resumed !== undefined) return 'done'
        await checkpoint({ spanId: one.spanId, startedAt: one.startedAt })
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
        return 'never'
      } finally {
        one.end(signal.aborted ? 'canceled' : 'ok')
      }
    }
    const testEngine = await openTestEngine(t, { resume: 'rerun', run }, { store })
    const { id } = await testEngine.start('go')
    await eventually(async () => (await testEngine.log(id)).some(({ body }) => body.type === 'checkpoint'))
    // On close the turn passes to another process; it is not over.
    await testEngine.engine.close()
    const again = await openTestEngine(t, { resume: 'rerun', run }, { store })
    await again.reaches(id, 'TASK_STATE_COMPLETED')
    assert.deepEqual(
      (await spansOf(again, id)).map(({ spanId, parentId, outcome }) => [spanId, parentId, outcome]),
      [[spanIdOfTurn(id, 1, 1, 1), spanIdOfTurn(id, 1, 2), 'ok']],
    )
  })
})

describe('the trace that a turn passes on', () => {
  const seen: { turn: string; span: string; tracestate: string | undefined }[] = []
  const agent: Agent = (turn) => {
    const one = turn.span('one')
    seen.push({ turn: turn.traceparent, span: one.traceparent, tracestate: turn.tracestate })
    return inputRequired('More?')
  }

  it('is that of the request, with the turn or the span as parent, and the same sampling flag [B-171]', async (t) => {
    seen.length = 0
    const testEngine = await openTestEngine(t, agent)
    const { id } = await testEngine.task('go', { as: { traceparent, tracestate: 'a=b' } })
    const off = traceparent.replace(/01$/, '00')
    await testEngine.task({ taskId: id }, { as: { traceparent: off } })
    const flags = ['01', '00']
    for (const [index, { turn, span, tracestate }] of seen.entries()) {
      assert.equal(turn, `00-${traceId}-${spanIdOfTurn(id, index + 1, 1)}-${flags[index]}`)
      assert.equal(span, `00-${traceId}-${spanIdOfTurn(id, index + 1, 1, 1)}-${flags[index]}`)
      assert.equal(tracestate, index === 0 ? 'a=b' : undefined)
    }
  })

  it('is that of the task if the request had none', async (t) => {
    seen.length = 0
    const testEngine = await openTestEngine(t, agent)
    const { id } = await testEngine.task('go')
    assert.equal(readTraceparent(seen[0]?.turn)?.traceId, traceIdOfTask(id))
    assert.equal(readTraceparent(seen[0]?.turn)?.isSampled, true)
  })

  it('is stored with the message, whichever extensions are active', async (t) => {
    const testEngine = await openTestEngine(t, agent)
    const { id } = await testEngine.task('go', { as: { traceparent } })
    const [first] = await testEngine.log(id)
    assert.ok(first?.body.type === 'message')
    assert.equal(first.body.options?.traceparent, traceparent)
  })
})

describe('the log of a turn', () => {
  it('has agent, task, conversation and trace, unless a line overrides them [B-171 T-12]', async (t) => {
    const testEngine = await openTestEngine(t, ({ log }) => {
      const { info } = log
      info('hello', { more: 1 })
      log.warn('mine', { taskId: 'another' })
      return 'done'
    })
    const { id, contextId } = await testEngine.task('go', { as: { traceparent } })
    const about = { agent: 'agent', taskId: id, contextId, traceId }
    const lines = testEngine.lines.filter(({ message }) => ['hello', 'mine'].includes(message))
    assert.deepEqual(
      lines.map(({ level, fields }) => [level, fields]),
      [
        ['info', { ...about, more: 1 }],
        ['warn', { ...about, taskId: 'another' }],
      ],
    )
  })

  it('has them also for an agent that failed [B-171 T-12]', async (t) => {
    const testEngine = await openTestEngine(t, () => Promise.reject(new Error('no')))
    const { id, contextId } = await testEngine.task('go', { as: { traceparent } })
    const [line] = testEngine.lines.filter(({ level }) => level === 'error')
    const { cause: _, ...about } = line?.fields ?? {}
    assert.deepEqual(about, { agent: 'agent', taskId: id, contextId, traceId })
  })
})
