import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { createRouteMatcher } from './admin-router.ts'
import { jsonRoute, type RequestLine, taggedRoutes } from './route.ts'

const at = (line: RequestLine) => jsonRoute(line, { name: line, summary: '', response: z.unknown(), handle: () => 1 })
const match = createRouteMatcher(
  taggedRoutes('', [
    at('GET /admin/agents/{agent}'),
    at('POST /admin/agents/detect'),
    at('DELETE /admin/agents/{agent}'),
    at('GET /admin/push/{taskId}/{configId}'),
    at('GET /admin/openapi.json'),
  ]),
)
const found = (path: string) => {
  const place = match(path)
  return place === undefined ? undefined : [place.routes.map(({ name }) => name), place.params]
}

describe('a path', () => {
  it('leads to all routes that stand there, with what it says', () => {
    assert.deepEqual(found('/admin/agents/gpt'), [
      ['GET /admin/agents/{agent}', 'DELETE /admin/agents/{agent}'],
      { agent: 'gpt' },
    ])
    assert.deepEqual(found('/admin/agents/detect'), [['POST /admin/agents/detect'], {}])
    assert.deepEqual(found('/admin/push/t/hook%2F1')?.[1], { taskId: 't', configId: 'hook/1' })
  })

  it('returns undefined for unknown and malformed paths', () => {
    for (const path of [
      '/admin',
      '/admin/agents',
      '/admin/agents/',
      '/admin/agents/a/b',
      '/admin/openapi-json',
      '/admin/agents/%ff',
    ]) {
      assert.equal(found(path), undefined, path)
    }
  })
})
