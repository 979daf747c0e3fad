import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chatFinish, AnswerAccumulator } from './answer-accumulator.ts'

function gather(...deltas: readonly object[]) {
  const gathering = new AnswerAccumulator(1_000)
  for (const delta of deltas) gathering.add({ object: 'chat.completion.chunk', choices: [{ delta }] })
  return gathering.result()
}
const fragment = (call: object) => ({ tool_calls: [call] })
const callsOf = ({ toolCalls }: ReturnType<typeof gather>) =>
  toolCalls.map(({ id, function: { name, arguments: input } }) => [id, name, input])

describe('an answer in pieces', () => {
  it('is added up, whatever comes in between', () => {
    const { text, refusal } = gather(
      { role: 'assistant', content: null },
      { content: 'Hel' },
      { reasoning_content: 'hmm' },
      { content: [{ type: 'text', text: 'lo' }] },
      {},
      { refusal: 'No' },
      { refusal: '.' },
    )
    assert.deepEqual([text, refusal], ['Hello', 'No.'])
  })

  it('may hold tool calls in fragments, mixed by index', () => {
    const gathered = gather(
      fragment({ index: 0, id: 'a', type: 'function', function: { name: 'add', arguments: '' } }),
      fragment({ index: 1, id: 'b', type: 'function', function: { name: 'sub', arguments: '{"x"' } }),
      fragment({ index: 0, function: { arguments: '{"y":' } }),
      fragment({ index: 1, function: { arguments: ':1}' } }),
      fragment({ index: 0, function: { arguments: '2}' } }),
    )
    assert.deepEqual(callsOf(gathered), [
      ['a', 'add', '{"y":2}'],
      ['b', 'sub', '{"x":1}'],
    ])
  })

  it('may be of an endpoint that numbers no call, or all with 0, or names none', () => {
    const unnumbered = gather(
      fragment({ id: 'a', function: { name: 'one', arguments: '{}' } }),
      fragment({ id: 'b', function: { name: 'two', arguments: '{' } }),
      fragment({ function: { arguments: '}' } }),
    )
    assert.deepEqual(callsOf(unnumbered), [
      ['a', 'one', '{}'],
      ['b', 'two', '{}'],
    ])
    const zeros = gather(
      fragment({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } }),
      fragment({ index: 0, id: 'b', function: { name: 'two', arguments: { x: 1 } } }),
    )
    assert.deepEqual(callsOf(zeros), [
      ['a', 'one', '{}'],
      ['b', 'two', '{"x":1}'],
    ])
    const [[id] = []] = callsOf(gather(fragment({ index: 0, function: { name: 'one', arguments: '{}' } })))
    assert.match(id ?? '', /^call_/)
  })

  it('reads token usage from any chunk', () => {
    const gathering = new AnswerAccumulator(1_000)
    gathering.add({ model: 'm-1', choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } })
    assert.deepEqual(gathering.result().usage, { inputTokens: 3, outputTokens: 4, totalTokens: 7 })
    gathering.add({
      usage: {
        prompt_tokens: 5,
        completion_tokens: 6,
        total_tokens: 11,
        prompt_tokens_details: { cached_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    })
    assert.deepEqual(gathering.result().usage, {
      inputTokens: 5,
      outputTokens: 6,
      totalTokens: 11,
      cachedTokens: 2,
      reasoningTokens: 1,
    })
    assert.equal(gathering.result().model, 'm-1')
  })

  it('ends for a reason, in few words', () => {
    const call = { id: 'a', type: 'function', function: { name: 'add', arguments: '{}' } } as const
    const finish = (finishReason: string, calls = 0) =>
      chatFinish({ finishReason, toolCalls: Array.from({ length: calls }, () => call) })
    assert.equal(finish('stop'), 'stop')
    assert.equal(finish('stop', 1), 'tool_calls')
    assert.equal(finish('length'), 'length')
    assert.equal(finish('content_filter', 1), 'content_filter')
    assert.equal(finish('end_turn'), 'stop')
  })

  it('is refused when it is none, an error, or longer than it may be', () => {
    const gathering = new AnswerAccumulator(10)
    for (const nonsense of ['text', null, [], {}, { id: 1 }])
      assert.throws(() => gathering.add(nonsense), /cannot be read/)
    assert.throws(() => gathering.add({ error: { code: 429, message: 'x' } }), { code: 'RATE_LIMITED' })
    assert.throws(() => gathering.add({ error: 'Overloaded' }), { code: 'RATE_LIMITED' })
    assert.throws(() => gathering.add({ error: { message: 'host-1' } }), { code: 'AGENT_UNAVAILABLE' })
    gathering.add({ choices: [{ delta: { content: '12345' } }] })
    assert.throws(
      () =>
        gathering.add({ choices: [{ delta: fragment({ index: 0, function: { name: 'x', arguments: '123456' } }) }] }),
      /cannot be read/,
    )
  })
})
