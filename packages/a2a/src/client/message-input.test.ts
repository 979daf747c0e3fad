import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bytesToBase64 } from './attachment-part.ts'
import { toSendMessageRequest } from './remote-agent.ts'

describe('a message input', () => {
  it('is a text, parts or a message, with its own id', async () => {
    const { message } = await toSendMessageRequest('hi')
    assert.deepEqual({ ...message, messageId: '' }, { messageId: '', role: 'ROLE_USER', parts: [{ text: 'hi' }] })
    assert.notEqual(message.messageId, (await toSendMessageRequest('hi')).message.messageId)
    assert.deepEqual((await toSendMessageRequest([{ text: 'a' }, { data: null }])).message.parts, [
      { text: 'a' },
      { data: null },
    ])
    const whole = { parts: [{ text: 'x' }], messageId: 'm', metadata: { k: 1 }, contextId: 'mine' }
    const request = await toSendMessageRequest(whole, { contextId: 'c', taskId: 't' })
    assert.deepEqual(request, { message: { role: 'ROLE_USER', taskId: 't', ...whole } })
  })

  it('has the fields of the options, and no others', async () => {
    const push = { url: 'https://hook.test' }
    const request = await toSendMessageRequest('hi', {
      messageId: 'm1',
      taskId: 't1',
      contextId: 'c1',
      referenceTaskIds: ['t0'],
      acceptedOutputModes: ['text/plain'],
      historyLength: 0,
      returnImmediately: true,
      metadata: { a: 1 },
      push,
      data: { rows: 2 },
      timeoutMs: 5,
    })
    assert.deepEqual(request, {
      message: {
        messageId: 'm1',
        role: 'ROLE_USER',
        taskId: 't1',
        contextId: 'c1',
        referenceTaskIds: ['t0'],
        parts: [{ text: 'hi' }, { data: { rows: 2 } }],
      },
      configuration: {
        acceptedOutputModes: ['text/plain'],
        historyLength: 0,
        returnImmediately: true,
        taskPushNotificationConfig: push,
      },
      metadata: { a: 1 },
    })
    assert.deepEqual(Object.keys(await toSendMessageRequest('hi', { timeoutMs: 5 })), ['message'])
  })

  it('accepts files of every kind, in order', async () => {
    const bytes = new Uint8Array([104, 105])
    const { message } = await toSendMessageRequest('see', {
      files: [
        new File([bytes], 'a.txt', { type: 'text/plain' }),
        new Blob([bytes]),
        bytes,
        Buffer.from('hi'),
        bytes.buffer,
        { bytes, name: 'b.bin', mediaType: 'application/octet-stream' },
        { bytes: 'aGk=', name: 'c' },
        new URL('https://files.test/d.pdf'),
        { url: 'https://files.test/e', mediaType: 'image/png' },
        { raw: 'aGk=' },
      ],
    })
    assert.deepEqual(message.parts.slice(1), [
      { raw: 'aGk=', filename: 'a.txt', mediaType: 'text/plain' },
      { raw: 'aGk=' },
      { raw: 'aGk=' },
      { raw: 'aGk=' },
      { raw: 'aGk=' },
      { raw: 'aGk=', filename: 'b.bin', mediaType: 'application/octet-stream' },
      { raw: 'aGk=', filename: 'c' },
      { url: 'https://files.test/d.pdf' },
      { url: 'https://files.test/e', mediaType: 'image/png' },
      { raw: 'aGk=' },
    ])
  })
})

describe('base64', () => {
  it("is the same with and without the platform's encoder, also for a file larger than the stack", () => {
    const bytes = new Uint8Array(3_000_001).map((_, index) => index * 7)
    const expected = Buffer.from(bytes).toString('base64')
    assert.ok(bytesToBase64(bytes) === expected)
    const withOwn = Object.assign(new Uint8Array(2), { toBase64: () => 'the platform’s' })
    assert.equal(bytesToBase64(withOwn), 'the platform’s')
    const without = Object.assign(bytes, { toBase64: undefined })
    assert.ok(bytesToBase64(without as never) === expected)
  })
})
