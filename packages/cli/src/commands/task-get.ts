/** `a2a task get`: one task, or with `--wait` the task once the agent's turn is over. */
import { hasSettled } from '@parley/a2a'
import type { Task } from '@parley/a2a'
import { setTimeout as sleep } from 'node:timers/promises'
import { pollIntervalsOf } from '../agent/call-settings.ts'
import type { AgentConnection } from '../agent/connection.ts'
import { waitUnlessDetached } from '../agent/detach.ts'
import type { CommandContext } from '../command.ts'
import type { Output } from '../output/output.ts'
import { printTask, textOptions } from './final-output.ts'

export async function run(context: CommandContext): Promise<number | void> {
  const { args, settings, signal } = context
  const id = args.operands[0] ?? ''
  const historyLength = settings.integer('history', 0)
  // Waiting is the default of `send` only.
  const waits = settings.has('wait') && !(settings.has('async') && settings.sourceOf('async').kind === 'flag')
  const intervals = pollIntervalsOf(settings)
  const connection = await context.connect()
  const text = textOptions(context, connection)
  const options = historyLength === undefined ? {} : { historyLength }
  try {
    if (!waits) return await printTask(await connection.getTask(id, { ...options, signal }), context, text)
    const waited = await waitUnlessDetached(
      context,
      connection,
      text,
      () => ({ taskId: id }),
      (own) => pollTask(connection, id, { ...options, ...intervals, signal: own, output: context.output }),
    )
    if ('exitCode' in waited) return waited.exitCode
    await printTask(waited.result, context, text)
  } finally {
    await connection.close()
  }
}

interface PollOptions {
  readonly historyLength?: number
  readonly firstPollMs: number
  readonly pollMs: number
  readonly signal: AbortSignal
  readonly output: Output
}

/** Polls at growing intervals. The client retries single failures; UNSPECIFIED is a state like WORKING. */
async function pollTask(connection: AgentConnection, id: string, options: PollOptions): Promise<Task> {
  const { firstPollMs, pollMs, signal, output, ...request } = options
  let state = ''
  for (let waitMs = firstPollMs; ; waitMs = Math.min(pollMs, waitMs * 2)) {
    const task = await connection.getTask(id, { ...request, signal })
    if (hasSettled(task.status.state)) return task
    if (task.status.state !== state) output.note(`State: ${task.status.state}`)
    state = task.status.state
    await sleep(waitMs, undefined, { signal }).catch((reason: unknown) => {
      throw signal.aborted ? signal.reason : reason
    })
  }
}
