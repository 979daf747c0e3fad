import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { composeMiddleware } from './middleware.ts'

const request = (host?: string, url = '/'): IncomingMessage => ({ headers: { host }, url }) as IncomingMessage
const response = {} as ServerResponse

describe("the hub's own routes", () => {
  it('are tried in order, until one takes the request', () => {
    const asked: string[] = []
    const front = (name: string, takes: boolean) => (): boolean => {
      asked.push(name)
      return takes
    }
    const modules = { notFound: front('c', true), console: front('b', true), admin: front('a', false) }
    assert.equal(composeMiddleware(modules)(request('', '/admin/agents'), response), true)
    assert.equal(composeMiddleware({ admin: front('d', false) })(request('', '/admin'), response), false)
    assert.deepEqual(asked, ['a', 'b', 'd'])
  })

  it('do not see requests for other paths', () => {
    const tried = (url: string): string => {
      const names: string[] = []
      const front = (name: string) => (): boolean => names.push(name) === 0
      const { console, discovery, mcp, metrics, webhooks } = Object.fromEntries(
        ['console', 'discovery', 'mcp', 'metrics', 'webhooks'].map((name) => [name, front(name)]),
      )
      composeMiddleware({ admin: front('admin'), console, discovery, mcp, metrics, webhooks })(
        request('', url),
        response,
      )
      return names.join(' ')
    }
    assert.equal(tried('/a2a/echo'), '')
    assert.equal(tried('/a2a/echo/v1/message:send'), '')
    assert.equal(tried('/a2a/echo/hooks/t1'), 'webhooks')
    assert.equal(tried('/a2a/echo/api-keys'), 'admin')
    assert.equal(tried('/a2a?tag=x'), 'console discovery')
    assert.equal(tried('/mcp'), 'console mcp')
    assert.equal(tried('/metrics?x'), 'console metrics')
    assert.equal(tried('/tasks/1'), 'console')
  })
})
