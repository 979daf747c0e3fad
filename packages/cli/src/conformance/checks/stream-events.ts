/** Whether one event has the shape of its version. Returns what is wrong with it, as a predicate: `has no taskId`. */
import { isObject } from '../wire/encode-request.ts'
import type { ResultView } from '../wire/read-response.ts'
import type { Dialect } from '../wire/spelling.ts'

const members = ['task', 'message', 'statusUpdate', 'artifactUpdate'] as const

const modernStates = [
  'SUBMITTED',
  'WORKING',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'INPUT_REQUIRED',
  'REJECTED',
  'AUTH_REQUIRED',
].map((state) => `TASK_STATE_${state}`)
const legacyStates = [
  'submitted',
  'working',
  'input-required',
  'completed',
  'canceled',
  'failed',
  'rejected',
  'auth-required',
  'unknown',
]

/** How a dialect spells the states on the wire. */
export function statesOf(dialect: Dialect): readonly string[] {
  if (dialect === '0.x json') return legacyStates
  return dialect === '0.3 proto' ? [...modernStates, 'TASK_STATE_CANCELLED'] : modernStates
}

export function judgeEvent(view: ResultView, dialect: Dialect): string | undefined {
  const { raw } = view
  if (!isObject(raw)) return 'is no JSON object'
  if (dialect === '1.0') {
    const present = members.filter((member) => member in raw)
    if (present.length !== 1)
      return present.length === 0 ? `has none of ${members.join(', ')}` : `has both ${present.join(' and ')}`
  }
  const state = wireStateOf(raw)
  const hasState = state !== undefined && statesOf(dialect).includes(state)
  switch (view.kind) {
    case 'unknown':
      return dialect === '0.x json' ? `has the unknown kind ${JSON.stringify(raw['kind'])}` : 'is of no known kind'
    case 'task':
      if (view.task.id === undefined || view.task.id === '') return '(task) has no id'
      if (!hasState) return `(task) has the state ${JSON.stringify(state)}`
      return view.task.artifacts
        .map(({ artifactId, parts }) => judgeArtifact(artifactId, parts))
        .find((wrong) => wrong !== undefined)
    case 'message':
      if (view.message.messageId === undefined || view.message.messageId === '') return '(message) has no messageId'
      if (view.message.role !== 'ROLE_AGENT')
        return `(message) has the role ${JSON.stringify(view.message.raw['role'])}`
      return view.message.parts.length === 0 ? '(message) has no parts' : undefined
    case 'status':
      if (view.taskId === undefined || view.taskId === '') return '(status update) has no taskId'
      if (view.contextId === undefined || view.contextId === '') return '(status update) has no contextId'
      if (!hasState) return `(status update) has the state ${JSON.stringify(state)}`
      return dialect === '0.x json' && view.isFinal === undefined ? '(status update) has no "final"' : undefined
    case 'artifact':
      if (view.taskId === undefined || view.taskId === '') return '(artifact update) has no taskId'
      if (view.contextId === undefined || view.contextId === '') return '(artifact update) has no contextId'
      return judgeArtifact(view.artifact.artifactId, view.artifact.parts)
  }
}

function judgeArtifact(artifactId: string | undefined, parts: readonly unknown[]): string | undefined {
  if (artifactId === undefined || artifactId === '') return 'has an artifact without an artifactId'
  return parts.length === 0 ? `has the artifact ${artifactId} without parts` : undefined
}

/** The state as it was spelled. */
function wireStateOf(raw: Readonly<Record<string, unknown>>): string | undefined {
  const holder = [raw['task'], raw['statusUpdate'], raw].find((value) => isObject(value) && isObject(value['status']))
  const status = isObject(holder) && isObject(holder['status']) ? holder['status'] : {}
  return typeof status['state'] === 'string' ? status['state'] : undefined
}
