/**
 * A database of the previous version opens unchanged. `fixtures/store-0.1.sqlite` was written by a hub before the names in the code changed: a
 * finished task of `echo` and of `upper`, a task of `concierge` that waits for input, a webhook, an API key.
 */
import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { newFolder, startHub } from './running-hub.ts'

const config = `
store: sqlite:parley.db
retention: { finished: 36500d }
admin: { key: the admin key of a test }
agents:
  echo: { kind: demo, agent: echo }
  concierge: { kind: demo, agent: concierge }
  upper: { kind: command, command: [tr, a-z, A-Z] }
`
const apiKey = 'pk_geeuEQB9UBgn_6KvroQUIgmKD307aA7rI5hOF23jYQqwl2cKMGC'
const upperTask = '01a1e80e-7e8f-7179-b696-ac076fc05692'
const conciergeTask = '01a1e80e-7e66-7141-8f87-5ccb4087dd50'

it('a database that an earlier version wrote opens, and its tasks, webhooks and keys work', async () => {
  const folder = await newFolder({ 'parley.yaml': config })
  for (const suffix of ['', '.key'])
    await copyFile(join(import.meta.dirname, `fixtures/store-0.1.sqlite${suffix}`), join(folder, `parley.db${suffix}`))
  const hub = await startHub(folder)
  const call = async (method: string, path: string, body?: object, key?: string) => {
    const headers: Record<string, string> = { 'a2a-version': '1.0', 'content-type': 'application/json' }
    if (key !== undefined) headers['authorization'] = `Bearer ${key}`
    const response = await fetch(hub.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: response.status, json: (await response.json()) as any }
  }
  const finished = (await call('GET', `/a2a/upper/tasks/${upperTask}`)).json
  assert.equal(finished.status.state, 'TASK_STATE_COMPLETED')
  assert.equal(finished.artifacts[0].parts[0].text, 'TOLD')

  const { configs } = (await call('GET', `/a2a/upper/tasks/${upperTask}/pushNotificationConfigs`)).json
  assert.deepEqual(
    configs.map(({ url }: { url: string }) => url),
    ['http://127.0.0.1:9/hook'],
  )
  const message = { messageId: 'm-echo-2', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
  const answer = { messageId: 'm-answer', taskId: conciergeTask, role: 'ROLE_USER', parts: [{ text: 'Rome, for two' }] }
  const continued = (await call('POST', '/a2a/concierge/message:send', { message: answer })).json
  assert.equal(continued.task.id, conciergeTask)
  assert.equal(continued.task.status.state, 'TASK_STATE_COMPLETED')

  assert.equal((await call('POST', '/a2a/echo/message:send', { message }, apiKey)).status, 200)
  const { json } = await call('GET', '/admin/keys', undefined, 'the admin key of a test')
  assert.deepEqual(
    json.keys.map(({ name }: { name: string }) => name),
    ['kept'],
  )
  assert.equal((await hub.stop()).code, 0)
})
