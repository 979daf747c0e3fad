import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { outcomeOfAgent, outcomeOfChat, outcomeOfWait } from './run-outcome.ts'

describe('how a run ended', () => {
  it('is done with its texts, its files and its counts, and nothing of the host [S4-9]', () => {
    const result = {
      payloads: [
        { text: 'One.', mediaUrl: null },
        { text: 'Two.', mediaUrl: 'https://x/y.png' },
        { text: 'no', isError: true },
      ],
      meta: { agentMeta: { usage: { input: 11, output: 7, total: 18 }, sessionFile: '/home/claw' } },
    }
    assert.deepEqual(outcomeOfAgent({ ok: true, payload: { status: 'ok', result } }), {
      kind: 'done',
      text: 'One.\n\nTwo.',
      media: ['https://x/y.png'],
      usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 },
    })
  })

  it('is failed in each of its forms, also where the answer is ok [S4-9]', () => {
    const refused = { code: 'UNAVAILABLE', message: 'sk-1 at host-1', details: {}, retryable: false }
    const forms = [
      { ok: false as const, payload: { status: 'error', summary: 'x' }, error: refused },
      {
        ok: true as const,
        payload: {
          status: 'error',
          result: { payloads: [{ text: '⚠️', isError: true }], meta: { error: { message: 'sk-1' } } },
        },
      },
    ]
    for (const form of forms) {
      const outcome = outcomeOfAgent(form)
      assert.ok(outcome.kind === 'failed')
      assert.match(outcome.cause, /sk-1/)
      assert.equal(outcome.said, 'The agent failed while it was working on the answer')
    }
  })

  it('says to callers what they can do about it', () => {
    const said = (message: string): string => {
      const outcome = outcomeOfChat({ state: 'error', errorMessage: message })
      return outcome?.kind === 'failed' ? outcome.said : ''
    }
    assert.match(said('429 Too Many Requests from api.host'), /over its rate limit: try again later$/)
    assert.match(said('503 overloaded_error'), /down or overloaded/)
    assert.match(said("This model's maximum context length is 8192"), /too long/)
    assert.match(said('401 invalid api key sk-1'), /rejected the agent's credentials/)
  })

  it('tells a run that was stopped from one whose time was up and one that went down with the gateway', () => {
    const of = (fields: object): string =>
      outcomeOfAgent({ ok: true, payload: { status: 'timeout', summary: 'aborted', ...fields } }).kind
    assert.equal(of({ stopReason: 'rpc' }), 'stopped')
    assert.equal(of({ stopReason: 'restart' }), 'interrupted')
    assert.equal(of({ timeoutPhase: 'provider' }), 'late')
    assert.equal(outcomeOfChat({ state: 'aborted', stopReason: 'rpc' })?.kind, 'stopped')
    assert.equal(outcomeOfChat({ state: 'delta' }), undefined)
  })

  it('is undefined for a running run and for an unknown one', () => {
    assert.equal(outcomeOfWait({ runId: 'r', status: 'timeout' }), undefined)
    assert.equal(outcomeOfWait({ runId: 'r', status: 'timeout', endedAt: 1 })?.kind, 'late')
    assert.equal(outcomeOfWait({ runId: 'r', status: 'error', stopReason: 'rpc', endedAt: 1 })?.kind, 'stopped')
    assert.equal(outcomeOfWait({ runId: 'r', status: 'error', error: 'x', endedAt: 1 })?.kind, 'failed')
    assert.deepEqual(outcomeOfWait({ status: 'ok', terminalReply: { text: 'Hi' } }), {
      kind: 'done',
      text: 'Hi',
      media: [],
    })
  })
})
