/**
 * How each dialect writes the members of enumerations. Both encoded payloads and error messages use these words, so an error of
 * 0.x never contains a word of 1.0.
 */
import { type TaskState, taskStates } from '../model/state.ts'
import type { Role } from '../model/task.ts'

export interface Vocabulary {
  readonly roles: { readonly [R in Role]: string }
  readonly states: { readonly [S in TaskState]: string }
}

/** 1.0. */
export const canonicalVocabulary: Vocabulary = {
  roles: { ROLE_UNSPECIFIED: 'ROLE_UNSPECIFIED', ROLE_USER: 'ROLE_USER', ROLE_AGENT: 'ROLE_AGENT' },
  states: Object.fromEntries(taskStates.map((state) => [state, state])) as Vocabulary['states'],
}

/** REST and gRPC of 0.x: the same, but its proto spells CANCELLED with two Ls. */
export const legacyProtoVocabulary: Vocabulary = {
  ...canonicalVocabulary,
  states: { ...canonicalVocabulary.states, TASK_STATE_CANCELED: 'TASK_STATE_CANCELLED' },
}

/** JSON-RPC of 0.x, which has no word for an unspecified role. */
export const legacyJsonVocabulary: Vocabulary = {
  roles: { ROLE_UNSPECIFIED: 'agent', ROLE_USER: 'user', ROLE_AGENT: 'agent' },
  states: {
    TASK_STATE_UNSPECIFIED: 'unknown',
    TASK_STATE_SUBMITTED: 'submitted',
    TASK_STATE_WORKING: 'working',
    TASK_STATE_COMPLETED: 'completed',
    TASK_STATE_FAILED: 'failed',
    TASK_STATE_CANCELED: 'canceled',
    TASK_STATE_INPUT_REQUIRED: 'input-required',
    TASK_STATE_REJECTED: 'rejected',
    TASK_STATE_AUTH_REQUIRED: 'auth-required',
  },
}
