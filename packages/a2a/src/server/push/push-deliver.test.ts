import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PushDelivery, PushTarget } from '../../engine/contract.ts'
import { A2AError } from '../../model/error.ts'
import { createPushDeliver } from './push-deliver.ts'
import type { PushSigner } from './push-signer.ts'
import { createEncodingCache } from '../streaming/encoding-cache.ts'

const url = 'https://hooks.example.com/a?x=1'
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const task = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' as const } }
const event = { statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' as const } } }
const signed: PushSigner = {
  sign: async (audience, taskId, body) => `jwt for ${audience} of ${taskId} about ${body.length}`,
  jwks: async () => ({ keys: [] }),
  rotate: async () => {},
}

function deliveryOf(target: Partial<PushTarget> = {}): PushDelivery {
  return {
    agent: 'agent',
    taskId: 't1',
    configId: 'hook',
    item: { seq: 7, event, final: false },
    target: { version: '1.0', triggers: 'significant', url, ...target },
    traceparent,
    task: () => task,
    signal: new AbortController().signal,
  }
}

async function deliver(
  target: Partial<PushTarget>,
  answer: () => Response | Promise<Response> = () => new Response(null, { status: 204 }),
  signer?: PushSigner,
) {
  const requests: { readonly request: Request; readonly body: unknown }[] = []
  const outcome = await createPushDeliver({
    fetch: async (request) => {
      requests.push({ request, body: JSON.parse(await request.clone().text()) })
      return answer()
    },
    validateUrl: ({ hostname }) => (hostname === 'inside.example.com' ? 'is ours' : undefined),
    signer,
    encodingCache: createEncodingCache(),
    decorate: (_, item) => item.event,
    now: () => Date.parse('2026-01-01T00:00:00Z'),
  })(deliveryOf(target))
  return { outcome, requests, headers: requests[0]?.request.headers ?? new Headers(), body: requests[0]?.body }
}

describe('a notification', () => {
  it('of 1.0 is the event in its wrapper, posted as application/a2a+json [B-121 B-123 F-12]', async () => {
    const { requests, headers, body } = await deliver({})
    assert.deepEqual(body, event)
    assert.equal(headers.get('content-type'), 'application/a2a+json')
    assert.equal(headers.get('a2a-version'), '1.0')
    assert.equal(requests[0]?.request.method, 'POST')
    assert.equal(requests[0]?.request.url, url)
  })

  for (const version of ['0.2', '0.3']) {
    it(`of ${version} is the whole current task, posted as application/json [B-122 B-123]`, async () => {
      const { headers, body } = await deliver({ version })
      assert.deepEqual(body, { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'completed' } })
      assert.equal(headers.get('content-type'), 'application/json')
    })
  }

  it('has its event and config, the token and the given trace [B-126 B-171 T-7]', async () => {
    const { headers } = await deliver({ token: 't0k' })
    assert.equal(headers.get('a2a-event-id'), '7')
    assert.equal(headers.get('a2a-push-config-id'), 'hook')
    assert.equal(headers.get('x-a2a-notification-token'), 't0k')
    assert.equal(headers.get('traceparent'), traceparent)
    assert.equal(headers.get('authorization'), null)
  })

  it('has the credentials of its config, with or without a token [B-124 B-126]', async () => {
    const authentication = { scheme: 'Basic', credentials: 'bWU6c2VjcmV0' }
    const { headers } = await deliver({ authentication, token: 't0k' }, undefined, signed)
    assert.equal(headers.get('authorization'), 'Basic bWU6c2VjcmV0')
    assert.equal(headers.get('x-a2a-notification-token'), 't0k')
  })

  it('is signed if its config has no credentials, and requires no other scheme [B-125 B-134]', async () => {
    const bare = await deliver({}, undefined, signed)
    assert.match(bare.headers.get('authorization') ?? '', /^Bearer jwt for https:\/\/hooks\.example\.com\/a\?x=1 of t1/)
    const bearer = await deliver({ authentication: { scheme: 'bearer' } }, undefined, signed)
    assert.match(bearer.headers.get('authorization') ?? '', /^Bearer jwt/)
    const basic = await deliver({ authentication: { scheme: 'Basic' } }, undefined, signed)
    assert.equal(basic.headers.get('authorization'), null)
    assert.equal((await deliver({ authentication: { scheme: 'Bearer' } })).headers.get('authorization'), null)
  })

  const outcomes: readonly [status: number, outcome: string][] = [
    [200, 'delivered'],
    [204, 'delivered'],
    [302, 'failed'],
    [307, 'failed'],
    [400, 'refused'],
    [401, 'refused'],
    [404, 'refused'],
    [408, 'failed'],
    [410, 'gone'],
    [425, 'failed'],
    [429, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
  ]
  for (const [status, expected] of outcomes) {
    it(`that is answered with ${status} is ${expected} [B-128]`, async () => {
      const { outcome, requests } = await deliver({}, () => new Response(null, { status, headers: { location: '/b' } }))
      assert.deepEqual(outcome, { outcome: expected, detail: `HTTP ${status}` })
      assert.equal(requests.length, 1)
      assert.equal(requests[0]?.request.redirect, 'manual')
    })
  }

  it('waits as long as Retry-After says, in seconds or until a date', async () => {
    const busy = (after: string) => () => new Response(null, { status: 503, headers: { 'retry-after': after } })
    const wish = async (after: string) => {
      const { outcome } = await deliver({}, busy(after))
      return outcome.outcome === 'failed' ? outcome.retryAfterMs : 'odd'
    }
    assert.equal(await wish('120'), 120_000)
    assert.equal(await wish('Thu, 01 Jan 2026 00:01:00 GMT'), 60_000)
    assert.equal(await wish('soon'), undefined)
  })

  it('fails with a reason, and never with the address', async () => {
    const refused = Object.assign(new Error(`connect ECONNREFUSED ${url}`), { code: 'ECONNREFUSED' })
    const said = async (reason: unknown) => (await deliver({}, () => Promise.reject(reason))).outcome
    assert.deepEqual(await said(new TypeError('fetch failed', { cause: refused })), {
      outcome: 'failed',
      detail: 'ECONNREFUSED',
    })
    assert.deepEqual(await said(new Error(`no ${url}`)), { outcome: 'failed', detail: 'the connection failed' })
  })

  it('is not sent to a refused address, by the rule or by the guard [B-129]', async () => {
    const inside = await deliver({ url: 'https://inside.example.com/' })
    assert.deepEqual(inside.outcome, { outcome: 'refused', detail: 'the address is ours' })
    assert.equal(inside.requests.length, 0)
    const guarded = await deliver({}, () => Promise.reject(new A2AError('PERMISSION_DENIED', 'x leads to 10.0.0.1')))
    assert.deepEqual(guarded.outcome, {
      outcome: 'refused',
      detail: 'the address is not public, and push.allow does not list it',
    })
  })

  it('that was refused keeps the first words of the response, without repeated secrets', async () => {
    const json = { headers: { 'content-type': 'application/json' } }
    const refused = await deliver({}, () => new Response('{"error":\n  "no such hook"}', { status: 404, ...json }))
    assert.deepEqual(refused.outcome, { outcome: 'refused', detail: 'HTTP 404', answer: '{"error": "no such hook"}' })
    const repeats = 'denied: Bearer s3cr3t-1 with t0ken-22'
    const target = { token: 't0ken-22', authentication: { scheme: 'Bearer', credentials: 's3cr3t-1' } }
    const echoed = await deliver(target, () => new Response(repeats, { status: 401 }))
    assert.deepEqual(echoed.outcome, { outcome: 'refused', detail: 'HTTP 401', answer: 'denied: Bearer … with …' })
    const signer = { ...signed, sign: async () => 'head.body.signature' }
    const gap = ' '.repeat(900)
    const ours = await deliver({}, () => new Response(`got ${gap}head.body.signature`, { status: 500 }), signer)
    assert.deepEqual(ours.outcome, { outcome: 'failed', detail: 'HTTP 500', answer: 'got …' })
    const long = await deliver({}, () => new Response(`${'é'.repeat(5_000)}\u0000`, { status: 503 }))
    assert.equal('answer' in long.outcome && long.outcome.answer, `${'é'.repeat(300)}…`)
    for (const [status, body, type] of [
      [500, '', 'text/plain'],
      [500, 'PK', 'application/zip'],
      [200, 'fine', 'text/plain'],
    ] as const) {
      const { outcome } = await deliver({}, () => new Response(body, { status, headers: { 'content-type': type } }))
      assert.equal('answer' in outcome, false, `${status} ${type}`)
    }
  })

  it('that was refused does not wait for an endless or missing body', async () => {
    for (const pull of [
      (c: ReadableStreamDefaultController) => c.enqueue(Buffer.from('no ')),
      () => new Promise<void>(() => {}),
    ]) {
      const ended = Promise.withResolvers<void>()
      const body = new ReadableStream({ pull, cancel: () => ended.resolve() })
      const { outcome } = await deliver({}, () => new Response(body, { status: 500 }))
      assert.equal(outcome.outcome, 'failed')
      await ended.promise
    }
  })

  it('is done with the status: the body is not read [B-130]', async () => {
    const ended = Promise.withResolvers<void>()
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(16_384)),
      cancel: () => ended.resolve(),
    })
    const { outcome } = await deliver({}, () => new Response(endless, { status: 200 }))
    assert.equal(outcome.outcome, 'delivered')
    await ended.promise
  })
})
