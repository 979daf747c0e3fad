import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError, artifact, fail, type Report, type Struct, type Turn } from '@parley/a2a'
import type { OpenSpan, SpanOptions } from '@parley/a2a/internal'
import { withHopSpan, traceMeta, withToolSpan } from './call-spans.ts'

/** A turn that records its spans. */
function tracing(signal = new AbortController().signal) {
  const spans: { name: string; options: SpanOptions; outcome?: string; attributes?: Struct }[] = []
  const span = (name: string, options: SpanOptions = {}): OpenSpan => {
    const one: (typeof spans)[number] = { name, options }
    spans.push(one)
    return {
      spanId: 'b'.repeat(16),
      startedAt: 0,
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      set(attributes) {
        one.attributes = { ...one.attributes, ...attributes }
      },
      end(outcome = 'ok', attributes = {}) {
        if (one.outcome === undefined) Object.assign(one, { outcome, attributes: { ...one.attributes, ...attributes } })
      },
    }
  }
  return { turn: { span, signal } satisfies Pick<Turn, 'span' | 'signal'>, spans }
}

describe('a call of a tool in a trace', () => {
  it('says which tool and which call, and how it ended', async () => {
    const { turn, spans } = tracing()
    await withToolSpan(turn, { name: 'search', callId: 'c1', type: 'extension' }, async () => ({ parts: [] }))
    await withToolSpan(turn, { name: 'search' }, async () => ({ isError: true }))
    await assert.rejects(
      withToolSpan(turn, { name: 'search' }, () => Promise.reject(new A2AError('TIMEOUT', 'secret words'))),
    )
    assert.deepEqual(spans[0]?.options, {
      kind: 'tool',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'search',
        'gen_ai.tool.call.id': 'c1',
        'gen_ai.tool.type': 'extension',
      },
    })
    assert.deepEqual(
      spans.map(({ name, outcome, attributes }) => [name, outcome, attributes]),
      [
        ['execute_tool search', 'ok', {}],
        ['execute_tool search', 'error', {}],
        ['execute_tool search', 'error', { 'error.type': 'TIMEOUT' }],
      ],
    )
  })

  it('is canceled with its turn', async () => {
    const { turn, spans } = tracing(AbortSignal.abort())
    await assert.rejects(withToolSpan(turn, { name: 'x' }, () => Promise.reject(new Error('stopped'))))
    assert.equal(spans[0]?.outcome, 'canceled')
  })

  it('hands the trace on, with what others keep beside it', async () => {
    const { turn } = tracing()
    const span = turn.span('x')
    assert.deepEqual(traceMeta(span, 'a=b'), { traceparent: span.traceparent, tracestate: 'a=b' })
    assert.deepEqual(traceMeta(span, undefined), { traceparent: span.traceparent })
  })
})

describe('a run of an agent elsewhere in a trace', () => {
  async function run(reports: () => AsyncGenerator<Report>, signal?: AbortSignal) {
    const { turn, spans } = tracing(signal)
    const seen: Report[] = []
    const about = { agent: 'bot', url: 'ws://bot.test:18789' }
    const done = (async () => {
      for await (const report of withHopSpan(turn, about, reports)) seen.push(report)
    })()
    await done.catch(() => {})
    return { one: spans[0], seen }
  }

  it('passes on what was said, and ends as the run did', async () => {
    const good = await run(async function* () {
      yield artifact('a', { text: 'x' })
    })
    assert.deepEqual([good.seen.length, good.one?.name, good.one?.outcome], [1, 'call bot', 'ok'])
    assert.deepEqual(good.one?.options.attributes, { agent: 'bot', 'server.address': 'bot.test' })
    const bad = await run(async function* () {
      yield fail('no')
    })
    assert.equal(bad.one?.outcome, 'error')
    const thrown = await run(async function* () {
      yield 'half'
      throw new Error('gone')
    })
    assert.equal(thrown.one?.outcome, 'error')
    const left = await run(async function* () {
      yield 'half'
    }, AbortSignal.abort())
    assert.equal(left.one?.outcome, 'canceled')
  })

  it('says what the agent says that it used', async () => {
    const { one } = await run(async function* () {
      yield { state: 'TASK_STATE_COMPLETED', metadata: { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 } } }
    })
    assert.deepEqual(one?.attributes, { 'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.output_tokens': 4 })
  })
})
