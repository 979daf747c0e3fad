import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clientToolsExtension, credentialsExtension } from './extension.ts'
import { withAuthRequest, withSecretRequest, asksForSecret, isRedacted, redact } from './secrets.ts'
import type { Message, Part } from './task.ts'

const message = (parts: readonly Part[], over: Partial<Message> = {}): Message => ({
  messageId: 'm',
  role: 'ROLE_USER',
  parts,
  ...over,
})
const mark = { metadata: { [credentialsExtension]: { sensitive: true } } }

describe('a secret', () => {
  it('is replaced part by part, for every kind of part, and the rest stays', () => {
    const given = message([
      { text: 'my key is' },
      { text: 'hunter2', ...mark },
      { data: { pin: 'hunter2' }, ...mark },
      { raw: 'aHVudGVyMg==', filename: 'hunter2.pem', mediaType: 'application/x-pem-file', ...mark },
      { url: 'https://vault.example/hunter2', ...mark },
    ])
    const kept = redact(given, false)
    assert.ok(kept !== undefined && isRedacted(kept))
    assert.doesNotMatch(JSON.stringify(kept), /hunter2|aHVudGVyMg/)
    assert.deepEqual(kept.parts[0], { text: 'my key is' })
    assert.deepEqual(kept.parts.map(isRedacted), [false, true, true, true, true])
  })

  it('is marked on its part, on its message, as a credential, or by the tool that it answers', () => {
    const text: Part = { text: 'x' }
    assert.equal(redact(message([text]), false), undefined)
    assert.equal(redact(message([{ ...text, metadata: { other: true } }]), false), undefined)
    assert.ok(redact(message([text], mark), false))
    assert.ok(redact(message([{ ...text, metadata: { [credentialsExtension]: { type: 'credentials' } } }]), false))
    assert.ok(redact(message([{ ...text, metadata: { [clientToolsExtension]: { sensitive: true } } }]), false))
    assert.ok(redact(message([text]), true))
  })

  it('keeps the id of the call it answered, and no other metadata', () => {
    const about = { [clientToolsExtension]: { type: 'tool-result', sensitive: true, hint: 'hunter2' }, note: 'hunter2' }
    const kept = redact(message([{ data: { toolUseId: 't1', result: 'hunter2' }, metadata: about }]), false)
    assert.deepEqual(kept?.parts, [
      {
        data: { toolUseId: 't1', redacted: true },
        metadata: {
          [clientToolsExtension]: { type: 'tool-result' },
          [credentialsExtension]: { sensitive: true, redacted: true },
        },
      },
    ])
  })
})

describe('a question', () => {
  const question = { parts: [{ text: 'Password?' }], metadata: { own: 1 } }

  it('asks for a secret if it is marked so, or if it accepts credentials in the answer', () => {
    assert.equal(asksForSecret(undefined), false)
    assert.equal(asksForSecret(question), false)
    assert.equal(asksForSecret(withSecretRequest(question, 'r1')), true)
    const schemes = { github: { httpAuthSecurityScheme: { scheme: 'bearer' } } }
    assert.equal(asksForSecret(withAuthRequest(question, { schemes })), false)
    assert.equal(asksForSecret(withAuthRequest(question, { schemes, inBand: true })), true)
  })

  it('keeps its text, and lists the extension that it used [B-146]', () => {
    const asked: typeof question & { extensions?: readonly string[] } = withSecretRequest(question, 'r1')
    const inputRequest = { kind: 'input-request', requestId: 'r1', prompt: 'Password?', sensitive: true }
    assert.deepEqual(asked.metadata, { own: 1, [clientToolsExtension]: { inputRequest } })
    assert.deepEqual(asked.extensions, [clientToolsExtension])
  })
})
