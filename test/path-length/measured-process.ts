/** Starts a program of this folder and finds out which files one request touches. */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { ChildMessage } from './touched-files.ts'

export interface MeasuredProcess {
  readonly url: string
  /** The files that every one of several warm requests touches: what a timer runs beside one of them does not count. */
  filesPerRequest(): Promise<readonly string[]>
}

const warmUpRequests = 10
const measuredRequests = 5

export async function startMeasured(
  t: TestContext,
  program: string,
  ...args: readonly string[]
): Promise<MeasuredProcess> {
  const file = join(import.meta.dirname, `${program}.ts`)
  const child = fork(file, args, {
    execArgv: ['--conditions=parley-source'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  t.after(() => child.disconnect())
  const ended = once(child, 'exit').then(() => assert.fail(`${program} ended`))
  ended.catch(() => {})
  const nextMessage = async (): Promise<ChildMessage> => {
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [ChildMessage]
    return message
  }
  const started = await nextMessage()
  assert.ok('url' in started)
  const { url } = started

  const takeFiles = async (): Promise<readonly string[]> => {
    child.send('take')
    const taken = await nextMessage()
    assert.ok('files' in taken)
    return taken.files
  }

  return {
    url,
    async filesPerRequest() {
      for (let left = warmUpRequests; left > 0; left -= 1) await sendStreamingMessage(url)
      let common = await takeFiles()
      for (let left = measuredRequests; left > 0; left -= 1) {
        await sendStreamingMessage(url)
        const files = new Set(await takeFiles())
        common = common.filter((file) => files.has(file))
      }
      return common
    },
  }
}

async function sendStreamingMessage(url: string): Promise<void> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] }
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } }),
  })
  assert.equal(response.status, 200)
  assert.match(await response.text(), /You said: hello[^]*TASK_STATE_COMPLETED/)
}
