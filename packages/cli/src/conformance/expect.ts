/** What several checks expect of an answer. Each throws a `CheckFailure` with the exchange. */
import { CheckFailure } from './check.ts'
import type { Answer, Subject } from './subject.ts'
import { describeError } from './wire/read-error.ts'

/** Statuses that tell an error where neither a reason nor a code does. 1.0.0 and 1.0.1 differ, and 0.3 has no table. */
const statusesOf: Readonly<Record<string, { readonly http: readonly number[]; readonly grpc: readonly string[] }>> = {
  TASK_NOT_FOUND: { http: [404], grpc: ['NOT_FOUND'] },
  TASK_NOT_CANCELABLE: { http: [400, 409], grpc: ['FAILED_PRECONDITION'] },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { http: [400, 501], grpc: ['FAILED_PRECONDITION', 'UNIMPLEMENTED'] },
  UNSUPPORTED_OPERATION: { http: [400, 501], grpc: ['FAILED_PRECONDITION', 'UNIMPLEMENTED'] },
  CONTENT_TYPE_NOT_SUPPORTED: { http: [400, 415], grpc: ['INVALID_ARGUMENT'] },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { http: [400, 404], grpc: ['FAILED_PRECONDITION'] },
  EXTENSION_SUPPORT_REQUIRED: { http: [400], grpc: ['FAILED_PRECONDITION'] },
  VERSION_NOT_SUPPORTED: { http: [400], grpc: ['FAILED_PRECONDITION', 'UNIMPLEMENTED'] },
  METHOD_NOT_FOUND: { http: [404, 405, 501], grpc: ['UNIMPLEMENTED'] },
  INVALID_PARAMS: { http: [400, 422], grpc: ['INVALID_ARGUMENT'] },
}

/** Whether it is this error. Where neither a reason nor a code tells, the status does: whether details are there is a check of its own. */
export function isErrorNamed({ error }: Pick<Answer, 'error'>, name: string): boolean {
  if (error === undefined) return false
  if (error.name !== undefined) return error.name === name
  const statuses = statusesOf[name]
  if (error.grpcStatus !== undefined && error.status === 200) return statuses?.grpc.includes(error.grpcStatus) ?? false
  return statuses?.http.includes(error.status) ?? false
}

/** The answer is one of these errors. `what`: the request in words, such as `GetTask of an unknown task`. */
export function expectError(answer: Answer, what: string, ...names: readonly string[]): void {
  if (names.some((name) => isErrorNamed(answer, name))) return
  throw new CheckFailure(
    `${what} is answered with ${outcomeOf(answer)} instead of ${names.join(' or ')}`,
    answer.exchange,
  )
}

/** The answer is an error of any kind. */
export function expectRefusal(answer: Answer, what: string): void {
  if (answer.error !== undefined) return
  throw new CheckFailure(`${what} is answered with ${outcomeOf(answer)} instead of an error`, answer.exchange)
}

/** The answer is a result. */
export function expectResult(answer: Answer, what: string): void {
  if (answer.error === undefined && answer.malformed === undefined) return
  throw new CheckFailure(`${what} is answered with ${outcomeOf(answer)}`, answer.exchange)
}

export function outcomeOf({ error, malformed }: Pick<Answer, 'error' | 'malformed'>): string {
  if (error !== undefined) return describeError(error)
  return malformed === undefined ? 'a result' : `a malformed response (${malformed})`
}

/** Fails with this note unless `isTrue`. */
export function expect(isTrue: boolean, note: string, answer?: Pick<Answer, 'exchange'>): asserts isTrue {
  if (!isTrue) throw new CheckFailure(note, answer?.exchange)
}

/** An id that no task has. */
export const unknownTaskId = (subject: Subject): string =>
  `conformance-no-such-task-${subject.version}-${Date.now().toString(36)}`
