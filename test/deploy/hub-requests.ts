/** What a test asks a deployed hub: whether it is ready, and one task over HTTP. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'

export interface DeployedHub {
  /** What it has printed. */
  output(): string
  /** Resolves if it ends. Default: it is restarted. */
  readonly ended?: Promise<unknown>
}

/** Resolves when the hub is ready. Rejects if it ends, or at the guard. */
export async function untilReady(url: string, { output, ended }: DeployedHub): Promise<void> {
  const deadline = performance.now() + guardMs
  let hasEnded = false
  void ended?.then(() => (hasEnded = true))
  while (!(await isReady(url))) {
    if (hasEnded || performance.now() > deadline) throw new Error(`${url} is not ready:\n${output()}`)
    await sleep(20)
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok
  } catch {
    return false
  }
}

/** The id of the task that the message opened, which has completed. */
export async function sendMessage(url: string, agent: string, text: string, key?: string): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  const response = await fetch(`${url}/a2a/${agent}/message:send`, {
    method: 'POST',
    headers: { ...headersOf(key), 'content-type': 'application/json' },
    body: JSON.stringify({ message }),
  })
  const answer = await response.text()
  assert.equal(response.status, 200, answer)
  const { task } = JSON.parse(answer) as { task: { id: string; status: { state: string } } }
  assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
  return task.id
}

export async function readTask(url: string, agent: string, id: string, key?: string): Promise<unknown> {
  const response = await fetch(`${url}/a2a/${agent}/tasks/${id}`, { headers: headersOf(key) })
  assert.equal(response.status, 200, await response.clone().text())
  return response.json()
}

function headersOf(key: string | undefined): Record<string, string> {
  return { 'A2A-Version': '1.0', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) }
}
