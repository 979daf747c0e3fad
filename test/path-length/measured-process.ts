/** Starts a program of this folder and finds out which files and functions one request runs through. */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { ChildMessage } from './touched-files.ts'

export interface MeasuredProcess {
  readonly url: string
  /** The walk that several warm requests have in common: what a timer runs beside one of them does not count. */
  walkOfRequest(): Promise<Walk>
}

interface Touched {
  readonly files: ReadonlySet<string>
  readonly functions: ReadonlySet<string>
}

/** What one request runs through. */
export interface Walk {
  readonly files: readonly string[]
  readonly functions: number
  /** Of all these files together. */
  readonly lines: number
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

  const take = async (): Promise<Touched> => {
    child.send('take')
    const taken = await nextMessage()
    assert.ok('functions' in taken)
    const files = new Set(taken.functions.map(({ file }) => file))
    return { files, functions: new Set(taken.functions.map(({ file, offset }) => `${file}:${offset}`)) }
  }

  return {
    url,
    async walkOfRequest() {
      for (let left = warmUpRequests; left > 0; left -= 1) await sendStreamingMessage(url)
      let { files, functions } = await take()
      for (let left = measuredRequests; left > 0; left -= 1) {
        await sendStreamingMessage(url)
        const touched = await take()
        files = intersect(files, touched.files)
        functions = intersect(functions, touched.functions)
      }
      const lines = [...files].reduce((sum, file) => sum + linesOf(file), 0)
      return { files: [...files].toSorted(), functions: functions.size, lines }
    },
  }
}

const intersect = (one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...one].filter((item) => other.has(item)))

function linesOf(file: string): number {
  return readFileSync(join(import.meta.dirname, '../../packages', file), 'utf8').split('\n').length - 1
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
