/** HTTP+JSON as such: media types, paths, methods, bodies. */
import { fail, pass, type Check } from '../check.ts'
import { unknownTaskId } from '../expect.ts'
import { rest } from './scope.ts'

const onRest = { versions: ['1.0', '0.3'], bindings: rest, sends: false } as const

export const restChecks: readonly Check[] = [
  {
    ...onRest,
    id: 'rest.media-type',
    rules: ['F-8'],
    level: { '1.0': 'should', '0.3': 'must' },
    section: { '1.0': 'A2A 1.0 §11.1', '0.3': 'A2A 0.3 §3.2.3' },
    title: 'Responses are application/a2a+json, in 0.3 application/json',
    sends: true,
    async run(subject) {
      const { exchange, headers } = await subject.firstAnswer()
      const type = headers['content-type'] ?? ''
      const expected = subject.version === '1.0' ? 'application/a2a+json' : 'application/json'
      return type.toLowerCase().startsWith(expected)
        ? pass()
        : fail(`Content-Type is ${type === '' ? 'missing' : type}`, exchange)
    },
  },
  {
    ...onRest,
    versions: ['1.0'],
    id: 'rest.plain-json-request',
    rules: ['F-8'],
    level: 'info',
    section: 'A2A 1.0 §11.1: application/a2a+json is only recommended',
    title: 'Requests in application/json are understood too',
    sends: true,
    async run(subject) {
      subject.countMessage()
      const exchange = await subject.http({
        path: '/message:send',
        headers: { 'content-type': 'application/json' },
        body: { message: subject.message('complete') },
      })
      return exchange.status < 300
        ? pass()
        : fail(`a message in application/json is answered with HTTP ${exchange.status}`, exchange)
    },
  },
  {
    ...onRest,
    id: 'rest.invalid-json',
    rules: ['B-35', 'B-38'],
    level: { '1.0': 'must', '0.3': 'must' },
    section: { '1.0': 'A2A 1.0 §3.3.2', '0.3': 'A2A 0.3 §3.2.3' },
    title: 'A body that is not JSON is refused with HTTP 400',
    async run(subject) {
      const path = subject.version === '1.0' ? '/message:send' : '/v1/message:send'
      const exchange = await subject.http({ path, body: '{"message": ' })
      return exchange.status === 400
        ? pass()
        : fail(`half a JSON document is answered with HTTP ${exchange.status}`, exchange)
    },
  },
  {
    ...onRest,
    id: 'rest.unknown-path',
    rules: ['B-37'],
    level: 'info',
    section: { '1.0': 'A2A 1.0 §11.3', '0.3': 'A2A 0.3 §3.2.3' },
    title: 'An unknown path is answered with HTTP 404',
    async run(subject) {
      const prefix = subject.version === '1.0' ? '' : '/v1'
      const exchange = await subject.http({ method: 'GET', path: `${prefix}/conformance/no/such/path` })
      return exchange.status === 404 ? pass() : fail(`it is answered with HTTP ${exchange.status}`, exchange)
    },
  },
  {
    ...onRest,
    id: 'rest.wrong-method',
    rules: ['F-9'],
    level: 'info',
    section: { '1.0': 'A2A 1.0 §11.3', '0.3': 'A2A 0.3 §3.2.3' },
    title: 'A path with the wrong HTTP method is answered with 404, 405 or 501',
    async run(subject) {
      const prefix = subject.version === '1.0' ? '' : '/v1'
      const exchange = await subject.http({ method: 'DELETE', path: `${prefix}/tasks/${unknownTaskId(subject)}` })
      return [404, 405, 501].includes(exchange.status)
        ? pass()
        : fail(`it is answered with HTTP ${exchange.status}`, exchange)
    },
  },
]
