import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard } from '@parley/a2a'
import { toPartialCard } from './partial-card.ts'

const card: AgentCard = {
  name: 'Oracle',
  description: '',
  version: '1.2.0',
  supportedInterfaces: [{ url: 'https://o.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false },
  securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
  securityRequirements: [{ schemes: { key: { list: [] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: [],
  skills: [{ id: 'ask', name: 'Ask', description: 'Asks', tags: ['a'], securityRequirements: [{ schemes: {} }] }],
  signatures: [{ protected: 'x', signature: 'y' }],
}

describe('the part of a remote card that is true of ours', () => {
  it('is what it can do, without where it is, who may call it and who vouches for it [B-34]', () => {
    assert.deepEqual(toPartialCard(card), {
      name: 'Oracle',
      version: '1.2.0',
      skills: [{ id: 'ask', name: 'Ask', description: 'Asks', tags: ['a'] }],
      inputModes: ['text/plain'],
    })
  })
})
