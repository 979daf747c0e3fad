/** The application over HTTP: clients of A2A, and the events of a task for its own pages. */
import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { createApp } from './app.ts'

const app = await createApp()
await app.listen(0, '127.0.0.1')
const url = await app.getUrl()
after(() => app.close())

const ada = { authorization: 'Bearer token-of-ada' }
const bob = { authorization: 'Bearer token-of-bob' }

/** JSON-RPC as a client of 0.3. */
async function rpc(bot: string, method: string, params: object, headers: Record<string, string> = ada) {
  const response = await fetch(`${url}/a2a/${bot}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const say = (text: string, ...parts: object[]) => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }, ...parts] },
})

it('serves the card of each bot without credentials, and nothing else', async () => {
  const card: any = await (await fetch(`${url}/a2a/echo/agent-card`)).json()
  assert.equal(card.description, 'Repeats the question, word by word')
  assert.equal(card.supportedInterfaces[0].url, `${url}/a2a/echo`)
  assert.ok(card.securitySchemes.bearer)
  const refused = await rpc('echo', 'message/send', say('Hello'), {})
  assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer'])
})

it('answers clients of A2A, in a stream too', async () => {
  const agent = await connect(`${url}/a2a/echo`, { bearer: 'token-of-ada' })
  assert.equal(await agent.ask('sales of Q4'), 'You asked: sales of Q4')
  const { headers, text } = await rpc('echo', 'message/stream', say('sales'))
  assert.match(headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.match(text, /"text":"You "[\s\S]*"text":"asked: "[\s\S]*"final":true/)
})

it('takes files that are larger than the limit of a parser', async () => {
  const file = { kind: 'file', file: { bytes: Buffer.alloc(1_000_000).toString('base64'), mimeType: 'image/png' } }
  assert.match((await rpc('echo', 'message/send', say('See', file))).text, /You asked: See|"text":"See"/)
})

it('creates keys for programs, each for one bot', async () => {
  const generate = (headers: Record<string, string>) =>
    fetch(`${url}/a2a/echo/api-key/generate`, { method: 'POST', headers })
  const { apiKey }: any = await (await generate(ada)).json()
  const program = { authorization: `Bearer ${apiKey}` }
  assert.equal((await rpc('echo', 'message/send', say('Hello'), program)).status, 200)
  assert.equal((await rpc('clock', 'message/send', say('Hello'), program)).status, 401)
  assert.equal((await generate(program)).status, 403)
})

it('streams the events of a task by RxJS, to its owner only, until it is canceled', async () => {
  const agent = await connect(`${url}/a2a/clock`, { bearer: 'token-of-ada' })
  const { id } = await agent.start('count')
  const events = (headers: Record<string, string>) => fetch(`${url}/a2a/clock/tasks/${id}/events`, { headers })
  assert.equal((await events(bob)).status, 404)
  let seen = ''
  const decoder = new TextDecoder()
  for await (const chunk of (await events(ada)).body ?? []) {
    seen += decoder.decode(chunk, { stream: true })
    if (seen.includes('"text":"2 "') && !seen.includes('CANCELED')) await agent.cancel(id)
  }
  assert.match(seen, /^event: |^id: /m)
  assert.match(seen, /TASK_STATE_CANCELED[^\n]*\n\n$/)

  // From an event on, as EventSource asks for it.
  const [, ...ids] = [...seen.matchAll(/^id: (\d+)$/gm)].map(([, number = '']) => number)
  const last = await (await events({ ...ada, 'last-event-id': ids.at(-2) ?? '' })).text()
  assert.match(last, new RegExp(`^id: ${ids.at(-1)}$`, 'm'))
})

it('leaves the other routes to the application', async () => {
  assert.equal(await (await fetch(url)).text(), 'The application')
})
