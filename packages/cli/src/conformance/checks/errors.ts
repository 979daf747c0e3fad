/** The shape of an A2A error in each binding, shown by a task that does not exist. */
import { fail, pass, type Check } from '../check.ts'
import { unknownTaskId } from '../expect.ts'
import type { Answer, Subject } from '../subject.ts'
import { isObject } from '../wire/encode-request.ts'
import { describeError } from '../wire/read-error.ts'
import { allBindings, grpc, jsonBindings, jsonRpc, rest, v1 } from './scope.ts'

const onErrors = { versions: v1, sends: false, level: 'must' } as const

const notFound = (subject: Subject): Promise<Answer> =>
  subject.once('not found', () => subject.call('GetTask', { id: unknownTaskId(subject) }))

export const errorChecks: readonly Check[] = [
  {
    ...onErrors,
    id: 'error.status',
    rules: ['B-168'],
    section: 'A2A 1.0 §5.4',
    title: 'TaskNotFoundError has its code: -32001, HTTP 404 or NOT_FOUND',
    bindings: allBindings,
    async run(subject) {
      const answer = await notFound(subject)
      const { error } = answer
      if (error === undefined) return fail('GetTask of an unknown id is no error', answer)
      const isRight =
        subject.binding === 'JSONRPC'
          ? error.code === -32001
          : subject.binding === 'GRPC'
            ? error.grpcStatus === 'NOT_FOUND'
            : answer.status === 404
      return isRight ? pass() : fail(`it is ${describeError(error)}`, answer)
    },
  },
  {
    ...onErrors,
    id: 'error.message',
    rules: ['B-38'],
    section: 'A2A 1.0 §3.3.2',
    title: 'An error has a message for people',
    bindings: allBindings,
    async run(subject) {
      const answer = await notFound(subject)
      const message = answer.error?.message ?? ''
      return message.trim() === '' ? fail('the message is missing or empty', answer) : pass()
    },
  },
  {
    ...onErrors,
    id: 'error.details-typed',
    rules: ['F-1'],
    section: 'A2A 1.0 §3.3.2, §9.5, §11.6',
    title: 'The details of an error are a list of objects, each with @type',
    bindings: jsonBindings,
    async run(subject) {
      const answer = await notFound(subject)
      const raw = isObject(answer.error?.raw) ? answer.error.raw : {}
      const error = isObject(raw['error']) ? raw['error'] : raw
      const details = error['data'] ?? error['details']
      if (details === undefined || details === null) return pass('there are no details')
      if (!Array.isArray(details)) return fail('the details are no list', answer)
      const untyped = details.some((detail: unknown) => !isObject(detail) || typeof detail['@type'] !== 'string')
      return untyped ? fail('a detail has no @type', answer) : pass()
    },
  },
  {
    ...onErrors,
    id: 'error.info',
    rules: ['B-168'],
    level: 'should',
    section: 'A2A 1.0 §9.5',
    title: 'An A2A error over JSON-RPC has a google.rpc.ErrorInfo with its reason',
    bindings: jsonRpc,
    run: errorInfo,
  },
  {
    ...onErrors,
    id: 'error.info-rest',
    rules: ['B-168'],
    section: 'A2A 1.0 §11.6',
    title: 'An A2A error over HTTP+JSON has a google.rpc.ErrorInfo with its reason and domain',
    bindings: rest,
    run: errorInfo,
  },
  {
    ...onErrors,
    id: 'error.info-grpc',
    rules: ['B-168', 'F-10'],
    section: 'A2A 1.0 §10.6',
    title: 'An A2A error over gRPC has a google.rpc.ErrorInfo with its reason and domain',
    bindings: grpc,
    run: errorInfo,
  },
  {
    ...onErrors,
    id: 'error.rest-body',
    rules: ['B-168'],
    section: 'A2A 1.0 §11.6',
    title: 'An error over HTTP+JSON is a google.rpc.Status: error.code and error.message',
    bindings: rest,
    async run(subject) {
      const answer = await notFound(subject)
      const body = isObject(answer.envelope) ? answer.envelope['error'] : undefined
      if (!isObject(body)) return fail('the body has no error object', answer)
      if (body['code'] !== answer.status)
        return fail(`error.code is ${JSON.stringify(body['code'])} and the status ${answer.status}`, answer)
      return typeof body['message'] === 'string' ? pass() : fail('error.message is missing', answer)
    },
  },
  {
    ...onErrors,
    versions: ['0.3'],
    id: 'error.rest-body-0.3',
    rules: ['B-168'],
    section: 'A2A 0.3 §3.2.3',
    title: 'An error over HTTP+JSON has an HTTP error status and a JSON body',
    bindings: rest,
    async run(subject) {
      const answer = await notFound(subject)
      if (answer.status < 400) return fail(`GetTask of an unknown id has status ${answer.status}`, answer)
      return isObject(answer.envelope) ? pass() : fail('the body of the error is no JSON object', answer)
    },
  },
]

async function errorInfo(subject: Subject): ReturnType<Check['run']> {
  const answer = await notFound(subject)
  if (answer.error === undefined) return fail('GetTask of an unknown id is no error', answer)
  const { reason, domain } = answer.error
  if (reason === undefined) return fail('there is no google.rpc.ErrorInfo with a reason', answer)
  if (reason !== 'TASK_NOT_FOUND')
    return fail(`reason is ${JSON.stringify(reason)} instead of "TASK_NOT_FOUND"`, answer)
  return domain === 'a2a-protocol.org'
    ? pass()
    : fail(`domain is ${JSON.stringify(domain)} instead of "a2a-protocol.org"`, answer)
}
