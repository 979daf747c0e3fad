/** The output of the profile, object by object. test/requirements covers how it is served. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clientToolsExtension as uri } from '../../model/extension.ts'
import type { EndpointVariant, WireObject } from './endpoint-variant.ts'
import { legacyV03Draft } from './legacy-v03-draft.ts'

const [rpc, rest] = legacyV03Draft as [EndpointVariant, EndpointVariant]
const rewrite = (object: WireObject): any => rest.rewrite?.(object)

describe('an artifact event of the older draft', () => {
  const written = (parts: readonly WireObject[], more: WireObject = {}) =>
    rewrite({ kind: 'artifact-update', taskId: 't', artifact: { artifactId: 'a', parts }, ...more })

  it('has the first part of the chunk as its `part`, of whatever kind [S2-34]', () => {
    const file = { kind: 'file', file: { uri: 'https://example.com/x' } }
    assert.deepEqual(written([file, { kind: 'text', text: 'x' }], { append: true }).part, {
      ...file,
      index: 0,
      append: true,
    })
    assert.deepEqual(written([]).part, { kind: 'text', text: '', index: 0, append: false })
  })

  it('says `append` and `lastChunk`, whatever they are [S2-7]', () => {
    const { append, lastChunk } = written([])
    assert.deepEqual([append, lastChunk], [false, false])
    const last = written([], { append: true, lastChunk: true })
    assert.deepEqual([last.append, last.lastChunk], [true, true])
  })
})

describe('a question of the older draft', () => {
  const asked = (message: WireObject, state = 'input-required') =>
    rewrite({ kind: 'task', id: 't', status: { state, message } }).status.message.inputRequest

  it('fills in what the agent’s own request leaves out [S2-13]', () => {
    const message = { messageId: 'q1', parts: [{ kind: 'text', text: 'Key?' }] }
    const metadata = { [uri]: { inputRequest: { requestId: 'input-1', sensitive: true, format: 'hex' } } }
    const plain = { kind: 'input-request', prompt: 'Key?', sensitive: false, requestId: 'q1' }
    assert.deepEqual(asked({ ...message, metadata }), {
      ...plain,
      requestId: 'input-1',
      sensitive: true,
      format: 'hex',
    })
    assert.deepEqual(asked(message), plain)
  })

  it('is one only while the task asks for input', () => {
    assert.equal(asked({ messageId: 'q1', parts: [] }, 'working'), undefined)
    const bare = { kind: 'task', id: 't', status: { state: 'input-required' } }
    assert.deepEqual(rewrite(bare), bare)
  })
})

describe('a request of the older draft', () => {
  const at = (variant: EndpointVariant, payload: unknown, version: '0.2' | '0.3' | '1.0' = '0.3') =>
    variant.matches({ version, operation: 'SendStreamingMessage', payload })

  it('over REST is a message with `kind`, and may be one until its body is read [S2-25]', () => {
    assert.ok(at(rest, { message: { kind: 'message' } }))
    assert.ok(at(rest, undefined))
    for (const payload of [{}, { message: null }, { message: {} }, { message: [] }, { kind: 'message' }]) {
      assert.ok(!at(rest, payload), JSON.stringify(payload))
    }
    assert.ok(!rest.matches({ version: '0.3', operation: 'GetTask', payload: undefined }))
  })

  it('is of 0.x', () => {
    assert.ok(at(rpc, {}) && at(rpc, {}, '0.2') && !at(rpc, {}, '1.0'))
    assert.ok(!at(rest, { message: { kind: 'message' } }, '1.0'))
  })
})
