import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { bearer } from '@parley/a2a/server'
import { fail, pass, type Check } from './check.ts'
import type { ConformanceOptions } from './options.ts'
import { conclusionOf } from './report/conclusion.ts'
import { breaks, isShutOut } from './report.ts'
import { runConformance, type RunOptions } from './run-conformance.ts'

const closers: (() => Promise<unknown>)[] = []
after(async () => {
  for (const close of closers) await close()
})

/** An agent that records what it was asked. */
async function openAgent(): Promise<{ readonly url: string; readonly texts: string[] }> {
  const texts: string[] = []
  const server = await serve({
    name: 'Ada',
    description: 'Echoes',
    port: 0,
    store: memoryStore(),
    agent({ text }) {
      texts.push(text)
      return text
    },
  })
  closers.push(() => server.close())
  return { url: server.url, texts }
}

async function openHttp(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  closers.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const checkOf = (run: Check['run'], fields: Partial<Check> = {}): Check => ({
  id: 'test.check',
  rules: ['B-1'],
  level: 'must',
  section: 'A2A 1.0 §1',
  title: 'A check',
  versions: ['1.0'],
  bindings: ['JSONRPC'],
  sends: false,
  run,
  ...fields,
})

const only = (check: Check, options: ConformanceOptions = {}): RunOptions => ({
  ...options,
  checks: [check],
  versions: ['1.0'],
})

describe('a conformance run', () => {
  it('with readOnly sends no message, and leaves what needs one undecided', async () => {
    const { url, texts } = await openAgent()
    const report = await runConformance(url, { readOnly: true, versions: ['1.0'] })
    assert.deepEqual(texts, [])
    assert.equal(report.messagesSent, 0)
    const sending = report.results.find(({ id }) => id === 'send.result')
    assert.deepEqual([sending?.outcome, sending?.note], ['undecided', 'sends messages, which --read-only forbids'])
    assert.ok(report.summary.must.pass > 20)
  })

  it('refuses to send for a check that did not declare it', async () => {
    const { url, texts } = await openAgent()
    const sneaky = checkOf(async (subject) => pass(String((await subject.send()).status)))
    const { results } = await runConformance(url, only(sneaky, { readOnly: true }))
    assert.deepEqual([results[0]?.outcome, texts], ['undecided', []])
  })

  it('sends no more than maxMessages', async () => {
    const { url, texts } = await openAgent()
    const check = checkOf(
      async (subject) => {
        await subject.send()
        await subject.send()
        await subject.send()
        return pass()
      },
      { sends: true },
    )
    const { results, messagesSent } = await runConformance(url, only(check, { maxMessages: 2 }))
    assert.deepEqual([results[0]?.outcome, results[0]?.note], ['undecided', 'the limit of --max-messages is reached'])
    assert.deepEqual([messagesSent, texts.length], [2, 2])
  })

  it('runs the chosen checks, versions and bindings', async () => {
    const { url } = await openAgent()
    const report = await runConformance(url, {
      only: ['card', 'get.unknown-task'],
      skip: ['card.etag'],
      versions: ['0.3'],
      bindings: ['HTTP+JSON'],
    })
    assert.ok(
      report.results.every(
        ({ id, version }) => version === '0.3' && (id.startsWith('card.') || id === 'get.unknown-task'),
      ),
    )
    assert.deepEqual([...new Set(report.results.map(({ binding }) => binding))], [undefined, 'HTTP+JSON'])
    assert.ok(!report.results.some(({ id }) => id === 'card.etag'))
  })

  it('redacts credentials in notes and evidence', async () => {
    const { url } = await openAgent()
    const check = checkOf(async (subject) => {
      const answer = await subject.call('GetTask', { id: 'secret-key-1234' })
      return fail('saw secret-key-1234 and token-5678', answer)
    })
    const report = await runConformance(url, only(check, { bearer: 'token-5678', apiKey: 'secret-key-1234' }))
    const [result] = report.results
    assert.equal(result?.outcome, 'fail')
    assert.match(result?.evidence?.request ?? '', /authorization: \[redacted\]/)
    assert.doesNotMatch(JSON.stringify(report), /secret-key-1234|token-5678/)
  })

  it('reports a cut connection as a failure, silence as undecided, and a fault of a check as that', async () => {
    const card = { name: 'X', supportedInterfaces: [] }
    const url = await openHttp((request, response) => {
      if (request.method === 'GET') response.setHeader('content-type', 'application/json').end(JSON.stringify(card))
      else if (request.url === '/cut') response.destroy()
      // Otherwise it never answers.
    })
    const at = (path: string) => ({
      interfaces: [{ url: `${url}${path}`, version: '1.0' as const, binding: 'JSONRPC' as const }],
    })
    const call = checkOf(async (subject) => pass(String((await subject.call('GetTask', { id: 'x' })).status)))
    const [cut] = (await runConformance(url, only(call, at('/cut')))).results
    assert.equal(cut?.outcome, 'fail')
    const [silent] = (await runConformance(url, only(call, { ...at('/silent'), checkTimeoutMs: 50 }))).results
    assert.equal(silent?.outcome, 'undecided')
    assert.match(silent?.note ?? '', /^no response within 0\.05 s to POST .*\/silent$/)
    const sharing = checkOf(async (subject) => {
      const answer = await subject.once('shared', () => subject.call('GetTask', { id: 'x' }))
      return pass(String(answer.status))
    })
    const silence = { ...at('/silent'), checkTimeoutMs: 50, versions: ['1.0' as const], checks: [sharing, sharing] }
    const shared = (await runConformance(url, silence)).results
    assert.deepEqual(
      shared.map(({ outcome }) => outcome),
      ['undecided', 'undecided'],
    )
    const broken = checkOf(async () => {
      throw new TypeError('oops')
    })
    const [fault] = (await runConformance(url, only(broken, at('/cut')))).results
    assert.deepEqual([fault?.outcome, fault?.note], ['undecided', 'the check itself failed: TypeError: oops'])
  })

  it('leaves undecided, for one reason, what the agent refuses to a caller without credentials', async () => {
    const refusals: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
      '/http': [401, 'application/json', '{}'],
      // As the Go SDK refuses ListTasks to an anonymous caller.
      '/code': [
        200,
        'application/json',
        '{"jsonrpc":"2.0","id":1,"error":{"code":-31401,"message":"unauthenticated"}}',
      ],
      '/event': [
        200,
        'text/event-stream',
        'data: {"jsonrpc":"2.0","id":1,"error":{"code":-31401,"message":"unauthenticated"}}\n\n',
      ],
    }
    const url = await openHttp((request, response) => {
      const [status, type, body] = refusals[request.url ?? ''] ?? [404, 'text/plain', '']
      response.writeHead(status, { 'content-type': type }).end(body)
    })
    const checks = {
      call: checkOf(async (subject) => fail('the list is refused', await subject.call('ListTasks', {}))),
      raw: checkOf(async (subject) => fail('the body is refused', await subject.http({ body: '{' }))),
      send: checkOf(async (subject) => pass(String((await subject.firstAnswer()).status))),
      stream: checkOf(async (subject) => {
        const stream = await subject.open('SendStreamingMessage', { message: subject.message() })
        for await (const item of stream.events) return fail(`it has the event ${JSON.stringify(item.envelope)}`)
        return pass()
      }),
    }
    const judge = async (path: string, ...some: readonly (keyof typeof checks)[]) =>
      (
        await runConformance(url, {
          interfaces: [{ url: `${url}${path}`, version: '1.0', binding: 'JSONRPC' }],
          checks: some.map((name) => checks[name]),
        })
      ).results
    const results = [
      ...(await judge('/http', 'call', 'raw', 'send', 'stream')),
      ...(await judge('/code', 'call', 'raw', 'send', 'stream')),
      ...(await judge('/event', 'stream')),
    ]
    assert.deepEqual(new Set(results.map(({ outcome }) => outcome)), new Set(['undecided']))
    assert.equal(new Set(results.map(({ note }) => note)).size, 1)
    const anonymous = checkOf(async (subject) => {
      const { status } = await subject.call('ListTasks', {}, { credentials: 'none' })
      return pass(String(status))
    })
    const [refused] = (await runConformance(url, { ...only(anonymous), interfaces: [{ url: `${url}/http`, version: '1.0', binding: 'JSONRPC' }] })).results // prettier-ignore
    assert.deepEqual([refused?.outcome, refused?.note], ['pass', '401'])
  })

  it('leaves undecided what a server refuses to unauthenticated callers, over every binding', async () => {
    const authenticate = bearer({ verify: () => undefined })
    const server = await serve({ port: 0, grpcPort: 0, store: memoryStore(), authenticate, agent: () => 'done' })
    closers.push(() => server.close())
    const bindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const
    const list: Check['run'] = async (subject) => fail('it is refused', await subject.call('ListTasks', {}))
    const stream: Check['run'] = async (subject) => {
      const opened = await subject.open('SendStreamingMessage', { message: subject.message() })
      for await (const item of opened.events) return fail(`it has the event ${JSON.stringify(item.envelope)}`)
      return fail('it has no event')
    }
    const checks = [list, stream].map((run) => checkOf(run, { bindings }))
    const { results } = await runConformance(server.url, { versions: ['1.0'], checks })
    assert.deepEqual([results.length, new Set(results.map(({ outcome }) => outcome))], [6, new Set(['undecided'])])
    assert.equal(new Set(results.map(({ note }) => note)).size, 1)
  })

  it('fails if the agent lets no request in, such as with a token that has expired', async () => {
    const card = '{"name":"X","supportedInterfaces":[]}'
    const url = await openHttp((request, response) =>
      response.writeHead(request.url?.endsWith('.json') ? 200 : 401).end(request.url?.endsWith('.json') ? card : '{}'),
    )
    const interfaces = [{ url: `${url}/rpc`, version: '1.0', binding: 'JSONRPC' }] as const
    const shutOut = await runConformance(url, { interfaces, skip: ['card'] })
    assert.deepEqual([shutOut.summary.must.fail, breaks(shutOut, 'must'), breaks(shutOut, 'never')], [0, true, false])
    assert.match(conclusionOf(shutOut), /must undecided, because the agent let no request in$|no rule/)
    const agent = await openAgent()
    const readOnly = await runConformance(agent.url, { readOnly: true, only: ['streaming'] })
    assert.equal(breaks(readOnly, 'must'), false)
  })

  it('fails for a token that has expired, although rules about refusals pass', async () => {
    const server = await serve({
      port: 0,
      store: memoryStore(),
      authenticate: bearer({ verify: (token) => (token === 'valid' ? { id: 'ada' } : undefined) }),
      agent: ({ text }) => text,
    })
    closers.push(() => server.close())
    const judge = (token: string) =>
      runConformance(server.url, { versions: ['1.0'], only: ['version', 'send', 'rest'], bearer: token })
    const expired = await judge('expired')
    assert.ok(expired.results.some(({ id, outcome }) => id.startsWith('rest.') && outcome === 'pass'))
    assert.deepEqual([expired.summary.must.fail, breaks(expired, 'must')], [0, true])
    assert.match(conclusionOf(expired), /because the agent let no request in$/)
    assert.equal(isShutOut(await judge('valid')), false)
  })

  it('judges only the card where the card offers nothing', async () => {
    const url = await openHttp((_request, response) =>
      response.setHeader('content-type', 'application/json').end('{"name":"X","supportedInterfaces":[]}'),
    )
    const { results, targets } = await runConformance(url)
    assert.deepEqual(targets, [])
    assert.ok(results.length > 5 && results.every(({ id }) => id.startsWith('card.')))
    assert.equal(results.find(({ id }) => id === 'card.interfaces')?.note, 'supportedInterfaces has no entry')
  })

  it('fails on an agent without a card, and throws if nothing listens', async () => {
    const url = await openHttp((_request, response) => response.writeHead(404).end('no'))
    const { results } = await runConformance(url, { only: ['card.available'] })
    assert.deepEqual(
      results.map(({ outcome }) => outcome),
      ['fail'],
    )
    await assert.rejects(runConformance('http://127.0.0.1:1'), { name: 'WireError' })
  })

  it('compares with the same interface, whichever of them is checked first', async () => {
    const { url } = await openAgent()
    const first = checkOf(async (subject) => pass(subject.firstInterface().binding), {
      bindings: ['JSONRPC', 'HTTP+JSON'],
    })
    const { results, targets } = await runConformance(url, { ...only(first), parallel: 2 })
    assert.deepEqual(
      results.map(({ note }) => note),
      targets.map(() => targets[0]?.binding),
    )
    assert.ok(targets.length > 1)
  })

  it('accepts failures that the profile names, and stops when it is aborted', async () => {
    const { url } = await openAgent()
    const wrong = checkOf(async () => fail('always'))
    const report = await runConformance(url, only(wrong, { profile: { accepted: { 'test.check': 'a known gap' } } }))
    assert.deepEqual(
      [report.results[0]?.accepted, report.summary.must.fail, report.summary.must.accepted],
      ['a known gap', 0, 1],
    )
    const stop = new AbortController()
    await assert.rejects(runConformance(url, { signal: stop.signal, onResult: () => stop.abort() }), {
      name: 'AbortError',
    })
  })
})
