/**
 * Ctrl-C while a command waits for a task: once, the command detaches and prints how to resume; twice, the task is canceled. The task
 * itself belongs to the agent and continues unless it is canceled.
 */
import { linkSignals } from '@parley/a2a/internal'
import type { CommandContext } from '../command.ts'
import { CliError } from '../output/cli-error.ts'
import { followCommand, type TaskTextOptions } from '../output/task-text.ts'
import type { AgentConnection } from './connection.ts'

/** What is known of the work that is waited for. */
export interface WaitedWork {
  readonly taskId: string | undefined
  readonly messageId?: string | undefined
}

export const exitAfterInterrupt = 130
/** How long a second Ctrl-C is waited for: a person needs a moment, a script sends both at once. */
const secondInterruptMs = { terminal: 2_000, other: 500 } as const
const cancelTimeoutMs = 10_000

/** Runs `wait`; returns its result, or the exit code if the user has interrupted it. Names the task in a timeout. */
export async function waitUnlessDetached<T>(
  context: Pick<CommandContext, 'terminal' | 'output' | 'signal'>,
  connection: AgentConnection,
  options: TaskTextOptions,
  known: () => WaitedWork,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<{ readonly result: T } | { readonly exitCode: number }> {
  const { terminal } = context
  const detached = new Error('detached')
  const canceled = Promise.withResolvers<'cancel'>()
  const linked = linkSignals([context.signal])
  const stopListening = terminal.onInterrupt(() => {
    if (linked.signal.aborted) canceled.resolve('cancel')
    else linked.abort(detached)
  })
  try {
    return { result: await wait(linked.signal) }
  } catch (reason) {
    if (linked.signal.reason === detached)
      return { exitCode: await detach(context, connection, options, known(), canceled.promise) }
    throw namingTask(reason, context.signal, known(), options)
  } finally {
    stopListening()
    linked.end()
  }
}

async function detach(
  { terminal, output }: Pick<CommandContext, 'terminal' | 'output'>,
  connection: AgentConnection,
  options: TaskTextOptions,
  { taskId, messageId }: WaitedWork,
  canceled: Promise<'cancel'>,
): Promise<number> {
  if (taskId === undefined) {
    output.note(`Interrupted before the agent named a task${messageId === undefined ? '' : ` (message ${messageId})`}.`)
    return exitAfterInterrupt
  }
  output.note(
    `Detached: task ${taskId} continues.\n` +
      `Resume: ${followCommand(taskId, options)}\n` +
      'Press Ctrl-C again to cancel the task.',
  )
  const timer = Promise.withResolvers<undefined>()
  const timeout = setTimeout(
    () => timer.resolve(undefined),
    secondInterruptMs[terminal.isErrorTerminal ? 'terminal' : 'other'],
  )
  const choice = await Promise.race([canceled, timer.promise])
  clearTimeout(timeout)
  if (choice === 'cancel') await cancel(connection, taskId, output.note)
  return exitAfterInterrupt
}

async function cancel({ agent }: AgentConnection, taskId: string, note: (text: string) => void): Promise<void> {
  try {
    const { status } = await agent.session.call('CancelTask', { id: taskId }, { timeoutMs: cancelTimeoutMs })
    note(`Canceled task ${taskId}: ${status.state}`)
  } catch (reason) {
    note(`Task ${taskId} was not canceled: ${(reason as Error).message}`)
  }
}

/** The envelope of an error has no field for the task, so the message names it and the hint continues it. */
function namingTask(
  reason: unknown,
  signal: AbortSignal,
  { taskId, messageId }: WaitedWork,
  options: TaskTextOptions,
): unknown {
  const cause = signal.aborted ? (signal.reason as unknown) : reason
  const isTimeout = cause instanceof CliError && cause.code === 'A2ACLI_ERR_TIMEOUT'
  const isCut = reason instanceof Error && 'code' in reason && reason.code === 'INTERRUPTED'
  if (!isTimeout && !isCut) return cause
  const { message } = cause as Error
  const code = isTimeout ? 'A2ACLI_ERR_TIMEOUT' : 'A2ACLI_ERR_UNREACHABLE'
  if (taskId === undefined) {
    const hint = `The agent named no task${messageId === undefined ? '' : ` for the message ${messageId}`}.`
    return new CliError(code, message, { hint, cause })
  }
  return new CliError(code, `${message} Task ${taskId} may continue.`, {
    hint: `Resume: ${followCommand(taskId, options)}`,
    cause,
  })
}
