/** `a2a send`: sends a message, and waits for the end of the agent's turn. */
import { A2AError, isTerminal, newId, type Message, type Struct } from '@parley/a2a'
import { omitUndefined, type SendMessageConfiguration } from '@parley/a2a/internal'
import type { AgentConnection } from '../agent/connection.ts'
import { waitUnlessDetached } from '../agent/detach.ts'
import type { FinalObject } from '../agent/event-printer.ts'
import { followEvents } from '../agent/follow-events.ts'
import type { CommandContext } from '../command.ts'
import type { Settings } from '../args/settings.ts'
import { usageError, withHint } from '../output/cli-error.ts'
import { quoted, type TaskTextOptions } from '../output/task-text.ts'
import { endStream, exitStatus, printAnswer, printResult, textOptions } from './final-output.ts'
import { readMessageParts } from './message-parts.ts'

interface SendRequest {
  readonly message: Message
  readonly configuration: SendMessageConfiguration
  readonly metadata: Struct | undefined
}

export async function run(context: CommandContext): Promise<number> {
  const { settings, output, signal } = context
  const isAsync = returnsAtOnce(settings, output.isStream)
  const request = await readRequest(context)
  const connection = await context.connect()
  const text = textOptions(context, connection)
  try {
    if (isAsync) {
      const accepted = await sendAsync(connection, request, signal)
      if (output.isInteractive) await printAnswer(accepted, context, text, connection)
      else await printResult(accepted, context, text)
      return exitStatus(accepted, context)
    }
    if (output.isStream && !connection.canStream) output.note('The agent does not stream; polling instead.')
    const { message, configuration, metadata } = request
    let taskId = message.taskId
    const waited = await waitUnlessDetached(
      context,
      connection,
      text,
      () => ({ taskId, messageId: message.messageId }),
      (own) =>
        followEvents(
          connection.agent.stream(message, { ...configuration, ...omitUndefined({ metadata }), signal: own }),
          {
            connection,
            output,
            text,
            signal: own,
            historyLength: configuration.historyLength,
            sent: message,
            onTask: (id) => (taskId = id),
          },
        ),
    )
    if ('exitCode' in waited) return waited.exitCode
    const isPrinted = output.isStream || output.isInteractive
    await (isPrinted ? endStream(waited.result, context, text) : printResult(waited.result, context, text))
    return exitStatus(waited.result, context)
  } catch (reason) {
    throw await explainRejectedId(reason, request.message, connection, text)
  } finally {
    await connection.close()
  }
}

/** `--wait` on the command line beats an async default of the environment. */
function returnsAtOnce(settings: Settings, isStream: boolean): boolean {
  if (!settings.has('async')) return false
  const isFlag = settings.sourceOf('async').kind === 'flag'
  const isWaitFlag = settings.has('wait') && settings.sourceOf('wait').kind === 'flag'
  if (isFlag && isWaitFlag) throw usageError('--async and --wait exclude each other.')
  if (isFlag && isStream) throw usageError('--async and --stream exclude each other.')
  return isFlag || !(isWaitFlag || isStream)
}

async function readRequest(context: CommandContext): Promise<SendRequest> {
  const { settings } = context
  const historyLength = settings.integer('history', 0)
  const accepted = settings.values('accept')
  const metadata = settings.jsonObject('metadata') as Struct | undefined
  const references = settings.values('reference-task')
  return {
    message: {
      messageId: settings.value('message-id') ?? newId(),
      role: 'ROLE_USER',
      ...omitUndefined({ taskId: settings.value('task-id'), contextId: settings.value('context-id') }),
      ...(references.length > 0 ? { referenceTaskIds: references } : {}),
      parts: await readMessageParts(context),
    },
    configuration: {
      ...omitUndefined({ historyLength }),
      ...(accepted.length > 0 ? { acceptedOutputModes: accepted } : {}),
    },
    metadata,
  }
}

async function sendAsync(
  { agent }: AgentConnection,
  { message, configuration, metadata }: SendRequest,
  signal: AbortSignal,
): Promise<FinalObject> {
  return agent.session.call(
    'SendMessage',
    { message, configuration: { ...configuration, returnImmediately: true }, ...omitUndefined({ metadata }) },
    { signal },
  )
}

/** The ids are the user's: the error is shown as it is, and the message is never sent again as a new task. */
async function explainRejectedId(
  reason: unknown,
  { taskId, contextId }: Message,
  connection: AgentConnection,
  { program, resumeArgs }: TaskTextOptions,
): Promise<unknown> {
  if (!(reason instanceof A2AError) || (taskId === undefined && contextId === undefined)) return reason
  if (reason.retryable) return reason
  const task = taskId === undefined ? undefined : await connection.getTask(taskId).catch(() => undefined)
  if (task?.contextId !== undefined && isTerminal(task.status.state))
    return withHint(
      reason,
      `A new task continues the conversation: ${program} send ${resumeArgs} --context-id ${quoted(task.contextId)} "<text>"\n--debug shows every request.`,
    )
  return withHint(
    reason,
    'Check --task-id and --context-id: the agent rejected the message. --debug shows every request.',
  )
}
