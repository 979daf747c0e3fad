/** What a hub with simple tasks refuses: addresses of its own network, callers that are too fast, chains that are too long. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { moduleAgent, openHub } from '../delegation/open-hub.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openMcpTestClient, revisions, textOf } from '../mcp/mcp-clients.ts'
import { openSimplePeer } from './simple-peer.ts'

interface FlatTask {
  readonly id: string
  readonly state: string
  readonly messages: readonly { readonly role: string; readonly parts: readonly { readonly text: string }[] }[]
}

async function openSimpleHub(t: TestContext, sections: object = {}) {
  const agents = {
    front: moduleAgent('front', { default: true }),
    other: moduleAgent('front'),
    echo: moduleAgent('echo'),
  }
  const { hub } = await openHub(t, { profiles: { simpleTasks: true }, agents, ...sections })
  return {
    url: hub.url,
    send: (message: string): Promise<Response> =>
      fetch(`${hub.url}/a2a/tasks/send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ message }),
      }),
    async ended({ id }: FlatTask): Promise<FlatTask> {
      let task: FlatTask | undefined
      await eventually(async () => {
        task = (await (await fetch(`${hub.url}/a2a/tasks/${id}`)).json()) as FlatTask
        return /^(completed|failed)$/.test(task.state)
      }, 'the task to end')
      return task as FlatTask
    },
  }
}

const lastText = ({ messages }: FlatTask): string =>
  messages
    .at(-1)
    ?.parts.map(({ text }) => text)
    .join('') ?? ''

describe('a hub with simple tasks', { timeout: 120_000 }, () => {
  it('calls no address of its own network that a caller names, unless the operator allows it [S0-36]', async (t) => {
    const peer = await openSimplePeer()
    t.after(() => peer.close())
    const call = async (url: string, tool: string) =>
      (await openMcpTestClient(revisions[0] as '2025-11-25', { url: `${url}/mcp` })).call(tool, {
        url: peer.url,
        ...(tool === 'invoke_remote_agent' ? { message: 'hi' } : {}),
      })
    const { url } = await openSimpleHub(t)
    for (const tool of ['discover_agent', 'invoke_remote_agent']) {
      const refused = await call(url, tool)
      assert.equal(refused.isError, true)
      assert.match(textOf(refused), /disallowed address|not allowed/)
    }
    assert.deepEqual(peer.requests, [])
    const open = await openSimpleHub(t, { mcp: { remote: { allow: ['127.0.0.1'] } } })
    assert.equal(textOf(await call(open.url, 'invoke_remote_agent')), 'You said hi')
  })

  it('refuses a caller that is too fast, and says when to come back [S0-36]', async (t) => {
    const { send } = await openSimpleHub(t, { limits: { perAddress: '2/h' } })
    assert.deepEqual([(await send('echo one')).status, (await send('echo two')).status], [200, 200])
    const refused = await send('echo three')
    assert.equal(refused.status, 429)
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    assert.deepEqual(Object.keys((await refused.json()) as object), ['error'])
  })

  it('ends a chain of agents that is longer than its maximum depth [S0-36]', async (t) => {
    const resultOf = async (maxDepth: number): Promise<readonly string[]> => {
      const { send, ended } = await openSimpleHub(t, { delegation: { maxDepth } })
      const task = await ended((await (await send('other echo hi')).json()) as FlatTask)
      return [task.state, lastText(task)]
    }
    const [state, text] = await resultOf(1)
    assert.equal(state, 'failed')
    assert.match(text ?? '', /would exceed 1 hops \(maxDepth\)/)
    assert.equal((await resultOf(2))[0], 'completed')
  })
})
