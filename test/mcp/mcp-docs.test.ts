/** docs/guides/mcp.md is correct: its configurations work, its settings are valid, and its tools and flags are complete. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { commands, overrideOptions } from '../../packages/hub/src/cli/commands.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { openMcpTestClient, textOf } from './mcp-clients.ts'
import type { McpTarget } from './mcp-clients.ts'
import { openMcpTestHub } from './mcp-test-hub.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/guides/mcp.md'), 'utf8')
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text)

const testHub = await openMcpTestHub({ access: {} })
const key = (await testHub.key('agent:*')).authorization.slice('Bearer '.length)

/** As written, with the test hub and key instead of those on the page. */
const filledIn = (text: string): string =>
  text.replaceAll('http://127.0.0.1:3000', testHub.url).replaceAll(/\bKEY"/g, `${key}"`)

interface Entry {
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly url?: string
  readonly httpUrl?: string
  readonly headers?: Readonly<Record<string, string>>
}

describe('docs/guides/mcp.md', () => {
  const entries = blocks('json').flatMap((text) => {
    const tree = JSON.parse(filledIn(text)) as Record<string, Record<string, Entry>>
    return Object.values(tree).flatMap((servers) => Object.values(servers))
  })

  it('shows clients how to reach a hub', async () => {
    const wheres = entries.flatMap((entry): McpTarget[] => {
      const url = entry.url ?? entry.httpUrl
      if (url !== undefined) return [{ url, ...(entry.headers !== undefined ? { headers: entry.headers } : {}) }]
      assert.deepEqual([entry.command, entry.args?.slice(0, 3)], ['npx', ['-y', '@parley/hub', 'mcp']])
      const args = entry.args?.slice(3) ?? []
      return args.includes('--hub') ? [{ args, env: entry.env ?? {} }] : []
    })
    assert.equal(wheres.length, 4)
    for (const where of wheres) {
      const caller = await openMcpTestClient('2025-11-25', where)
      const { structuredContent } = await caller.call('list_agents', {})
      const [first] = structuredContent.agents
      assert.equal(textOf(await caller.call('send_message', { agent: first.name, message: 'say hi' })), 'hi')
    }
  })

  it('shows agents without a hub, with existing flags', () => {
    const alone = entries.find(({ args }) => args?.includes('--agent') === true)
    assert.deepEqual(
      alone?.args?.slice(3).filter((word) => word.startsWith('--')),
      ['--agent', '--agent'],
    )
  })

  it('shows valid settings', () => {
    const agents = { echo: { kind: 'demo', agent: 'echo' } }
    for (const text of blocks('yaml')) {
      const checked = checkConfig({ agents, ...(parse(text) as object) }, { kinds: agentKinds, baseDir: '/' })
      assert.ok('config' in checked, JSON.stringify(checked))
    }
  })

  it('documents every tool with its parameters, and every flag', async () => {
    const caller = await openMcpTestClient('2025-11-25', {
      url: testHub.mcp,
      headers: { authorization: `Bearer ${key}` },
    })
    const words = new Set([...page.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => code.match(/[\w-]+/g) ?? []))
    for (const tool of await caller.tools()) {
      for (const word of [tool.name, ...Object.keys(tool.inputSchema.properties)]) assert.ok(words.has(word), word)
    }
    const { options = [] } = commands.find(({ name }) => name === 'mcp') ?? {}
    const shared = ['config', ...overrideOptions.map(({ name }) => name)]
    for (const { name } of options) if (!shared.includes(name)) assert.ok(words.has(`--${name}`), name)
  })
})
