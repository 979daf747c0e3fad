/** The span of a model call in the trace of its turn. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { readTraceparent, type Span } from '@parley/a2a/internal'
import type { AgentServices } from '../kind.ts'
import { openKind } from '../testing/open-kind.ts'
import { scriptedModel, type Script } from '../testing/scripted-model.ts'
import { openaiKind } from './index.ts'

async function open(t: TestContext, script: Script, entry: object = {}, parts: Partial<AgentServices> = {}) {
  const model = await scriptedModel(script)
  t.after(() => model.close())
  const store = memoryStore()
  const opened = await openKind(
    t,
    openaiKind,
    { baseUrl: model.url, model: 'scripted', ...entry },
    { services: parts, test: { store } },
  )
  async function spans(): Promise<readonly Span[]> {
    const [first] = await store.feed.read(0, 1)
    const records = await store.tasks.read(first?.taskId ?? '', 0)
    return records.flatMap(({ body }) => (body.type === 'span' ? [body.span] : []))
  }
  return { model, spans, ...opened }
}

const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 5 },
}

describe('a call of a model in a trace', () => {
  it('says which model, how many tokens, why it stopped and what it cost, and nothing of what was said', async (t) => {
    const cost: AgentServices['cost'] = (name, { inputTokens }) =>
      name === 'scripted' ? inputTokens / 1_000 : undefined
    const { agent, spans } = await open(t, () => ({ say: 'my secret answer', usage }), {}, { cost })
    await agent.send('my secret question')
    const [span] = await spans()
    assert.deepEqual([span?.name, span?.kind, span?.outcome], ['chat scripted', 'model', 'ok'])
    assert.deepEqual(span?.attributes, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'scripted',
      'server.address': '127.0.0.1',
      'gen_ai.response.model': 'scripted',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 40,
      'gen_ai.usage.reasoning.output_tokens': 5,
      'gen_ai.usage.cost': 0.1,
    })
    assert.doesNotMatch(JSON.stringify(span), /secret/)
  })

  it('sends its span to the endpoint [B-171]', async (t) => {
    const { agent, model, spans } = await open(t, () => ({ say: 'x' }))
    await agent.send('hi')
    const { headers } = await model.request(1)
    const [span] = await spans()
    assert.equal(readTraceparent(headers['traceparent'] as string)?.spanId, span?.spanId)
  })

  it('is one with all its tries, and says how many there were', async (t) => {
    const { agent, spans } = await open(
      t,
      (_, count) => (count === 1 ? { status: 503, headers: { 'retry-after': '0' }, body: '{}' } : { say: 'x' }),
      { retryWait: '1s' },
    )
    await agent.send('hi')
    const all = await spans()
    assert.deepEqual(
      all.map(({ outcome, attributes }) => [outcome, attributes?.['attempts']]),
      [['ok', 2]],
    )
  })

  it('that fails says what kind of failure it was', async (t) => {
    const { agent, spans } = await open(t, () => ({ status: 401, body: '{"error":{"message":"bad key"}}' }))
    await agent.send('hi')
    const [span] = await spans()
    assert.equal(span?.outcome, 'error')
    assert.match(String(span?.attributes?.['error.type']), /^[A-Z_]+$/)
    assert.doesNotMatch(JSON.stringify(span), /bad key/)
  })

  it('is canceled when the reader stops', async (t) => {
    const { agent, model, spans } = await open(t, () => ({ say: ['a', 'b'], hangAfter: 2 }))
    const stream = agent.stream('hi')
    for await (const event of stream) {
      if (!('artifactUpdate' in event)) continue
      await agent.cancel(event.artifactUpdate.taskId)
      break
    }
    await model.request(1)
    assert.deepEqual(
      (await spans()).map(({ outcome }) => outcome),
      ['canceled'],
    )
  })
})
