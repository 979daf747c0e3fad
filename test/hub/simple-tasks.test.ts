/** Programs without A2A support: they post a text and poll until it is done. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { call1_0 } from './raw-calls.ts'
import { newFolder, type RunningHub, startHub } from './running-hub.ts'

const options = { timeout: 120_000 }

/** Prints a line, waits for a file, prints another line, and exits. */
const program = `
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
process.stdin.resume()
console.log(JSON.stringify({ type: 'assistant', text: 'Hi there' }))
while (!existsSync('go')) await sleep(10)
if (existsSync('fail')) { console.log(JSON.stringify({ type: 'error', text: 'It broke' })); process.exit(1) }
console.log(JSON.stringify({ type: 'done' }))
`
/** Prints two lines, each on a signal. */
const talkative = `
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
process.stdin.resume()
console.log(JSON.stringify({ type: 'assistant', text: 'Hi there' }))
while (!existsSync('go')) await sleep(10)
console.log(JSON.stringify({ type: 'assistant', text: 'How are you?' }))
while (!existsSync('end')) await sleep(10)
console.log(JSON.stringify({ type: 'done' }))
`
const agents = `
  session: { kind: command, command: [node, session.mjs], protocol: jsonl, default: true }
  asker: { kind: module, path: ./asker.ts }
`
const asker = "export default () => ({ state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which city?' })\n"

interface Flat {
  readonly id: string
  readonly state: string
  readonly sessionId: string | null
  readonly source: string
  readonly updatedAt: string
  readonly messages: readonly { readonly role: string; readonly parts: readonly { readonly text: string }[] }[]
  readonly error?: string
}

async function hubWith(yaml: string, files: Readonly<Record<string, string>> = {}) {
  const folder = await newFolder({
    'parley.yaml': `profiles: { simpleTasks: true }\n${yaml}`,
    'session.mjs': program,
    'asker.ts': asker,
    ...files,
  })
  return { hub: await startHub(folder), folder }
}

async function send(hub: RunningHub, body: unknown): Promise<{ status: number; task: Flat }> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${hub.url}/a2a/tasks/send`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, task: (await answer.json()) as Flat }
}

async function look(hub: RunningHub, id: string): Promise<{ status: number; task: Flat }> {
  const answer = await fetch(`${hub.url}/a2a/tasks/${id}`)
  return { status: answer.status, task: (await answer.json()) as Flat }
}

async function reaches(hub: RunningHub, id: string, isThere: (task: Flat) => boolean): Promise<Flat> {
  for (;;) {
    const { task } = await look(hub, id)
    if (isThere(task)) return task
    await sleep(20)
  }
}

const textOf = (task: Flat): readonly string[] =>
  task.messages.map(({ parts }) => parts.map(({ text }) => text).join(''))

describe('simple tasks', options, () => {
  it('return at once, follow the output of their process, and end with it [S0-4 S0-5 S0-12 S0-13 S0-16 S0-27 S0-29]', async () => {
    const { hub, folder } = await hubWith(`agents:${agents}`)
    const { status, task } = await send(hub, {
      params: { message: { role: 'user', parts: [{ type: 'text', text: 'Hello' }] } },
    })
    assert.equal(status, 200)
    assert.match(task.state, /^(submitted|working)$/)
    assert.equal(task.source, 'agent')
    assert.notEqual(task.sessionId, null)
    const working = await reaches(hub, task.id, (now) => now.messages.length === 2)
    assert.equal(working.state, 'working')
    assert.deepEqual(textOf(working), ['Hello', 'Hi there'])
    await writeFile(join(folder, 'go'), '')
    const done = await reaches(hub, task.id, ({ state }) => state !== 'working')
    assert.equal(done.state, 'completed')
    await hub.stop()
  })

  it('have a message for each assistant line, and change with each [S0-3 S0-29]', async () => {
    const { hub, folder } = await hubWith(`agents:${agents}`, { 'session.mjs': talkative })
    const { task } = await send(hub, { message: 'Hello' })
    const first = await reaches(hub, task.id, (now) => now.messages.length === 2)
    await writeFile(join(folder, 'go'), '')
    const second = await reaches(hub, task.id, (now) => now.messages.length === 3)
    assert.deepEqual(textOf(second), ['Hello', 'Hi there', 'How are you?'])
    assert.equal(second.state, 'working')
    assert.ok(Date.parse(second.updatedAt) > Date.parse(first.updatedAt), `${first.updatedAt}, ${second.updatedAt}`)
    await writeFile(join(folder, 'end'), '')
    const done = await reaches(hub, task.id, ({ state }) => state === 'completed')
    assert.deepEqual(textOf(done), textOf(second))
    await hub.stop()
  })

  it('fail with the error of their process [S0-16 S0-34]', async () => {
    const { hub } = await hubWith(`agents:${agents}`, { go: '', fail: '' })
    const { task } = await send(hub, { message: 'Hello' })
    const failed = await reaches(hub, task.id, ({ state }) => state === 'failed')
    assert.equal(textOf(failed).at(-1), 'It broke')
    await hub.stop()
  })

  it('time out, also while they wait for input [S0-20 S0-30] [full]', async () => {
    const { hub } = await hubWith(
      `agents:${agents.replace(', default: true', '')}`.replace('asker.ts }', 'asker.ts, default: true }'),
    )
    const { task } = await send(hub, { message: 'Hello', timeoutMs: 1_500 })
    const waiting = await reaches(hub, task.id, (now) => textOf(now).includes('Which city?'))
    assert.equal(waiting.state, 'working')
    const failed = await reaches(hub, task.id, ({ state }) => state !== 'working')
    assert.equal(failed.state, 'failed')
    assert.equal(textOf(failed).at(-1), 'Task timed out')
    await hub.stop()
  })

  it('are refused without a default agent, and for an unknown task [S0-17 S0-33]', async () => {
    const { hub } = await hubWith(`agents:${agents.replace(', default: true', '')}`)
    const refused = await send(hub, { message: 'Hello' })
    assert.equal(refused.status, 404)
    assert.match(refused.task.error ?? '', /^Agent with default project/)
    await hub.stop()
  })

  it('report invalid requests and unknown tasks', async () => {
    const { hub } = await hubWith(`agents:${agents}`)
    for (const body of [{}, { message: '' }, { message: { parts: [] } }, { message: 'x', timeoutMs: -1 }, [], 'x']) {
      assert.equal((await send(hub, body)).status, 400, JSON.stringify(body))
    }
    const lost = await look(hub, 'unknown')
    assert.equal(lost.status, 404)
    assert.deepEqual(await look(hub, '%zz'), lost)
    const { lines } = await hub.stop()
    assert.deepEqual(
      lines.filter((line) => /error/i.test(line)),
      [],
    )
  })

  it('require permission to call the agent', async () => {
    const { hub } = await hubWith(`access: { anonymous: [asker] }\nagents:${agents}`)
    assert.equal((await send(hub, { message: 'Hello' })).status, 401)
    assert.equal((await look(hub, 'x')).status, 401)
    await hub.stop()
  })

  it('leave the paths of A2A to requests that name a version', async () => {
    const { hub } = await hubWith('agents: { echo: { kind: demo, agent: echo, default: true } }')
    const { json } = await call1_0(`${hub.url}/a2a/echo`, 'hi')
    const answer = await fetch(`${hub.url}/a2a/tasks/${json.result.task.id}`, { headers: { 'a2a-version': '1.0' } })
    assert.equal(((await answer.json()) as { status?: { state?: string } }).status?.state, 'TASK_STATE_COMPLETED')
    await hub.stop()
  })
})
