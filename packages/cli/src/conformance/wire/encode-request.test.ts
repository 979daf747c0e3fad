import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeRequest } from './encode-request.ts'
import { restRequest } from './spelling.ts'

const message = {
  messageId: 'm',
  role: 'ROLE_USER',
  parts: [{ text: 'hi' }, { url: 'https://example.com/f', filename: 'f', mediaType: 'text/plain' }, { data: { a: 1 } }],
}
const configuration = {
  returnImmediately: true,
  taskPushNotificationConfig: { url: 'https://example.com', authentication: { scheme: 'Bearer', credentials: 'c' } },
}

describe('a request in the words of 1.0', () => {
  it('is the same object for 1.0', () => {
    const payload = { message, configuration }
    assert.equal(encodeRequest('1.0', 'JSONRPC', 'SendMessage', payload), payload)
  })

  it('has kinds over JSON-RPC in 0.x, and blocking inverted', () => {
    assert.deepEqual(encodeRequest('0.x json', 'JSONRPC', 'SendMessage', { message, configuration }), {
      message: {
        kind: 'message',
        messageId: 'm',
        role: 'user',
        parts: [
          { kind: 'text', text: 'hi' },
          { kind: 'file', file: { uri: 'https://example.com/f', name: 'f', mimeType: 'text/plain' } },
          { kind: 'data', data: { a: 1 } },
        ],
      },
      configuration: {
        blocking: false,
        pushNotificationConfig: {
          url: 'https://example.com',
          authentication: { schemes: ['Bearer'], credentials: 'c' },
        },
        acceptedOutputModes: [],
      },
    })
  })

  it('has content, wrapped data and resource names in the protobuf of 0.3', () => {
    const sent = encodeRequest('0.3 proto', 'GRPC', 'SendMessage', { message })
    assert.deepEqual(sent['message'], {
      messageId: 'm',
      role: 'ROLE_USER',
      content: [
        { text: 'hi' },
        { file: { fileWithUri: 'https://example.com/f', name: 'f', mimeType: 'text/plain' } },
        { data: { data: { a: 1 } } },
      ],
    })
    assert.deepEqual(encodeRequest('0.3 proto', 'GRPC', 'GetTask', { id: 't' }), { id: 't', name: 'tasks/t' })
    assert.deepEqual(encodeRequest('0.3 proto', 'HTTP+JSON', 'GetTask', { id: 't' }), { id: 't' })
  })

  it('keeps what is wrong on purpose', () => {
    const wrong = { message: { role: 'ROLE_X', parts: 'text', extra: 1 } }
    assert.deepEqual(encodeRequest('0.x json', 'JSONRPC', 'SendMessage', wrong), {
      message: { kind: 'message', role: 'ROLE_X', parts: 'text', extra: 1 },
    })
    assert.deepEqual(encodeRequest('0.x json', 'JSONRPC', 'SendMessage', { message: 'hi' }), { message: 'hi' })
  })
})

describe('a request over REST', () => {
  it('has ids in its path, and the rest in its query', () => {
    assert.deepEqual(restRequest('1.0', 'GetTask', { id: 'a/b', historyLength: 2 }), {
      method: 'GET',
      path: '/tasks/a%2Fb?historyLength=2',
      body: undefined,
    })
    assert.equal(
      restRequest('1.0', 'ListTasks', { pageSize: 1, includeArtifacts: true }).path,
      '/tasks?pageSize=1&includeArtifacts=true',
    )
    assert.equal(restRequest('1.0', 'CancelTask', { id: 't' }, 'acme').path, '/acme/tasks/t:cancel')
    assert.equal(restRequest('0.3', 'CancelTask', { id: 't' }).path, '/v1/tasks/t:cancel')
  })
})
