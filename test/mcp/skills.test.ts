/** One tool for each skill, also when the configuration changes. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openMcpTestClient, revisions, textOf } from './mcp-clients.ts'
import { openMcpTestHub } from './mcp-test-hub.ts'

const bare = { kind: 'module', path: join(import.meta.dirname, 'scripted-agent.ts'), description: 'Lists nothing' }
const testHub = await openMcpTestHub({ mcp: { tools: 'skills' }, access: { anonymous: ['clock'] } }, { bare })
const { mcp, key, folder, hub } = testHub
const own = ['list_agents', 'discover_agent', 'send_message', 'get_task', 'cancel_task']

for (const revision of revisions) {
  describe(`skills as tools, for a client of ${revision}`, () => {
    it('are those that the caller may use', async () => {
      const names = async (headers: Readonly<Record<string, string>>) => {
        const caller = await openMcpTestClient(revision, { url: mcp, headers })
        return (await caller.tools()).map(({ name }) => name)
      }
      assert.deepEqual(await names({}), [...own, 'clock_count'])
      assert.deepEqual(await names(await key('skill:scripted/sing')), [...own, 'scripted_sing', 'clock_count'])
      const all = await names(await key('agent:*'))
      assert.deepEqual(all.slice(6), ['scripted_act', 'scripted_sing', 'other_knit', 'clock_count', 'bare'])
    })

    it('call the agent with their skill', async () => {
      const caller = await openMcpTestClient(revision, { url: mcp, headers: await key('skill:scripted/sing') })
      const [tool] = (await caller.tools()).filter(({ name }) => name === 'scripted_sing')
      assert.equal(tool.title, 'Scripted: sing')
      assert.match(tool.description, /It can sing/)
      assert.deepEqual(tool.inputSchema.required, ['message'])
      assert.match(textOf(await caller.call('scripted_sing', { message: 'who' })), /sing$/)
      await assert.rejects(caller.call('scripted_act', { message: 'who' }), /Unknown tool scripted_act/)
      await assert.rejects(caller.call('other_knit', { message: 'who' }), /Unknown tool other_knit/)
      const failed = await caller.call('scripted_sing', { message: 'who', skill: 'act' })
      assert.equal(failed.isError, true)
    })

    it('include one tool for an agent that lists none', async () => {
      const caller = await openMcpTestClient(revision, { url: mcp, headers: await key('agent:bare') })
      assert.match(textOf(await caller.call('bare', { message: 'who' })), /undefined$/)
    })
  })
}

describe('a client with a session', () => {
  it('is notified when the tools change', async () => {
    const caller = await openMcpTestClient('2025-11-25', { url: mcp, headers: await key('agent:*') })
    const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js')
    const changed = Promise.withResolvers<void>()
    caller.client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve())
    const file = join(folder, 'parley.json')
    const tree = JSON.parse(await readFile(file, 'utf8'))
    delete tree.agents.other
    // Until its stream is open there is no receiver.
    await caller.tools()
    await writeFile(file, JSON.stringify(tree))
    hub.signal('SIGHUP')
    await changed.promise
    const names = (await caller.tools()).map(({ name }) => name)
    assert.ok(!names.includes('other_knit'))
    await assert.rejects(caller.call('other_knit', { message: 'x' }), /Unknown tool/)
  })
})
