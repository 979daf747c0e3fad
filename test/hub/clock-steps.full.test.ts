/** A hub whose wall clock is set while it runs: it refuses no request because of it, and running tasks continue. */
import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { newFolder, startHub } from './running-hub.ts'

const day = 86_400_000
const config = `
agents:
  it: { kind: module, path: ./agent.mjs, timeout: 1h, inputTimeout: 1h }
limits: { perAddress: 1000/h }
`
const agent = `
let release
const released = new Promise((resolve) => (release = resolve))
export default async function* ({ text }) {
  if (text === 'release') release()
  if (text === 'ask') yield { state: 'TASK_STATE_INPUT_REQUIRED' }
  else if (text === 'hold') {
    yield { state: 'TASK_STATE_WORKING' }
    await released
    yield 'held'
  } else yield 'done'
}
`

describe('a hub whose clock is set', () => {
  it('lets a running task complete after a step forward, and refuses no request after a step back', async () => {
    const folder = await newFolder({ 'parley.yaml': config, 'agent.mjs': agent })
    const offset = join(folder, 'offset')
    const preload = pathToFileURL(join(import.meta.dirname, '../clock-step.ts')).href
    const hub = await startHub(folder, [], { PARLEY_CLOCK_OFFSET_FILE: offset, NODE_OPTIONS: `--import=${preload}` })

    async function rpc(method: string, params: object): Promise<any> {
      const response = await fetch(`${hub.url}/a2a/it`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'A2A-Version': '1.0' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const body: any = await response.json()
      assert.equal(response.status, 200, `${response.headers.get('retry-after')} ${JSON.stringify(body)}`)
      return body.result
    }
    async function send(text: string, returnImmediately = false): Promise<any> {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
      return (await rpc('SendMessage', { message, configuration: { returnImmediately } })).task
    }
    async function reaches(id: string, state: string): Promise<any> {
      for (;;) {
        const task = await rpc('GetTask', { id })
        if (task.status.state === state) return task
        assert.ok(!/COMPLETED|FAILED/.test(task.status.state), JSON.stringify(task.status))
        await pause(50)
      }
    }
    /** Sets the hub's clock, and resolves when a task shows it. */
    async function step(ms: number): Promise<void> {
      writeFileSync(`${offset}.new`, String(ms))
      renameSync(`${offset}.new`, offset)
      for (;;) {
        const { status } = await send('echo')
        if (Math.abs(Date.parse(status.timestamp) - Date.now() - ms) < day / 2) return
        await pause(50)
      }
    }

    const held = await send('hold', true)
    await reaches(held.id, 'TASK_STATE_WORKING')
    const asked = await send('ask')
    await step(day)
    // A task without a running turn is expired by the sweep: it has processed everything that is due by the new clock.
    await reaches(asked.id, 'TASK_STATE_FAILED')
    assert.equal((await rpc('GetTask', { id: held.id })).status.state, 'TASK_STATE_WORKING')
    await step(-30 * day)
    await send('release')
    const done = await reaches(held.id, 'TASK_STATE_COMPLETED')
    assert.match(JSON.stringify(done.artifacts), /held/)
    assert.equal((await hub.stop()).code, 0)
  })
})
