import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import express from 'express'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import { pushClaims, pushHeaders } from '../../model/push-headers.ts'
import type { EngineLog } from '../../engine/contract.ts'
import { type Delivery, webhook, type WebhookOptions } from '../index.ts'

const quiet: EngineLog = { debug() {}, info() {}, warn() {}, error() {} }
const servers: Server[] = []
after(() => Promise.all(servers.map((server) => closed(server))))

async function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  if (server.listening) await new Promise((resolve) => server.close(resolve))
}
async function listen(handler: Parameters<typeof createServer>[1]): Promise<{ url: string; server: Server }> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

const task = (state = 'TASK_STATE_WORKING', id = 't1') => ({ task: { id, contextId: 'c1', status: { state } } })

/** A webhook on a socket, with all its deliveries. */
async function open(options: WebhookOptions, handler?: (delivery: Delivery) => unknown) {
  const hook = webhook({ log: quiet, ...options })
  const deliveries: Delivery[] = []
  hook.handle(async (delivery) => {
    await handler?.(delivery)
    deliveries.push(delivery)
  })
  const { url } = await listen(hook.node)
  return { hook, url, deliveries, post: (body: unknown, headers = {}) => post(url, body, headers) }
}

async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/a2a+json', ...headers },
    body: text,
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** A sender that publishes its keys on a socket and signs as receivers expect. */
async function openSender() {
  const keys: { kid: string; privateKey: CryptoKey; jwk: JWK }[] = []
  let fetches = 0
  let status = 200
  async function addKey(publish = true) {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const kid = randomUUID()
    const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }
    if (publish) keys.push({ kid, privateKey, jwk })
    return { kid, privateKey, jwk }
  }
  await addKey()
  const { url, server } = await listen((_req, res) => {
    fetches++
    res.writeHead(status, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }))
  })
  async function sign(body: unknown, claims: Record<string, unknown> = {}, key = keys.at(-1)!) {
    const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex')
    const now = Math.floor(Date.now() / 1000)
    const all = {
      iss: 'https://hub.test',
      aud: 'https://me.test/hook',
      iat: now,
      exp: now + 300,
      jti: randomUUID(),
      [pushClaims.taskId]: 't1',
      [pushClaims.bodyHash]: hash,
      ...claims,
    }
    const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    const jwt = await new SignJWT(kept).setProtectedHeader({ alg: 'ES256', kid: key.kid }).sign(key.privateKey)
    return { authorization: `Bearer ${jwt}` }
  }
  return {
    jwks: `${url}/.well-known/jwks.json`,
    keys,
    addKey,
    sign,
    close: () => closed(server),
    fail: (with_: number) => (status = with_),
    get fetches() {
      return fetches
    },
  }
}

const audience = 'https://me.test/hook'
const issuer = 'https://hub.test'

describe('a webhook', () => {
  it('passes on notifications with the right token, and answers 2xx when the handler is done [B-133]', async () => {
    let finish = (): void => {}
    const started = Promise.withResolvers<void>()
    const { post, deliveries } = await open({ token: 's3cret' }, () => {
      started.resolve()
      return new Promise<void>((resolve) => (finish = resolve))
    })
    let answered = false
    const answer = post(task(), { [pushHeaders.token]: 's3cret' }).finally(() => (answered = true))
    await started.promise
    assert.equal(answered, false)
    finish()
    assert.equal((await answer).status, 204)
    assert.equal(deliveries[0]?.taskId, 't1')
    assert.deepEqual(deliveries[0].event, task())
  })

  it('refuses a wrong, a missing and a longer token with the same response [B-133]', async () => {
    const { post, deliveries } = await open({ token: ['new', 'old'] })
    const answers = await Promise.all([
      post(task(), { [pushHeaders.token]: 'ne' }),
      post(task(), { [pushHeaders.token]: 'newer' }),
      post(task()),
    ])
    for (const { status, text, headers } of answers) {
      assert.deepEqual([status, text], [401, answers[0].text])
      assert.equal(headers.get('www-authenticate'), 'Bearer')
    }
    assert.equal(deliveries.length, 0)
    for (const token of ['new', 'old']) assert.equal((await post(task(), { [pushHeaders.token]: token })).status, 204)
  })

  it('may have a token for each task', async () => {
    const { post, deliveries } = await open({ token: async (taskId) => (taskId === 't1' ? 'one' : undefined) })
    assert.equal((await post(task(), { [pushHeaders.token]: 'one' })).status, 204)
    assert.equal((await post(task(), { [pushHeaders.token]: 'two' })).status, 401)
    assert.equal((await post(task('TASK_STATE_WORKING', 't2'), { [pushHeaders.token]: 'one' })).status, 401)
    assert.equal((await post(task())).status, 401)
    assert.equal(deliveries.length, 1)
  })

  it('supports other schemes: the authentication of the config, and a custom header [B-133]', async () => {
    const basic = await open({ authentication: { scheme: 'Basic', credentials: btoa('me:secret') } })
    assert.equal((await basic.post(task(), { authorization: `basic ${btoa('me:secret')}` })).status, 204)
    assert.equal((await basic.post(task(), { authorization: `Basic ${btoa('me:public')}` })).status, 401)
    assert.equal((await basic.post(task(), { authorization: `Bearer ${btoa('me:secret')}` })).status, 401)
    assert.equal((await basic.post(task())).headers.get('www-authenticate'), 'Basic')
    const key = await open({ apiKey: { header: 'X-Hook-Key', key: 'k' } })
    assert.equal((await key.post(task(), { 'x-hook-key': 'k' })).status, 204)
    assert.equal((await key.post(task(), { 'x-hook-key': 'l' })).status, 401)
  })

  it('answers 500 when its handler fails, and passes a repeat on again [B-133]', async () => {
    let failures = 1
    const { post, deliveries } = await open({ token: 't' }, () => {
      if (failures-- > 0) throw new Error('database is down')
    })
    const headers = { [pushHeaders.token]: 't', [pushHeaders.eventId]: '7', [pushHeaders.configId]: 'p1' }
    const failed = await post(task(), headers)
    assert.equal(failed.status, 500)
    assert.doesNotMatch(failed.text, /database/)
    assert.equal((await post(task(), headers)).status, 204)
    assert.equal((await post(task(), headers)).status, 204)
    assert.equal(deliveries.length, 1)
  })

  it('answers 500 when its handler times out, and aborts its signal', async () => {
    let handlerSignal: AbortSignal | undefined
    const { post } = await open({ token: 't', timeoutMs: 20 }, ({ signal }) => {
      handlerSignal = signal
      return once(signal, 'abort')
    })
    assert.equal((await post(task(), { [pushHeaders.token]: 't' })).status, 500)
    assert.equal(handlerSignal?.aborted, true)
  })

  it('responds with a retry while no handler is registered', async () => {
    const hook = webhook({ token: 't', log: quiet })
    const { url } = await listen(hook.node)
    const { status, headers } = await post(url, task(), { [pushHeaders.token]: 't' })
    assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
  })

  it('accepts only JSON posts up to a size, and reports malformed ones', async () => {
    const { url, post, deliveries } = await open({ unverified: true, bodyBytes: 1_000 })
    const got = await fetch(url)
    assert.deepEqual([got.status, got.headers.get('allow')], [405, 'POST'])
    assert.equal((await post(task(), { 'content-type': 'text/plain' })).status, 415)
    assert.equal((await post('{')).status, 400)
    assert.equal((await post('')).status, 400)
    assert.equal((await post({ task: { ...task().task, metadata: { x: 'x'.repeat(2_000) } } })).status, 413)
    assert.match((await post({ statusUpdate: { status: {} } })).text, /statusUpdate\.taskId/)
    assert.equal((await post({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } })).status, 400)
    assert.equal((await post('['.repeat(500) + ']'.repeat(500))).status, 400)
    assert.equal(deliveries.length, 0)
  })

  it('refuses unknown senders before it reads their body', async () => {
    const { url } = await open({ token: 't' })
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': '1000000' },
      })
      request.on('error', reject)
      request.on('response', (response) => {
        resolve(response.statusCode)
        request.destroy()
      })
      // Not ended: reading the body would wait forever.
      request.write('{')
    })
    assert.equal(status, 401)
  })

  it('refuses unexpected tasks, and may wait until it knows them [B-133]', async () => {
    const sent = Promise.withResolvers<string>()
    const { post, deliveries } = await open({ unverified: true, expects: async (id) => id === (await sent.promise) })
    const early = post(task())
    sent.resolve('t1')
    assert.equal((await early).status, 204)
    assert.equal((await post(task('TASK_STATE_WORKING', 'another'))).status, 404)
    assert.equal(deliveries.length, 1)
  })

  it('limits concurrent deliveries', async () => {
    const full = Promise.withResolvers<void>()
    const free = Promise.withResolvers<void>()
    const { post } = await open({ unverified: true, concurrent: 1 }, () => {
      full.resolve()
      return free.promise
    })
    const first = post(task())
    await full.promise
    assert.equal((await post(task())).status, 429)
    free.resolve()
    assert.equal((await first).status, 204)
  })

  it('echoes a validation token if enabled, and as text only [T-8]', async () => {
    const { url } = await open({ token: 't', answerChallenges: true })
    const answer = await fetch(`${url}?validationToken=a%3Cb%3E`)
    assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.deepEqual([answer.status, await answer.text()], [200, 'a<b>'])
    assert.equal((await fetch(url)).status, 400)
    const shy = await open({ token: 't' })
    assert.equal((await fetch(`${shy.url}?validationToken=a`)).status, 405)
  })

  it('is refused if it would accept unknown senders', () => {
    const mistakes: WebhookOptions[] = [
      {},
      { token: '' },
      { token: ['a', ''] },
      { jwks: { keys: [] } },
      { jwks: 'hub.example.com', token: 't' },
      { jwks: { keys: [] }, audience, authentication: { scheme: 'Bearer', credentials: 'x' } },
      { authentication: { scheme: 'Bearer', credentials: '' } },
      { apiKey: { header: 'x', key: '' } },
    ]
    for (const mistake of mistakes) assert.throws(() => webhook(mistake), { name: 'ConfigError' })
  })

  it("also runs on the web's Request", async () => {
    const hook = webhook({ token: 't', log: quiet })
    const seen: string[] = []
    hook.handle(({ taskId }) => seen.push(taskId))
    const request = new Request('https://me.test/hook', {
      method: 'POST',
      headers: { 'content-type': 'application/json', [pushHeaders.token]: 't' },
      body: JSON.stringify(task()),
    })
    assert.equal((await hook.fetch(request)).status, 204)
    assert.deepEqual(seen, ['t1'])
  })
})

describe('a signed notification', () => {
  it('is accepted if the JWT is of the sender, fresh, for this receiver, task and body [B-133 B-134 T-7]', async () => {
    const sender = await openSender()
    const { post, deliveries } = await open({ jwks: sender.jwks, issuer, audience, token: 't' })
    const token = { [pushHeaders.token]: 't' }
    const body = task()
    assert.equal((await post(body, { ...token, ...(await sender.sign(body)) })).status, 204)
    assert.equal(deliveries[0]?.claims?.['iss'], issuer)

    const now = Math.floor(Date.now() / 1000)
    const wrong: Record<string, unknown>[] = [
      { iss: 'https://other.test' },
      { aud: 'https://other.test/hook' },
      { iat: now - 1_000 },
      { iat: now + 1_000 },
      { iat: undefined },
      { exp: now - 60 },
      { jti: undefined },
      { [pushClaims.taskId]: 't2' },
      { [pushClaims.bodyHash]: 'ab' },
      { [pushClaims.bodyHash]: undefined },
      { [pushClaims.bodyHash]: 7 },
    ]
    const answers = new Set<string>()
    for (const claims of wrong) {
      const { status, text } = await post(body, { ...token, ...(await sender.sign(body, claims)) })
      assert.equal(status, 401, JSON.stringify(claims))
      answers.add(text)
    }
    const signed = await sender.sign(body)
    const others = [
      await post(body, signed),
      await post(task('TASK_STATE_FAILED'), { ...token, ...signed }),
      await post(body, token),
      await post(body, { ...token, authorization: 'Bearer nonsense' }),
      await post(body, { ...token, authorization: `Bearer ${btoa('{"alg":"none"}')}.${btoa('{}')}.` }),
      await post(body, { ...token, ...(await sender.sign(body, {}, await sender.addKey(false))) }),
    ]
    for (const { status, text } of others.slice(0, -1)) {
      assert.equal(status, 401)
      answers.add(text)
    }
    // The keys were fetched a moment ago, so this key may be newer.
    assert.equal(others.at(-1)?.status, 503)
    assert.equal(answers.size, 1, 'the answer tells which part was wrong')
    assert.equal(deliveries.length, 1)
  })

  it('is handled once, however often it is sent, and its JWT is invalid for another body [B-133]', async () => {
    const sender = await openSender()
    const keys = { keys: sender.keys.map(({ jwk }) => jwk) }
    const { post, deliveries } = await open({ jwks: keys, audience, requiredClaims: [] })
    const body = task()
    const signed = await sender.sign(body, { [pushClaims.bodyHash]: undefined })
    const answers = await Promise.all([post(body, signed), post(body, signed)])
    answers.push(await post(body, signed))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [204, 204, 204],
    )
    assert.equal(deliveries.length, 1)
    assert.equal((await post(task('TASK_STATE_FAILED'), signed)).status, 401)
    assert.equal(deliveries.length, 1)
  })

  it('may be signed with a newer key, and unknown keys trigger few fetches [B-134]', async () => {
    const sender = await openSender()
    const { post } = await open({ jwks: sender.jwks, audience, cooldownMs: 0 })
    assert.equal((await post(task(), await sender.sign(task()))).status, 204)
    await sender.addKey()
    assert.equal((await post(task(), await sender.sign(task()))).status, 204)
    assert.equal((await post(task(), await sender.sign(task(), {}, sender.keys[0]))).status, 204)
    assert.equal(sender.fetches, 2)
    const forged = await sender.addKey(false)
    assert.equal((await post(task(), await sender.sign(task(), {}, forged))).status, 401)

    const calm = await open({ jwks: sender.jwks, audience })
    assert.equal((await calm.post(task(), await sender.sign(task()))).status, 204)
    const before = sender.fetches
    for (let i = 0; i < 5; i++) await calm.post(task(), await sender.sign(task(), {}, forged))
    assert.equal(sender.fetches, before)
  })

  it('is postponed, not refused, while the keys of its sender are unavailable', async () => {
    const sender = await openSender()
    sender.fail(500)
    const { post } = await open({ jwks: sender.jwks, audience })
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await post(task(), await sender.sign(task()))
      assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
    }
    assert.equal(sender.fetches, 1, 'a key server in trouble is asked at every notification')
    const gone = await open({ jwks: sender.jwks, audience })
    await sender.close()
    assert.equal((await gone.post(task(), await sender.sign(task()))).status, 503)
  })

  it('is verified also behind a body parser', async () => {
    const sender = await openSender()
    const hook = webhook({ jwks: sender.jwks, audience, log: quiet })
    hook.handle(() => {})
    const app = express()
    app.use(express.json({ type: '*/*' }))
    app.post('/hook', hook.node)
    const { url } = await listen(app as Parameters<typeof createServer>[1])
    assert.equal((await post(`${url}/hook`, task(), await sender.sign(task()))).status, 204)
    assert.equal((await post(`${url}/hook`, task('TASK_STATE_FAILED'), await sender.sign(task()))).status, 401)
  })
})
