/**
 * A task as a test that runs: it sends what was sent to the same agent and holds the answer against the one that is logged.
 * Whatever agents and callers said goes into the file as JSON, so nothing of it can be read as code.
 */
import type { Artifact, Message, Part, Task, TaskStatus } from '@parley/a2a'
import type { LogRecord } from '../../api/admin.ts'
import { bodyOf } from './fold-events.ts'

export interface TestSource {
  readonly agent: string
  /** Where the hub is, unless PARLEY_URL says otherwise. */
  readonly origin: string
  readonly task: Task
  /** The whole log, or nothing where it was dropped: then only the end is held against. */
  readonly events: readonly LogRecord[]
}

/** What was said, and where it led before something else was said. */
interface Step {
  readonly message: Message
  readonly settled?: TaskStatus
}

export function writeTest({ agent, origin, task, events }: TestSource): string {
  const steps = stepsOf(task, events)
  const isCanceled = task.status.state === 'TASK_STATE_CANCELED'
  const [first] = steps
  const name = `${agent} answers ${JSON.stringify(titleOf(first?.message))} as it did`
  return [
    `/** What became of task ${task.id.replaceAll(/[^\w-]/g, '')}, as a test: node --test <this file> */`,
    `import assert from 'node:assert/strict'`,
    `import { it } from 'node:test'`,
    `import { connect } from '@parley/a2a/client'`,
    '',
    `const url = process.env.PARLEY_URL ?? ${JSON.stringify(origin)}`,
    `const key = process.env.PARLEY_KEY`,
    '',
    `it(${JSON.stringify(name)}, async () => {`,
    `  const agent = await connect(url + ${JSON.stringify(`/a2a/${encodeURIComponent(agent)}`)}, key ? { bearer: key } : {})`,
    ...steps.flatMap((step, index) => stepLines(step, index, isCanceled && index === steps.length - 1)),
    ...endLines(task, isCanceled),
    `})`,
    '',
    ...readers,
  ].join('\n')
}

function stepLines({ message, settled }: Step, index: number, isStarted: boolean): readonly string[] {
  const call = isStarted ? 'start' : 'send'
  const more = index === 0 ? '' : ', { taskId: task.id }'
  const lines = [`  ${index === 0 ? 'let task' : 'task'} = await agent.${call}(${saying(message, index + 1)}${more})`]
  if (settled === undefined) return lines
  return [...lines, ...statusLines(settled)]
}

function endLines({ status, artifacts = [] }: Task, isCanceled: boolean): readonly string[] {
  // When it was canceled is not in the message: what it had said until then may be anything.
  if (isCanceled)
    return ['  task = await agent.cancel(task.id)', `  assert.equal(task.status.state, 'TASK_STATE_CANCELED')`]
  return [...statusLines(status), `  assert.deepEqual(textsOf(task.artifacts), ${json(textsOf(artifacts), 2)})`]
}

function statusLines({ state, message }: TaskStatus): readonly string[] {
  const lines = [`  assert.equal(task.status.state, ${JSON.stringify(state)})`]
  const text = textIn(message?.parts ?? [])
  return text === '' ? lines : [...lines, `  assert.equal(textIn(task.status.message?.parts), ${JSON.stringify(text)})`]
}

function saying({ parts, metadata, extensions }: Message, number: number): string {
  // A secret is not in the log: whoever runs the test says it.
  if (parts.some(isRedacted)) return `[{ text: process.env.PARLEY_SECRET_${number} ?? '' }]`
  const said = {
    parts,
    ...(metadata !== undefined ? { metadata } : {}),
    ...(extensions !== undefined ? { extensions } : {}),
  }
  return json(said, 2)
}

function isRedacted({ metadata = {} }: Part): boolean {
  return Object.values(metadata).some(
    (about) => typeof about === 'object' && about !== null && 'redacted' in about && about['redacted'] === true,
  )
}

function stepsOf(task: Task, events: readonly LogRecord[]): readonly Step[] {
  const steps: { message: Message; settled?: TaskStatus }[] = []
  let status: TaskStatus | undefined
  for (const record of events) {
    const body = bodyOf(record)
    if (body.type === 'status') status = body.status
    if (body.type !== 'message' || body.message.role !== 'ROLE_USER') continue
    const last = steps.at(-1)
    // What was said while the agent worked depends on the moment: only what it waited for can be held against.
    if (last !== undefined && status !== undefined && status.state.endsWith('_REQUIRED')) last.settled = status
    steps.push({ message: body.message })
  }
  if (steps.length > 0) return steps
  return (task.history ?? []).filter(({ role }) => role === 'ROLE_USER').map((message) => ({ message }))
}

export function textIn(parts: readonly Part[]): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}

/** Ids may be other ones each time; names and texts are meant. */
function textsOf(artifacts: readonly Artifact[]): readonly object[] {
  return artifacts.map(({ name, parts }) => ({ ...(name === undefined ? {} : { name }), text: textIn(parts) }))
}

const readers = [
  `function textIn(parts = []) {`,
  `  return parts.map((part) => part.text ?? '').join('')`,
  `}`,
  '',
  `function textsOf(artifacts = []) {`,
  `  return artifacts.map(({ name, parts }) => ({ ...(name === undefined ? {} : { name }), text: textIn(parts) }))`,
  `}`,
  '',
]

function titleOf(message: Message | undefined): string {
  const text = textIn(message?.parts ?? [])
    .replaceAll(/\s+/g, ' ')
    .trim()
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`
}

function json(value: unknown, indent: number): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${' '.repeat(indent)}`)
}
