/** `a2a task list`: one page of the caller's tasks, or all of them. */
import {
  omitUndefined,
  taskStates,
  toProtoJson,
  type ListTasksRequest,
  type ListTasksResponse,
} from '@parley/a2a/internal'
import type { TaskState } from '@parley/a2a'
import type { AgentConnection } from '../../agent/connection.ts'
import type { CommandContext } from '../../command.ts'
import type { Settings } from '../../args/settings.ts'
import { usageError } from '../../output/cli-error.ts'
import { taskText } from '../../output/task-text.ts'
import { field } from '../../output/text.ts'
import { textOptions } from '../final-output.ts'

export async function run(context: CommandContext): Promise<void> {
  const { settings, output, signal } = context
  const request = listRequest(settings, output.format === 'text' ? 0 : undefined)
  const connection = await context.connect()
  const text = textOptions(context, connection)
  try {
    const page = settings.has('all')
      ? await allPages(connection, request, signal)
      : await onePage(connection, request, signal)
    const { tasks, nextPageToken, totalSize } = page
    if (output.format === 'json' && !output.isStream)
      return await output.document(toProtoJson('ListTasksResponse', page))
    for (const task of tasks) {
      if (output.format === 'json') await output.line(toProtoJson('Task', task))
      else await output.text(taskText(task, text))
    }
    if (output.format === 'text') {
      await output.text(field('Total', String(Math.max(totalSize, tasks.length))))
      if (nextPageToken !== '') await output.text(field('Next Page Token', nextPageToken))
    } else if (nextPageToken !== '') output.note(`Next page: --page-token ${nextPageToken}`)
  } finally {
    await connection.close()
  }
}

/** A list of texts is for an overview, so it has no history unless the user asks for it. */
function listRequest(settings: Settings, defaultHistory: number | undefined): ListTasksRequest {
  const since = settings.value('since')
  const time = since === undefined ? undefined : Date.parse(since)
  if (Number.isNaN(time)) throw usageError(`--since ${since}: not a time.`, 'Use ISO 8601: 2026-01-31T12:00:00Z')
  return omitUndefined({
    contextId: settings.value('context-id'),
    status: stateOf(settings.value('status')),
    pageSize: settings.integer('page-size', 1, 100),
    pageToken: settings.value('page-token'),
    historyLength: settings.integer('history', 0) ?? defaultHistory,
    statusTimestampAfter: time === undefined ? undefined : new Date(time).toISOString(),
    includeArtifacts: settings.has('include-artifacts') ? true : undefined,
  })
}

/** `input-required`, `INPUT_REQUIRED` or the name of the protocol. */
function stateOf(given: string | undefined): TaskState | undefined {
  if (given === undefined) return undefined
  const name = given.toUpperCase().replaceAll('-', '_')
  const state = taskStates.find((known) => known === name || known === `TASK_STATE_${name}`)
  if (state !== undefined) return state
  const known = taskStates.map((each) => each.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-'))
  throw usageError(`--status ${given}: unknown state.`, `Use one of ${known.join(', ')}.`)
}

function onePage(
  { agent }: AgentConnection,
  request: ListTasksRequest,
  signal: AbortSignal,
): Promise<ListTasksResponse> {
  return agent.session.call('ListTasks', request, { signal })
}

async function allPages(
  connection: AgentConnection,
  request: ListTasksRequest,
  signal: AbortSignal,
): Promise<ListTasksResponse> {
  let page = await onePage(connection, request, signal)
  const tasks = [...page.tasks]
  const seen = new Set<string>()
  // An agent that repeats a token would never end.
  while (page.nextPageToken !== '' && !seen.has(page.nextPageToken)) {
    seen.add(page.nextPageToken)
    page = await onePage(connection, { ...request, pageToken: page.nextPageToken }, signal)
    tasks.push(...page.tasks)
  }
  return { ...page, tasks, nextPageToken: '' }
}
