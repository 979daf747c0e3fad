import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { restrictHosts, composeMiddleware } from './middleware.ts'

const request = (host?: string): IncomingMessage => ({ headers: { host } }) as IncomingMessage
const response = {} as ServerResponse

describe("the hub's own routes", () => {
  it('are asked in order, until one takes the request', () => {
    const asked: string[] = []
    const front = (name: string, takes: boolean) => (): boolean => {
      asked.push(name)
      return takes
    }
    assert.equal(composeMiddleware(front('a', false), front('b', true), front('c', true))(request(), response), true)
    assert.equal(composeMiddleware(front('d', false))(request(), response), false)
    assert.deepEqual(asked, ['a', 'b', 'd'])
  })

  it('are there for the Hosts that are ours only', () => {
    const front = restrictHosts(['localhost', '[::1]'], () => true)
    const taken = ['localhost', 'LOCALHOST:3000', '[::1]:3000', 'evil.example.com:3000', undefined].map((host) =>
      front(request(host), response),
    )
    assert.deepEqual(taken, [true, true, true, false, false])
    assert.equal(restrictHosts(undefined, () => true)(request('any.example.com'), response), true)
  })
})
