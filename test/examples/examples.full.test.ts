/** What the examples show, beyond what their READMEs print (test/journeys/copied-examples.full.test.ts). */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { AgentCard } from '@parley/a2a'
import { idempotencyWindowMs } from '../../packages/a2a/src/model/idempotency.ts'
import { root, runProgram } from './program.ts'

async function ask(url: string, text: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'content-type': 'application/a2a+json', 'A2A-Version': '1.0', ...headers },
    body: JSON.stringify({ message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } }),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer }
}
interface Answer {
  task: {
    id: string
    status: { state: string }
    artifacts: { artifactId: string; parts: { text?: string; data?: unknown }[] }[]
  }
}

const example = (story: string): string => join(root, 'examples', story, 'main.ts')

describe('the examples', () => {
  it('analyst requires the key, and answers with tokens and data', async () => {
    await using program = await runProgram(example('analyst'))
    const refused = await ask(program.url, 'how many rows')
    assert.equal(refused.status, 401)
    assert.ok(refused.headers.get('www-authenticate'))
    const { body } = await ask(program.url, 'how many rows', { authorization: 'Bearer let-me-in' })
    assert.equal(body.task.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(body.task.artifacts[0]?.parts[0]?.text, 'You asked: how many rows ')
    assert.deepEqual(body.task.artifacts[1]?.parts[0]?.data, { rows: 42 })
  })

  for (const story of ['express', 'fastify', 'hono']) {
    it(`${story} serves the agent under its path, streams included`, async () => {
      await using program = await runProgram(example(story))
      const url = `${program.url}/agent`
      const { body } = await ask(url, 'you')
      assert.equal(body.task.artifacts[0]?.parts[0]?.text, 'Hello, you!')
      const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
        supportedInterfaces: { url: string }[]
      }
      assert.ok(
        card.supportedInterfaces.every((one) => one.url.startsWith(url)),
        JSON.stringify(card),
      )
      const stream = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'message/stream',
          params: { message: { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'you' }] } },
        }),
      })
      assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/)
      assert.match(await stream.text(), /"final":true/)
    })
  }

  it('durable continues after it was killed, and the stream resumes where it was cut', async () => {
    const file = example('durable')
    const env = { STEP_MS: '200' }
    const first = await runProgram(file, env)
    const response = await fetch(`${first.url}/message:stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/a2a+json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] } }),
    })
    const seen = await readUntil(response, 'clean')
    await first.kill()
    await using second = await runProgram(file, env, first.folder)
    const card = (await (await fetch(`${second.url}/.well-known/agent-card.json`)).json()) as AgentCard
    assert.equal(idempotencyWindowMs(card), 86_400_000, 'clients resend a message whose response was lost')
    const taskId = /"task":\{"id":"([^"]+)"/.exec(seen)?.[1] as string
    const lastId = seen
      .match(/^id: (\d+)$/gm)
      ?.at(-1)
      ?.slice(4) as string
    const rest = await fetch(`${second.url}/tasks/${taskId}:subscribe`, {
      method: 'POST',
      headers: { 'A2A-Version': '1.0', 'Last-Event-ID': lastId },
    })
    const all = seen + (await rest.text())
    const steps = [...all.matchAll(/"text":"(\w+)\\n"/g)].map(([, step]) => step)
    assert.deepEqual(steps, ['fetch', 'clean', 'sort', 'sum', 'draw'])
  })
})

/** Whole events only, up to and with the first that contains the text. */
async function readUntil(response: Response, text: string): Promise<string> {
  let seen = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    seen += decoder.decode(chunk, { stream: true })
    if (seen.includes(text) && seen.endsWith('\n\n')) return seen
  }
  throw new Error(`the stream ended before ${text}:\n${seen}`)
}
