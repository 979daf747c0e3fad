/** Reads enumerations by every name of a member, and by number (J-2). */
import { taskStates } from '../model/state.ts'
import type { TaskState } from '../model/state.ts'
import type { Role } from '../model/task.ts'
import { addViolation } from './read.ts'
import type { FieldReader } from './read.ts'
import { legacyJsonVocabulary, legacyProtoVocabulary } from './vocabulary.ts'
import type { Vocabulary } from './vocabulary.ts'

const roles: readonly Role[] = ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT']

/** A number may come as its digits, from a query string. */
function numbered<T extends string>(members: readonly T[]): [unknown, T][] {
  return members.flatMap((member, number): [unknown, T][] => [
    [member, member],
    [number, member],
    [String(number), member],
  ])
}

function member<T>(
  names: ReadonlyMap<unknown, T>,
  fallback: T,
  expected: (vocabulary: Vocabulary) => string,
): FieldReader<T> {
  return (reader, value) => {
    const found = names.get(value)
    if (found !== undefined && (found !== fallback || reader.forgiving)) return found
    return reader.forgiving ? fallback : addViolation(reader, `must be ${expected(reader.vocabulary)}`)
  }
}

/** 0.x writes `user` and `agent`; so do some 1.0 peers. */
export const role: FieldReader<Role> = member(
  new Map<unknown, Role>([...numbered(roles), ['user', 'ROLE_USER'], ['agent', 'ROLE_AGENT']]),
  'ROLE_UNSPECIFIED',
  ({ roles: { ROLE_USER, ROLE_AGENT } }) => `${ROLE_USER} or ${ROLE_AGENT}`,
)

const stateNames = new Map<unknown, TaskState>([
  ...numbered(taskStates),
  ...taskStates.map((state): [unknown, TaskState] => [legacyProtoVocabulary.states[state], state]),
])

/** In a filter: UNSPECIFIED and an empty query parameter match every state (B-81). */
export const stateFilter: FieldReader<TaskState> = (reader, value) => {
  const found = value === '' ? 'TASK_STATE_UNSPECIFIED' : stateNames.get(value)
  if (found === undefined) return addViolation(reader, 'must be the name of a task state')
  return found === 'TASK_STATE_UNSPECIFIED' ? undefined : found
}

/** In a response, an unknown state is UNSPECIFIED and not an error (B-174). */
export const state: FieldReader<TaskState> = member(
  new Map<unknown, TaskState>([
    ...stateNames,
    ...taskStates.map((state): [unknown, TaskState] => [legacyJsonVocabulary.states[state], state]),
    ['cancelled', 'TASK_STATE_CANCELED'],
    ['started', 'TASK_STATE_SUBMITTED'],
  ]),
  'TASK_STATE_UNSPECIFIED',
  () => 'the name of a task state',
)
