/** `a2a task cancel`: cancels a task and shows the state that results. Canceling a canceled task again is no error. */
import { A2AError, type Struct, type Task } from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import type { AgentConnection } from '../../agent/connection.ts'
import type { CommandContext } from '../../command.ts'
import { printTask, textOptions } from '../final-output.ts'

export async function run(context: CommandContext): Promise<void> {
  const { args, settings, signal } = context
  const metadata = settings.jsonObject('metadata') as Struct | undefined
  const connection = await context.connect()
  try {
    const task = await cancelTask(connection, args.operands[0] ?? '', metadata, signal)
    await printTask(task, context, textOptions(context, connection), 'TASK_STATE_CANCELED')
  } finally {
    await connection.close()
  }
}

async function cancelTask(
  connection: AgentConnection,
  id: string,
  metadata: Struct | undefined,
  signal: AbortSignal,
): Promise<Task> {
  try {
    return await connection.agent.session.call('CancelTask', { id, ...omitUndefined({ metadata }) }, { signal })
  } catch (reason) {
    if (!(reason instanceof A2AError) || reason.code !== 'TASK_NOT_CANCELABLE') throw reason
    // Agents of 0.x refuse to cancel twice.
    const task = await connection.getTask(id, { signal }).catch(() => undefined)
    if (task?.status.state === 'TASK_STATE_CANCELED') return task
    const { code, message, details } = reason
    const state = task === undefined ? '' : ` (${task.status.state})`
    throw new A2AError(code, `${message}${state}`, details, { cause: reason })
  }
}
