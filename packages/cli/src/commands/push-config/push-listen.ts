/**
 * `a2a task push-config listen`: receives push notifications and prints them as they come. With a task it registers itself as a webhook
 * of the task, ends when the task has settled, and removes the config.
 */
import { randomUUID } from 'node:crypto'
import { abortable, hasSettled, toProtoJson } from '@parley/a2a/internal'
import type { StreamEvent } from '@parley/a2a'
import type { AgentConnection } from '../../agent/connection.ts'
import type { CommandContext } from '../../command.ts'
import { eventText } from '../../output/task-text.ts'
import { openReceiver } from '../../push/receiver.ts'

/** How long the removal of the config may take at the end. */
const cleanupMs = 5_000

export async function run(context: CommandContext): Promise<void> {
  const [taskId] = context.args.operands
  if (taskId === undefined) return listenToAll(context)
  const connection = await context.connect()
  try {
    await listenToTask(context, connection, taskId)
  } finally {
    await connection.close()
  }
}

/** Until Ctrl-C, which is its usual end. */
async function listenToAll(context: CommandContext): Promise<void> {
  const { settings, output, terminal, signal } = context
  const token = settings.value('token')
  if (token === undefined) output.warn('Without --token every notification is accepted.')
  const print = printer(context, '')
  const receiver = await openReceiver({
    ...addressOf(context),
    token,
    taskId: undefined,
    output,
    handle: ({ event }) => print(event),
  })
  try {
    output.note(`Listening on ${settings.value('public-url') ?? receiver.url}`)
    await new Promise<void>((resolve) => {
      terminal.onInterrupt(() => resolve())
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    if (signal.aborted) signal.throwIfAborted()
  } finally {
    await receiver.close()
  }
}

async function listenToTask(context: CommandContext, connection: AgentConnection, taskId: string): Promise<void> {
  const { settings, output, signal } = context
  connection.checkProjectTrust('token')
  const token = settings.value('token') ?? randomUUID()
  output.redact(token)
  const print = printer(context, connection.resumeArgs)
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>()
  const receiver = await openReceiver({
    ...addressOf(context),
    token,
    taskId,
    output,
    async handle({ event }) {
      await print(event)
      if (isSettled(event)) settle()
    },
  })
  try {
    const url = settings.value('public-url') ?? receiver.url
    const config = await connection.agent.push.set(taskId, { url, token }, { signal })
    output.note(`Listening on ${url} for task ${taskId}, config ${config.id ?? 'without an id'}`)
    try {
      // Read after the registration: what happened before it is not notified.
      const task = await connection.getTask(taskId, { signal })
      if (hasSettled(task.status.state)) await print({ task })
      else await abortable(signal, settled)
    } finally {
      await removeConfig(context, connection, taskId, config.id)
    }
  } finally {
    await receiver.close()
  }
}

async function removeConfig(
  { output }: CommandContext,
  { agent }: AgentConnection,
  taskId: string,
  configId: string | undefined,
): Promise<void> {
  if (configId === undefined) return
  try {
    await agent.push.delete(taskId, configId, { signal: AbortSignal.timeout(cleanupMs) })
  } catch (reason) {
    output.warn(`The config ${configId} could not be deleted: ${(reason as Error).message}`)
  }
}

/** One event after the other, each in one line with `-o json`. */
function printer({ output, terminal }: CommandContext, resumeArgs: string): (event: StreamEvent) => Promise<void> {
  const options = { isVerbose: output.isVerbose, program: terminal.program, resumeArgs }
  let last: Promise<void> = Promise.resolve()
  return (event) => {
    const write = (): Promise<void> =>
      output.format === 'json'
        ? output.line(toProtoJson('StreamResponse', event))
        : output.text(eventText(event, options, true))
    return (last = last.then(write))
  }
}

function addressOf({ settings }: CommandContext): Pick<Parameters<typeof openReceiver>[0], 'port' | 'host'> {
  return { port: settings.integer('port', 0, 65_535) ?? 0, host: settings.value('host') ?? '127.0.0.1' }
}

function isSettled(event: StreamEvent): boolean {
  if ('message' in event) return true
  if ('artifactUpdate' in event) return false
  const { status } = 'task' in event ? event.task : event.statusUpdate
  return hasSettled(status.state)
}
