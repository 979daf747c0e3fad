/** `a2a task subscribe`: follows a task until the agent's turn is over, across broken connections. */
import { A2AError } from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import type { EventStream } from '@parley/a2a/client'
import type { AgentConnection } from '../../agent/connection.ts'
import { waitUnlessDetached } from '../../agent/detach.ts'
import { followEvents } from '../../agent/follow-events.ts'
import type { CommandContext } from '../../command.ts'
import { withHint } from '../../output/cli-error.ts'
import { quoted } from '../../output/task-text.ts'
import { endStream, exitStatus, printTask, textOptions } from '../final-output.ts'

export async function run(context: CommandContext): Promise<number> {
  const { args, settings, output } = context
  const id = args.operands[0] ?? ''
  const connection = await context.connect()
  const text = textOptions(context, connection)
  try {
    if (!connection.canStream) throw unsupported(connection, "The agent's card does not declare streaming", id)
    const waited = await waitUnlessDetached(
      context,
      connection,
      text,
      () => ({ taskId: id }),
      (signal) => {
        const options = { signal, ...omitUndefined({ lastEventId: settings.value('last-event-id') }) }
        return followEvents(refusable(connection, connection.agent.subscribe(id, options), id), {
          connection,
          output,
          text,
          signal,
          onTask() {},
        })
      },
    )
    if ('exitCode' in waited) return waited.exitCode
    const { result } = waited
    if (output.isStream || output.isInteractive) await endStream(result, context, text)
    else if ('task' in result) await printTask(result.task, context, text)
    return exitStatus(result, context)
  } finally {
    await connection.close()
  }
}

/**
 * The client polls if an agent refuses a subscription, which is right for a subscription that resumes. The refusal of the first one is
 * the answer to the user: the task has ended, or does not exist.
 */
function refusable(connection: AgentConnection, stream: EventStream, id: string): EventStream {
  let refusal: A2AError | undefined
  let isFirst = true
  const stopWatching = connection.onExchange(({ operation, phase, error }) => {
    if (operation !== 'SubscribeToTask' || phase === 'begin' || !isFirst) return
    isFirst = error instanceof A2AError && error.retryable
    if (error instanceof A2AError && !error.retryable) refusal = error
  })
  return Object.assign(Object.create(stream) as EventStream, {
    async *[Symbol.asyncIterator]() {
      try {
        for await (const event of stream) {
          if (refusal !== undefined) throw explain(connection, refusal, id)
          yield event
        }
      } catch (reason) {
        throw refusal === undefined ? reason : explain(connection, refusal, id)
      } finally {
        stopWatching()
      }
    },
  })
}

function explain(connection: AgentConnection, error: A2AError, id: string): A2AError {
  return error.code === 'UNSUPPORTED_OPERATION' ? unsupported(connection, error.message, id, error) : error
}

function unsupported({ resumeArgs }: AgentConnection, message: string, taskId: string, cause?: A2AError): A2AError {
  const error = new A2AError('UNSUPPORTED_OPERATION', message, { ...cause?.details, taskId }, { cause })
  return withHint(error, `\`a2a task get ${resumeArgs} ${quoted(taskId)}\` shows the task; with --wait it polls.`)
}
