/** Negotiation of the protocol version, by `GetTask` and `ListTasks`: nothing is changed. */
import { fail, pass, type Check } from '../check.ts'
import { expectError, isErrorNamed, outcomeOf, unknownTaskId } from '../expect.ts'
import { readEnvelope } from '../wire/call-operation.ts'
import { rpcMethodName } from '../wire/spelling.ts'
import { allBindings, jsonBindings, jsonRpc, v1 } from './scope.ts'

const everywhere = { versions: v1, bindings: allBindings, sends: false } as const

export const versionChecks: readonly Check[] = [
  {
    ...everywhere,
    id: 'version.unsupported',
    rules: ['B-5'],
    level: 'must',
    section: 'A2A 1.0 §3.6.2',
    title: 'A version that the interface does not offer is refused with VersionNotSupportedError',
    async run(subject) {
      for (const version of ['99.0', '0.1']) {
        const answer = await subject.call(
          'GetTask',
          { id: unknownTaskId(subject) },
          { headers: { 'a2a-version': version } },
        )
        expectError(answer, `A2A-Version: ${version}`, 'VERSION_NOT_SUPPORTED')
      }
      return pass()
    },
  },
  {
    ...everywhere,
    id: 'version.patch-ignored',
    rules: ['B-4'],
    level: 'must',
    section: 'A2A 1.0 §3.6',
    title: 'A patch number in A2A-Version does not influence negotiation',
    async run(subject) {
      const answer = await subject.call(
        'GetTask',
        { id: unknownTaskId(subject) },
        { headers: { 'a2a-version': '1.0.7' } },
      )
      return isErrorNamed(answer, 'VERSION_NOT_SUPPORTED')
        ? fail(`A2A-Version: 1.0.7 is answered with ${outcomeOf(answer)}`, answer)
        : pass()
    },
  },
  {
    ...everywhere,
    bindings: jsonRpc,
    id: 'version.missing-is-0.3',
    rules: ['B-3', 'B-6'],
    level: 'must',
    section: 'A2A 1.0 §3.6.2',
    title: 'A request of 0.3 without A2A-Version is processed as 0.3, or refused with VersionNotSupportedError',
    async run(subject) {
      const exchange = await subject.http({
        headers: { 'a2a-version': undefined },
        body: { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: unknownTaskId(subject) } },
      })
      const { error } = readEnvelope(exchange.json, exchange.status)
      if (error?.name === 'TASK_NOT_FOUND' || error?.name === 'VERSION_NOT_SUPPORTED') return pass(error.name)
      return fail(`tasks/get is answered with ${outcomeOf({ error, malformed: undefined })}`, exchange)
    },
  },
  {
    ...everywhere,
    bindings: jsonBindings,
    id: 'version.missing-is-not-1.0',
    rules: ['B-3', 'B-10', 'B-11'],
    level: 'must',
    section: 'A2A 1.0 §3.6.2',
    title: 'A request without A2A-Version is not processed as 1.0',
    advice:
      'Read such a request as 0.3, or refuse it with VersionNotSupportedError: servers of @parley/a2a do with `strict: true`. Or accept the failure in a profile, with your reason.',
    async run(subject) {
      // 0.3 cannot list tasks, so that a page shows the semantics of 1.0.
      const answer = await subject.call('ListTasks', { pageSize: 1 }, { headers: { 'a2a-version': undefined } })
      const isPage = typeof answer.result === 'object' && answer.result !== null && 'nextPageToken' in answer.result
      return isPage ? fail('ListTasks without A2A-Version returns a page of 1.0', answer) : pass(outcomeOf(answer))
    },
  },
  {
    ...everywhere,
    bindings: jsonBindings,
    id: 'version.query-parameter',
    rules: ['B-2'],
    level: 'info',
    section: 'A2A 1.0 §3.6.1 allows it to clients; §9.2 and §11.2 require headers',
    title: 'A2A-Version as a query parameter is understood',
    async run(subject) {
      const { binding, version } = subject
      const id = unknownTaskId(subject)
      const headers = { 'a2a-version': undefined }
      const exchange =
        binding === 'JSONRPC'
          ? await subject.http({
              url: withVersion(subject.url),
              headers,
              body: { jsonrpc: '2.0', id: 1, method: rpcMethodName(version, 'GetTask'), params: { id } },
            })
          : await subject.http({ method: 'GET', path: `/tasks/${id}?A2A-Version=1.0`, headers })
      const isFound = JSON.stringify(exchange.json ?? '').match(/-32001|TASK_NOT_FOUND/) !== null
      return isFound ? pass() : fail('GetTask with ?A2A-Version=1.0 is not processed as 1.0', exchange)
    },
  },
]

function withVersion(url: string): string {
  const target = new URL(url)
  target.searchParams.set('A2A-Version', '1.0')
  return target.href
}
