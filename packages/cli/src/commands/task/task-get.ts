/** `a2a task get`: one task, or with `--wait` the task once the agent's turn is over. */
import { waitUnlessDetached } from '../../agent/detach.ts'
import { pollTask } from '../../agent/poll-task.ts'
import type { CommandContext } from '../../command.ts'
import { exitStatus, printAnswer, printTask, textOptions } from '../final-output.ts'

export async function run(context: CommandContext): Promise<number> {
  const { args, settings, signal } = context
  const id = args.operands[0] ?? ''
  const historyLength = settings.integer('history', 0)
  // Waiting is the default of `send` only.
  const waits = settings.has('wait') && !(settings.has('async') && settings.sourceOf('async').kind === 'flag')
  const connection = await context.connect()
  const text = textOptions(context, connection)
  const options = historyLength === undefined ? {} : { historyLength }
  try {
    if (!waits) {
      const task = await connection.getTask(id, { ...options, signal })
      await printTask(task, context, text)
      return exitStatus({ task }, context)
    }
    const waited = await waitUnlessDetached(
      context,
      connection,
      text,
      () => ({ taskId: id }),
      (own) => pollTask(connection, id, { ...options, signal: own, output: context.output }),
    )
    if ('exitCode' in waited) return waited.exitCode
    const final = { task: waited.result }
    if (context.output.isInteractive) await printAnswer(final, context, text, connection)
    else await printTask(final.task, context, text)
    return exitStatus(final, context)
  } finally {
    await connection.close()
  }
}
