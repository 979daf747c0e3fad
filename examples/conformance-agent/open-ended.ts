/**
 * The agent of the kits before 1.0. They cancel, continue and read the task that they have just sent, so no task ends on
 * its own: it works for a while, then asks for input.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { inputRequired } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'

const workMs = 3_000

export async function* openEnded({ text, signal }: Turn): AsyncGenerator<Report> {
  yield { state: 'TASK_STATE_WORKING' }
  yield `You said: ${text}`
  await sleep(workMs, undefined, { signal })
  yield inputRequired('What else?')
}
