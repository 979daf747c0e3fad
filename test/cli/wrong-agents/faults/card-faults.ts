/** Faults of cards, versions and honesty. */
import { answer, editCard, editHead, editResult, json, rpcError, rpcResult } from '../wire-edits.ts'
import type { Fault } from '../fault.ts'

const withInterfaces = (edit: (entry: any) => any) => (card: any) => ({
  ...card,
  supportedInterfaces: card.supportedInterfaces?.map(edit),
})

export const cardFaults: readonly Fault[] = [
  {
    check: 'card.available',
    wrong: 'there is no card',
    intercept: answer('AgentCard', () => new Response('Not here', { status: 404 })),
  },
  {
    check: 'card.media-type',
    wrong: 'the card is labelled as text',
    intercept: editHead('AgentCard', ({ status, headers }) => {
      headers.set('content-type', 'text/plain')
      return { status, headers }
    }),
  },
  {
    check: 'card.required-fields',
    wrong: 'the card has no description',
    intercept: editCard(({ description: _description, ...card }) => card),
  },
  {
    check: 'card.interfaces',
    wrong: 'an interface has a relative address',
    intercept: editCard((card) => ({
      ...card,
      supportedInterfaces: [...card.supportedInterfaces, { url: '/a2a', protocolBinding: 'JSONRPC' }],
    })),
  },
  {
    check: 'card.main-interface-listed',
    wrong: 'the additional interfaces of a 0.3 card leave the main one out',
    version: '0.3',
    intercept: editCard((card) => ({
      ...card,
      additionalInterfaces: card.additionalInterfaces?.filter(({ url }: any) => url !== card.url),
    })),
  },
  {
    check: 'card.version-without-patch',
    wrong: 'an interface has the version 1.0.1',
    intercept: editCard(
      withInterfaces((entry) => (entry.protocolVersion === '1.0' ? { ...entry, protocolVersion: '1.0.1' } : entry)),
    ),
  },
  {
    check: 'card.camel-case',
    wrong: 'the card has the name of protobuf for a field',
    intercept: editCard((card) => ({ ...card, default_input_modes: card.defaultInputModes })),
  },
  {
    check: 'card.filled-lists',
    wrong: 'the card has no skills',
    intercept: editCard((card) => ({ ...card, skills: [] })),
  },
  {
    check: 'card.security-schemes',
    wrong: 'a security scheme is written as an SDK keeps it in memory',
    intercept: editCard((card) => ({
      ...card,
      securitySchemes: { bearer: { scheme: { $case: 'httpAuthSecurityScheme', value: { scheme: 'bearer' } } } },
    })),
  },
  {
    check: 'card.security-names',
    wrong: 'a requirement names a scheme that does not exist',
    intercept: editCard((card) => ({ ...card, securityRequirements: [{ schemes: { missing: { list: [] } } }] })),
  },
  {
    check: 'card.signatures',
    wrong: 'the signature has no key id',
    intercept: editCard((card) => ({
      ...card,
      signatures: [{ protected: Buffer.from('{"alg":"ES256"}').toString('base64url'), signature: 'AAAA' }],
    })),
  },
  {
    check: 'card.cache-control',
    wrong: 'the card tells nothing about caching',
    intercept: editHead('AgentCard', without('cache-control')),
  },
  { check: 'card.etag', wrong: 'the card has no ETag', intercept: editHead('AgentCard', without('etag')) },
  {
    check: 'card.not-modified',
    wrong: 'the card is sent again although it was not modified',
    intercept: answer('AgentCard', (_call, request, next) => {
      const headers = new Headers(request.headers)
      headers.delete('if-none-match')
      return next(new Request(request.url, { headers }))
    }),
  },
  {
    check: 'card.well-known-path',
    wrong: 'the card is only at the path of 0.2',
    intercept: async (request, next) => {
      if (request.url.endsWith('/agent-card.json')) return new Response('Not here', { status: 404 })
      if (!request.url.endsWith('/agent.json')) return next(request)
      return next(new Request(request.url.replace('agent.json', 'agent-card.json'), { headers: request.headers }))
    },
  },
  {
    check: 'honesty.interface',
    wrong: 'the interface of the card is not served',
    intercept: async (request, next) =>
      request.method === 'POST' ? new Response('Not here', { status: 404 }) : next(request),
  },
  {
    check: 'honesty.push-not-declared',
    wrong: 'configs are accepted although the card declares no push notifications',
    intercept: editCard((card) => ({ ...card, capabilities: { ...card.capabilities, pushNotifications: false } })),
  },
  {
    check: 'honesty.streaming-not-declared',
    wrong: 'streams are opened although the card declares none',
    intercept: editCard((card) => ({ ...card, capabilities: { ...card.capabilities, streaming: false } })),
  },
  {
    check: 'honesty.extended-card-not-declared',
    wrong: 'an extended card is served although the card declares none',
    intercept: answer('GetExtendedAgentCard', (call) => rpcResult(call, { name: 'Extended' })),
  },
  {
    check: 'honesty.extended-card-declared',
    wrong: 'the declared extended card has only a name',
    settings: { extendedCard: { description: 'More' } },
    intercept: answer('GetExtendedAgentCard', (call) => rpcResult(call, { name: 'Extended' })),
  },
  {
    check: 'honesty.required-extension',
    wrong: 'a required extension is not required',
    intercept: editCard((card) => ({
      ...card,
      capabilities: { ...card.capabilities, extensions: [{ uri: 'https://example.com/required', required: true }] },
    })),
  },
  {
    check: 'honesty.unknown-extension',
    wrong: 'every requested extension is echoed as active',
    intercept: async (request, next) => {
      const response = await next(request)
      const headers = new Headers(response.headers)
      const requested = request.headers.get('a2a-extensions')
      if (requested !== null) headers.set('a2a-extensions', requested)
      return new Response(response.body, { status: response.status, headers })
    },
  },
  {
    check: 'version.unsupported',
    wrong: 'every version is accepted',
    intercept: withVersion((version) => (version === null ? null : '1.0')),
  },
  {
    check: 'version.patch-ignored',
    wrong: 'a version with a patch is unknown',
    intercept: answer('*', (call, request) =>
      request.headers.get('a2a-version') === '1.0.7'
        ? rpcError(call, -32009, 'unknown version', [
            {
              '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
              reason: 'VERSION_NOT_SUPPORTED',
              domain: 'a2a-protocol.org',
            },
          ])
        : undefined,
    ),
  },
  {
    check: 'version.missing-is-0.3',
    wrong: 'a method of 0.3 without a version is unknown',
    intercept: answer('GetTask', (call, request) =>
      request.headers.get('a2a-version') === null ? rpcError(call, -32601, 'unknown method') : undefined,
    ),
  },
  {
    check: 'version.missing-is-not-1.0',
    wrong: 'a request without a version is one of 1.0',
    intercept: withVersion((version) => version ?? '1.0'),
  },
  {
    check: 'version.query-parameter',
    wrong: 'the version in the query is ignored',
    intercept: async (request, next) => next(new Request(request.url.replace(/\?A2A-Version=1\.0/, ''), request)),
  },
  {
    check: 'equivalence.bindings',
    wrong: 'tasks over REST belong to another context',
    isBetween: true,
    intercept: editResult('GetTask', (task, call) => (call.isJsonRpc ? task : { ...task, contextId: 'another' })),
  },
  {
    check: 'equivalence.versions',
    wrong: 'tasks of 1.0 are unknown in 0.3',
    isBetween: true,
    intercept: async (request, next) => {
      const isLegacy = request.headers.get('a2a-version') === null && request.method === 'POST'
      if (!isLegacy) return next(request)
      const text = await request.text()
      if (!text.includes('"tasks/get"'))
        return next(new Request(request.url, { method: 'POST', headers: request.headers, body: text }))
      return json({ jsonrpc: '2.0', id: JSON.parse(text).id, error: { code: -32001, message: 'not found' } })
    },
  },
]

function without(name: string) {
  return ({ status, headers }: { status: number; headers: Headers }) => {
    headers.delete(name)
    return { status, headers }
  }
}

function withVersion(choose: (version: string | null) => string | null): NonNullable<Fault['intercept']> {
  return async (request, next) => {
    const version = choose(request.headers.get('a2a-version'))
    const headers = new Headers(request.headers)
    if (version === null) headers.delete('a2a-version')
    else headers.set('a2a-version', version)
    if (request.method === 'GET') return next(new Request(request.url, { headers }))
    return next(
      new Request(request.url, { method: request.method, headers, body: await request.text(), signal: request.signal }),
    )
  }
}
