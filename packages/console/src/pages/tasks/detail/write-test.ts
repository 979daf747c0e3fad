/**
 * Writes a task as a runnable test: it sends the same messages to the same agent and compares the answers with the logged ones.
 * Content from agents and callers is embedded as JSON, so that none of it can be read as code.
 */
import type { Artifact, Message, Part, Task, TaskStatus } from '@parley/a2a'
import type { LogRecord } from '../../../api/admin.ts'
import { recordBody } from '../events/fold-events.ts'

const headText = (taskId: string, origin: string) => [
  `/** Task ${taskId} as a test: node --test <this file> */`,
  `import assert from 'node:assert/strict'`,
  `import { it } from 'node:test'`,
  `import { connect } from '@parley/a2a/client'`,
  '',
  `const url = process.env.PARLEY_URL ?? ${origin}`,
  `const key = process.env.PARLEY_KEY`,
  '',
]
const helpers = [
  `function textIn(parts = []) {`,
  `  return parts.map((part) => part.text ?? '').join('')`,
  `}`,
  '',
  `function textsOf(artifacts = []) {`,
  `  return artifacts.map(({ name, parts }) => ({ ...(name === undefined ? {} : { name }), text: textIn(parts) }))`,
  `}`,
  '',
] as const

export interface TestInput {
  readonly agent: string
  /** URL of the hub, unless PARLEY_URL is set. */
  readonly origin: string
  readonly task: Task
  /** The whole log, or empty if its beginning was dropped: then only the final result is compared. */
  readonly events: readonly LogRecord[]
}

/** A message, and the state it led to before the next message. */
interface TestStep {
  readonly message: Message
  readonly settled?: TaskStatus
}

export function writeTest({ agent, origin, task, events }: TestInput): string {
  const steps = stepsOf(task, events)
  const isCanceled = task.status.state === 'TASK_STATE_CANCELED'
  const [first] = steps
  const name = `${agent} answers ${JSON.stringify(messageTitle(first?.message))} as recorded`
  return [
    ...headText(task.id.replaceAll(/[^\w-]/g, ''), JSON.stringify(origin)),
    `it(${JSON.stringify(name)}, async () => {`,
    `  const agent = await connect(url + ${JSON.stringify(`/a2a/${encodeURIComponent(agent)}`)}, key ? { bearer: key } : {})`,
    ...steps.flatMap((step, index) => stepLines(step, index, isCanceled && index === steps.length - 1)),
    ...endLines(task, isCanceled),
    `})`,
    '',
    ...helpers,
  ].join('\n')
}

function stepLines({ message, settled }: TestStep, index: number, isStarted: boolean): readonly string[] {
  const call = isStarted ? 'start' : 'send'
  const more = index === 0 ? '' : ', { taskId: task.id }'
  const lines = [
    `  ${index === 0 ? 'let task' : 'task'} = await agent.${call}(${messageLiteral(message, index + 1)}${more})`,
  ]
  if (settled === undefined) return lines
  return [...lines, ...statusLines(settled)]
}

function endLines({ status, artifacts = [] }: Task, isCanceled: boolean): readonly string[] {
  // The log does not fix the moment of the cancellation, so the content up to it is not compared.
  if (isCanceled)
    return ['  task = await agent.cancel(task.id)', `  assert.equal(task.status.state, 'TASK_STATE_CANCELED')`]
  return [...statusLines(status), `  assert.deepEqual(textsOf(task.artifacts), ${json(artifactTexts(artifacts), 2)})`]
}

function statusLines({ state, message }: TaskStatus): readonly string[] {
  const lines = [`  assert.equal(task.status.state, ${JSON.stringify(state)})`]
  const text = joinText(message?.parts ?? [])
  return text === '' ? lines : [...lines, `  assert.equal(textIn(task.status.message?.parts), ${JSON.stringify(text)})`]
}

function messageLiteral({ parts, metadata, extensions }: Message, number: number): string {
  // A secret is not in the log: the test reads it from the environment.
  if (parts.some(isRedacted)) return `[{ text: process.env.PARLEY_SECRET_${number} ?? '' }]`
  const sent = {
    parts,
    ...(metadata !== undefined ? { metadata } : {}),
    ...(extensions !== undefined ? { extensions } : {}),
  }
  return json(sent, 2)
}

function isRedacted({ metadata = {} }: Part): boolean {
  return Object.values(metadata).some(
    (about) => typeof about === 'object' && about !== null && 'redacted' in about && about['redacted'] === true,
  )
}

function stepsOf(task: Task, events: readonly LogRecord[]): readonly TestStep[] {
  const steps: { message: Message; settled?: TaskStatus }[] = []
  let status: TaskStatus | undefined
  for (const record of events) {
    const body = recordBody(record)
    if (body.type === 'status') status = body.status
    if (body.type !== 'message' || body.message.role !== 'ROLE_USER') continue
    const last = steps.at(-1)
    // Messages sent while the agent works depend on timing: only a state in which it waited is compared.
    if (last !== undefined && status !== undefined && status.state.endsWith('_REQUIRED')) last.settled = status
    steps.push({ message: body.message })
  }
  if (steps.length > 0) return steps
  return (task.history ?? []).filter(({ role }) => role === 'ROLE_USER').map((message) => ({ message }))
}

export function joinText(parts: readonly Part[]): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}

/** Ids may differ each time; names and texts are compared. */
function artifactTexts(artifacts: readonly Artifact[]): readonly object[] {
  return artifacts.map(({ name, parts }) => ({ ...(name === undefined ? {} : { name }), text: joinText(parts) }))
}

function messageTitle(message: Message | undefined): string {
  const text = joinText(message?.parts ?? [])
    .replaceAll(/\s+/g, ' ')
    .trim()
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`
}

function json(value: unknown, indent: number): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${' '.repeat(indent)}`)
}
