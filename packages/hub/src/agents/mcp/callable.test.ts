import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Tool } from '@modelcontextprotocol/client'
import { listCallables, callableSkills, toolExample } from './callable.ts'
import type { McpConnection } from './connection.ts'

const { signal } = new AbortController()
const inputSchema = { type: 'object' as const }

function serverWith(...tools: readonly Partial<Tool>[]): McpConnection {
  const none = async (): Promise<never> => assert.fail('unexpected call')
  return {
    ...{ prompts: none, prompt: none, resource: none, ping: none, call: none, serverInfo: none },
    tools: async () => tools.map((tool) => ({ name: 'x', inputSchema, ...tool })),
    hasToolChangeNotifications: false,
    close: async () => {},
  }
}
const listed = (allow: string[] | undefined, deny: string[], ...tools: readonly Partial<Tool>[]) =>
  listCallables(serverWith(...tools), { allow, deny, prompts: [], resources: [] }, signal)

describe('what can be called at a server', () => {
  it('is what is allowed and not denied, each once, and no task of its own [S0-28]', async () => {
    const tools = [
      { name: 'get_a' },
      { name: 'get_b' },
      { name: 'get_a', title: 'Another' },
      { name: 'set_a' },
      { name: 'get_task', execution: { taskSupport: 'required' as const } },
    ]
    const found = await listed(['get_*'], ['*_b'], ...tools)
    assert.deepEqual(
      found.map(({ name, title }) => [name, title]),
      [['get_a', 'Get a']],
    )
    assert.equal((await listed(undefined, [], ...tools)).length, 3)
  })

  it('may be repeated where it says that this does no harm', async () => {
    const found = await listed(
      undefined,
      [],
      { name: 'a', annotations: { readOnlyHint: true } },
      { name: 'b', annotations: { idempotentHint: true } },
      { name: 'c', annotations: { destructiveHint: false } },
      { name: 'd' },
    )
    assert.deepEqual(
      found.map(({ isRepeatable }) => isRepeatable),
      [true, true, false, false],
    )
  })

  it('is a skill each, with a name of its own [S0-26]', async () => {
    const found = await listed(
      undefined,
      [],
      { name: 'web_search', description: 'On the web' },
      { name: 'find_1', title: 'Search' },
      { name: 'find_2', annotations: { title: 'search' } },
    )
    assert.deepEqual(
      callableSkills(found).map(({ id, name, description, tags }) => [id, name, description, tags.at(-1)]),
      [
        ['web_search', 'Web search', 'On the web', 'search'],
        ['find_1', 'Search (find_1)', 'Search', 'search'],
        ['find_2', 'search (find_2)', 'search', 'search'],
      ],
    )
  })
})

describe('an example of a call', () => {
  it('has a value for each field that has to be there', () => {
    const properties = {
      city: { type: 'string' },
      days: { type: 'integer', minimum: 3 },
      way: { enum: ['train', 'plane'] },
      tags: { type: 'array', items: { type: 'string', default: 'sea' } },
      place: { type: 'object', properties: { at: { type: 'string', format: 'uri' } }, required: ['at'] },
      sea: { type: 'boolean' },
    }
    const required = Object.keys(properties)
    assert.equal(
      toolExample('book', { type: 'object', properties, required }),
      'book({"city":"text","days":3,"way":"train","tags":["sea"],"place":{"at":"https://example.com"},"sea":true})',
    )
    assert.equal(toolExample('book', { type: 'object', properties }), 'book()')
    assert.equal(toolExample('x'.repeat(300), { type: 'object' }), undefined)
  })
})
