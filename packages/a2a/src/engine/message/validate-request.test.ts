import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SendMessageConfiguration } from '../../model/operation.ts'
import type { Json, Message, Part } from '../../model/task.ts'
import { shortTimes, userMessage } from '../../testing/fixtures/test-engine.ts'
import { validateSendRequest } from './accept-message.ts'
import type { AgentEntry } from '../contract.ts'

const limits = { jsonNodes: 100_000, parts: 3, metadataDepth: 4, tasksPerCaller: 10, waitMs: 1_000 }

function check(
  message: Partial<Message>,
  modes: Partial<Pick<AgentEntry, 'inputModes' | 'outputModes'>> = {},
  configuration: SendMessageConfiguration = {},
): void {
  const entry = { agent: () => '', inputModes: [], outputModes: [], streaming: true, options: shortTimes, ...modes }
  validateSendRequest({ message: userMessage(message), configuration }, entry, limits)
}
const takes = (inputModes: readonly string[], part: Part): void => check({ parts: [part] }, { inputModes })
const gives = (outputModes: readonly string[], acceptedOutputModes: readonly string[]): void =>
  check({}, { outputModes }, { acceptedOutputModes })

const unsupported = { code: 'CONTENT_TYPE_NOT_SUPPORTED' }
function nested(depth: number): Json {
  let value: Json = 1
  for (let level = 0; level < depth; level += 1) value = { inner: value }
  return value
}

describe('the media types of a message', () => {
  it('are refused where the agent takes others, with the part and the types it takes [B-70]', () => {
    assert.throws(
      () => takes(['text/plain', 'image/*'], { url: 'https://example.com/a', mediaType: 'audio/wav' }),
      (error: { code?: string; details?: Record<string, unknown> }) => {
        assert.equal(error.code, 'CONTENT_TYPE_NOT_SUPPORTED')
        assert.equal(error.details?.['mediaType'], 'audio/wav')
        assert.equal(error.details?.['supported'], 'text/plain, image/*')
        return true
      },
    )
  })

  it('default to text/plain, application/json and application/octet-stream [B-70]', () => {
    takes(['text/plain'], { text: 'a' })
    takes(['application/json'], { data: 1 })
    takes(['application/octet-stream'], { raw: 'QUJD' })
    takes(['application/octet-stream'], { url: 'https://example.com/a' })
    assert.throws(() => takes(['text/plain'], { data: 1 }), unsupported)
    assert.throws(() => takes(['application/json'], { text: 'a' }), unsupported)
    assert.throws(() => takes(['text/plain'], { raw: 'QUJD' }), unsupported)
  })

  it('match by pattern, whatever their case and their parameters [B-70]', () => {
    takes(['image/*'], { raw: 'QUJD', mediaType: 'image/png' })
    takes(['*/*'], { raw: 'QUJD', mediaType: 'video/mp4' })
    takes(['Text/Plain; charset=utf-8'], { text: 'a', mediaType: 'text/plain;charset=latin1' })
    assert.throws(() => takes(['image/*'], { raw: 'QUJD', mediaType: 'imagery/png' }), unsupported)
  })

  it('match the kinds of parts that many agents declare in place of media types [B-70]', () => {
    takes(['text'], { text: 'a' })
    takes(['Text'], { text: 'a', mediaType: 'text/markdown' })
    takes(['file'], { raw: 'QUJD', mediaType: 'image/png' })
    takes(['file'], { url: 'https://example.com/a' })
    for (const mode of ['data', 'json']) {
      takes([mode], { data: 1 })
      assert.throws(() => takes([mode], { text: 'a' }), unsupported)
    }
    assert.throws(() => takes(['text'], { raw: 'QUJD' }), unsupported)
  })

  it('accepts all types for an agent without input modes [B-70]', () => {
    takes([], { raw: 'QUJD', mediaType: 'video/mp4' })
  })
})

describe('the output modes a caller accepts', () => {
  it('must include one of those that the agent requires, before any work starts [B-69]', () => {
    assert.throws(() => gives(['text/plain'], ['image/png']), unsupported)
    gives(['text/plain', 'image/png'], ['image/*'])
    gives(['image/*'], ['image/png', 'text/html'])
    gives(['text'], ['text/html'])
    gives(['text/plain'], ['text'])
  })

  it('constrain nothing if there are none, or if the agent requires none [B-69]', () => {
    gives(['text/plain'], [])
    gives([], ['image/png'])
  })
})

describe('a message', () => {
  it('comes from a user', () => {
    for (const role of ['ROLE_AGENT', 'ROLE_UNSPECIFIED'] as const) {
      assert.throws(() => check({ role }), { code: 'INVALID_PARAMS', message: /message\.role/ })
    }
  })

  it('has no more parts than the limit says', () => {
    const parts = (count: number): Part[] => Array.from({ length: count }, () => ({ text: 'a' }))
    check({ parts: parts(3) })
    assert.throws(() => check({ parts: parts(4) }), {
      code: 'INVALID_PARAMS',
      message: /message\.parts must not be more than 3/,
    })
  })

  it('has a maximum depth of nesting, in metadata and in data', () => {
    check({ metadata: { a: nested(3) }, parts: [{ data: nested(4) }] })
    assert.throws(() => check({ metadata: { a: nested(4) } }), {
      message: /message\.metadata must not be nested deeper than 4/,
    })
    assert.throws(() => check({ parts: [{ data: nested(5) }] }), { message: /message\.parts\[0\]\.data/ })
    assert.throws(() => check({ parts: [{ text: '', metadata: { a: nested(4) } }] }), {
      message: /message\.parts\[0\]\.metadata/,
    })
  })

  it('does not determine the depth of the stack', () => {
    assert.throws(() => check({ parts: [{ data: nested(200_000) }] }), { code: 'INVALID_PARAMS' })
  })

  it('may reference files by absolute http(s) URLs only [B-173]', () => {
    check({ parts: [{ url: 'https://example.com/a?b' }] })
    for (const url of ['file:///etc/passwd', 'javascript:alert(1)', '/a', 'not a url', '', 'http://']) {
      assert.throws(() => check({ parts: [{ url }] }), { code: 'INVALID_PARAMS', message: /message\.parts\[0\]\.url/ })
    }
  })

  it('gets all its violations at once', () => {
    assert.throws(
      () => check({ role: 'ROLE_AGENT', parts: [{ url: 'x' }], metadata: { a: nested(4) } }),
      (error: { details?: { violations?: readonly unknown[] } }) => error.details?.violations?.length === 3,
    )
  })
})
