import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, describe, it } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { createHandler, type Handler } from '../index.ts'
import { serve } from '../node.ts'
import type { HandlerOptions } from '../options.ts'

const opened: Handler[] = []
after(() => Promise.all(opened.map((handler) => handler.close())))

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

async function page(options: object, headers: Record<string, string> = browser, path = '/') {
  const handler = createHandler({ store: memoryStore(), homePage: true, ...options } as HandlerOptions)
  opened.push(handler)
  const response = await handler.fetch(new Request(`http://localhost:3000${path}`, { headers }))
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe('a browser at the root of a server', () => {
  it('sees the agent, its card and how to call it', async () => {
    const skills = [{ id: 'greet', name: 'Greet', description: 'Says hello', tags: ['x'] }]
    const { status, headers, text } = await page({ name: 'Greeter', description: 'Greets.', skills, agent: () => 'hi' })
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
    for (const part of [
      '<h1 dir="auto">Greeter</h1>',
      'Greets.',
      'Greet: Says hello',
      'href="http://localhost:3000/.well-known/agent-card.json"',
      'curl http://localhost:3000/message:send',
      'This server speaks A2A, the Agent2Agent protocol for programs.',
      'connect(&#39;http://localhost:3000&#39;)',
    ])
      assert.ok(text.includes(part), `${part} in\n${text}`)
    // No program that many machines lack, such as uuidgen.
    assert.match(text, /&quot;messageId&quot;: &quot;[0-9a-f]{8}-&#39;\$\(date \+%s\)&#39;&quot;/)
  })

  it('reads each text once, and whole commands on a narrow page', async () => {
    const { text } = await page({ name: 'Greeter', description: 'Greets people.', agent: () => 'hi' })
    assert.equal(text.split('Greets people.').length, 2)
    assert.match(text, /pre\{white-space:pre-wrap;overflow-wrap:anywhere;/)
  })

  it('sees every agent except those with a private card', async () => {
    const { text } = await page({
      agents: {
        ann: () => 'hi',
        bob: { agent: () => 'hi', protectCard: true },
        eve: { agent: () => 'hi', name: 'Eve' },
      },
    })
    assert.ok(text.includes('http://localhost:3000/a2a/ann/.well-known/agent-card.json'))
    assert.ok(text.includes('<h2 dir="auto">Eve</h2>'))
    assert.ok(!text.includes('bob'))
    assert.match((await page({ protectCard: true, agent: () => 'hi' })).text, /Sign in to see its agents/)
  })

  it('runs no script and no style of an agent, whatever its card contains', async () => {
    const evil = `"'><script>alert(1)</script>&`
    const { headers, text } = await page({ name: evil, description: evil, version: evil, agent: () => 'hi' })
    assert.ok(!text.includes('<script'))
    assert.ok(text.includes('&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;'))
    const policy = headers.get('content-security-policy') ?? ''
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? []
    assert.ok(
      policy.startsWith(
        `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}';`,
      ),
    )
  })

  it('is the only one that sees the page: not programs, not at other paths, not without the option', async () => {
    const agent = (): string => 'hi'
    assert.equal((await page({ agent }, { accept: 'application/json' })).status, 405)
    assert.equal((await page({ agent }, { accept: '*/*' })).status, 405)
    assert.equal((await page({ agent }, browser, '/a2a')).status, 405)
    assert.equal((await page({ agent, homePage: undefined })).status, 405)
  })

  it('sees it with `serve`, and not under a name that only resolves here', async (t) => {
    const server = await serve({ port: 0, store: memoryStore(), name: 'Served', agent: () => 'hi' })
    t.after(() => server.close())
    const response = await fetch(server.url, { headers: browser })
    assert.match(await response.text(), /<h1 dir="auto">Served<\/h1>/)
    const asked = request(server.url, { headers: { ...browser, host: 'evil.example' } }).end()
    const [foreign] = (await once(asked, 'response')) as [IncomingMessage]
    foreign.resume()
    assert.equal(foreign.statusCode, 403)
  })
})
