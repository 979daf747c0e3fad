import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clientToolsExtension as uri, type Json, type Message, type Part, type Struct } from '@parley/a2a'
import { answerForChild, applyAnswers } from './message-answers.ts'
import { createLoopState, type LoopState, type OpenCall } from './state.ts'

const call = (id: string, more: Partial<OpenCall> = {}): OpenCall => ({
  id,
  name: id,
  input: '{}',
  state: 'waits',
  ...more,
})
const child = { agent: 'travel', messageId: 'm', taskId: 't1' }

function waitingFor(...open: OpenCall[]): LoopState {
  return { ...createLoopState([], { role: 'user', content: 'x', from: 'm0' }), open }
}
const result = (toolUseId: string, value: Json, more: Struct = {}): Part => ({
  data: { toolUseId, result: value },
  metadata: { [uri]: { type: 'tool-result', ...more } },
})
const message = (...parts: Part[]): Message => ({ messageId: 'm1', role: 'ROLE_USER', parts })
const resultsOf = ({ open }: LoopState) => open.map(({ result: given }) => given)

describe('the answer of a client', () => {
  it('has the results of its tools, and text that the model receives after them', () => {
    const state = waitingFor(call('a'), call('b'), call('done', { state: 'started', result: 'before' }))
    const failed: Part = {
      data: { toolUseId: 'b', error: { reason: 'UNKNOWN_TOOL', message: 'none' } },
      metadata: { [uri]: { type: 'tool-result' } },
    }
    const { answered } = applyAnswers(message(result('a', { x: 1 }), failed, { text: 'Hurry' }), state, 100)
    assert.deepEqual(resultsOf(state), [
      '{"x":1}',
      'The tool failed: {"reason":"UNKNOWN_TOOL","message":"none"}',
      'before',
    ])
    assert.deepEqual(state.then, [{ role: 'user', content: 'Hurry', from: 'm1' }])
    assert.deepEqual(
      answered.map(({ id }) => id),
      ['a', 'b'],
    )
  })

  it('may leave tools unrun: the model is informed of it', () => {
    const state = waitingFor(call('a'))
    applyAnswers(message({ text: 'I cannot' }), state, 100)
    assert.deepEqual(resultsOf(state), ['The client has not run this tool.'])
    const late = waitingFor(call('a'), call('b', { child }))
    applyAnswers({ ...message({ text: '' }), metadata: { reason: 'INPUT_TIMEOUT' } }, late, 100)
    assert.match(resultsOf(late).join(), /in time.*in time/)
    assert.deepEqual(late.then, [])
  })

  it('is kept within the bound, and not at all if it is a secret', () => {
    const state = waitingFor(call('a'), call('b'))
    const { secrets } = applyAnswers(
      message(result('a', 'x'.repeat(200)), result('b', 'hunter2', { sensitive: true })),
      state,
      100,
    )
    assert.match(state.open[0]?.result ?? '', /^x{100}\n\[100 more/)
    assert.doesNotMatch(JSON.stringify(state), /hunter2/)
    assert.equal(secrets.get('b'), 'hunter2')
  })
})

describe('the answer to the question of a child', () => {
  it('is all that is not a result of ours, and is not kept', () => {
    const state = waitingFor(call('a'), call('b', { child }), call('c', { child }))
    const answer = message(result('a', 1), { text: 'Lisbon' }, result('of the child', 2))
    applyAnswers(answer, state, 100)
    const [, asked, other] = state.open as [OpenCall, OpenCall, OpenCall]
    assert.deepEqual([asked.state, other.state, state.then], ['planned', 'waits', []])
    assert.deepEqual(answerForChild(asked, answer, state), [{ text: 'Lisbon' }, result('of the child', 2)])
    assert.equal(answerForChild(other, answer, state), undefined)
    assert.doesNotMatch(JSON.stringify(state), /Lisbon/)
  })

  it('is waited for on where there is none, and asked for again where a restart lost it', () => {
    const state = waitingFor(call('a'), call('b', { child }))
    applyAnswers(message(result('a', 1)), state, 100)
    assert.equal(state.open[1]?.state, 'waits')
    const redacted: Part = {
      text: '[redacted]',
      metadata: { 'https://parley.dev/extensions/credentials/v1': { sensitive: true, redacted: true } },
    }
    const asked = call('b', { child, answeredBy: 'm1' })
    assert.equal(answerForChild(asked, message(redacted), waitingFor(asked)), undefined)
  })
})
