/** Requests that are larger or deeper than any client sends: the agent takes them or refuses them, and stays up. */
import { CheckFailure, pass, type Check } from '../check.ts'
import { expect, expectError, outcomeOf, unknownTaskId } from '../expect.ts'
import type { Answer, RawRequest, Subject } from '../subject.ts'
import { readEnvelope } from '../wire/call-operation.ts'
import { encodeRequest } from '../wire/encode-request.ts'
import { describeError } from '../wire/read-error.ts'
import { parseJson, WireError } from '../wire/http-wire.ts'
import { restRequest, rpcMethodName, type JsonObject } from '../wire/spelling.ts'

const both = { versions: ['1.0', '0.3', '0.2'], bindings: ['JSONRPC', 'HTTP+JSON', 'GRPC'], sends: true } as const
const section = {
  '1.0': 'A2A 1.0 §13.4 (limits), §3.3.2 (every error has a code and a message)',
  '0.3': 'A2A 0.3 §8',
  '0.2': 'A2A 0.2 §8',
} as const

/** Text that a server shows only when a request went wrong inside it. */
const internals =
  /Maximum call stack|Cannot read propert|is not a function|Traceback \(most recent|node_modules|\bat [\w.<>]+ \(?(?:file:|\/)|NullPointerException|panic:|goroutine \d+/

export const limitChecks: readonly Check[] = [
  {
    id: 'limits.large-message',
    rules: ['B-41'],
    level: 'should',
    section,
    title: 'A message of 1 MB is accepted, or refused with an error of the binding',
    ...both,
    async run(subject) {
      const message = subject.message('complete', { metadata: { padding: 'x'.repeat(1_000_000) } })
      return acceptsOrRefuses(subject, { message }, 'A message of 1 MB')
    },
  },
  {
    id: 'limits.deep-json',
    rules: ['B-41'],
    level: 'should',
    section,
    title: 'Metadata nested 5,000 levels deep is accepted, or refused as invalid',
    ...both,
    bindings: ['JSONRPC', 'HTTP+JSON'],
    async run(subject) {
      const what = 'Metadata of 5,000 levels'
      const answer = await subject.http(deepRequest(subject, 5_000))
      const { status, json, exchange } = { ...answer, exchange: answer }
      expectNoInternals({ exchange }, what)
      expect(json !== undefined, `${what} is answered with HTTP ${status}, ${answer.headers['content-type']}`, {
        exchange,
      })
      const { error } = readEnvelope(json, status)
      expect(
        status < 500 && error?.name !== 'INTERNAL',
        `${what} is answered with ${error === undefined ? `HTTP ${status}` : describeError(error)}`,
        { exchange },
      )
      await expectAlive(subject, what)
      return pass(error === undefined && status < 400 ? 'accepted' : 'refused')
    },
  },
  {
    id: 'limits.many-parts',
    rules: ['B-41'],
    level: 'should',
    section,
    title: 'A message of 2,000 parts is accepted, or refused as invalid',
    ...both,
    async run(subject) {
      const parts = Array.from({ length: 2_000 }, () => ({ text: 'x' }))
      return acceptsOrRefuses(subject, { message: subject.message('complete', { parts }) }, 'A message of 2,000 parts')
    },
  },
  {
    id: 'limits.long-id',
    rules: ['B-38'],
    level: { '1.0': 'must', '0.3': 'should', '0.2': 'should' },
    section: { '1.0': 'A2A 1.0 §3.1.3, §3.3.2', '0.3': 'A2A 0.3 §7.3', '0.2': 'A2A 0.2 §7.3' },
    title: 'Task ids of any form that no task has are refused as not found or invalid',
    ...both,
    sends: false,
    async run(subject) {
      const ids = ['x'.repeat(4_000), '../../etc/passwd', 'ä☃\u{1F600}', 'a b%2Fc', "' OR 1=1 --"]
      for (const id of ids) {
        const answer = await subject.call('GetTask', { id })
        const what = `GetTask of the id ${JSON.stringify(id.length > 40 ? `${id.slice(0, 20)}… (${id.length})` : id)}`
        expectError(answer, what, 'TASK_NOT_FOUND', 'INVALID_PARAMS', 'INVALID_REQUEST', 'METHOD_NOT_FOUND')
        expectNoInternals(answer, what)
      }
      return pass()
    },
  },
]

/** Written as text: a serializer of the judge would overflow first. */
function deepRequest(subject: Subject, depth: number): RawRequest {
  subject.countMessage()
  const { dialect, binding, version } = subject
  const message = subject.message('complete', { metadata: '@' })
  const params = encodeRequest(dialect, binding, 'SendMessage', { message })
  const request = { jsonrpc: '2.0', id: 1, method: rpcMethodName(version, 'SendMessage'), params }
  const nested = `${'{"a":'.repeat(depth)}{}${'}'.repeat(depth)}`
  const body = JSON.stringify(binding === 'JSONRPC' ? request : params).replace('"@"', nested)
  return binding === 'JSONRPC' ? { body } : { body, path: restRequest(version, 'SendMessage', {}, subject.tenant).path }
}

/** Neither an internal error nor a page of the web framework, and the agent answers the next request. */
async function acceptsOrRefuses(subject: Subject, payload: JsonObject, what: string) {
  let answer: Answer
  try {
    answer = await subject.call('SendMessage', payload)
  } catch (reason) {
    // An HTTP server may close the connection of a request that is too large before it has read it.
    if (!(reason instanceof WireError)) throw reason
    await expectAlive(subject, what)
    throw new CheckFailure(`${what} is answered with a closed connection: ${reason.message}`, reason.exchange)
  }
  expectNoInternals(answer, what)
  const isJson = subject.binding === 'GRPC' || parseJson(answer.exchange.response?.body ?? '') !== undefined
  const shape = `HTTP ${answer.status}, ${answer.headers['content-type']}`
  expect(isJson && answer.malformed === undefined, `${what} is answered with no error of the binding: ${shape}`, answer)
  expect(
    answer.error?.name !== 'INTERNAL' && answer.status < 500,
    `${what} is answered with ${outcomeOf(answer)}`,
    answer,
  )
  await expectAlive(subject, what)
  return pass(answer.error === undefined ? 'accepted' : `refused: ${outcomeOf(answer)}`)
}

async function expectAlive(subject: Subject, what: string): Promise<void> {
  const next = await subject.call('GetTask', { id: unknownTaskId(subject) })
  expectError(next, `GetTask of an unknown id, after ${what}`, 'TASK_NOT_FOUND')
}

/** Errors are for the client: they show nothing of the server's code. */
export function expectNoInternals({ exchange }: Pick<Answer, 'exchange'>, what: string): void {
  const [shown] = internals.exec(exchange.response?.body ?? '') ?? []
  if (shown !== undefined)
    throw new CheckFailure(`${what} is answered with internals of the server: "${shown}"`, exchange)
}
