/** Remote agents, called by URL: of every version, and some that are malicious. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { openMcpTestClient, revisions, textOf } from './mcp-clients.ts'
import type { McpTestClient, Elicitation, McpTarget } from './mcp-clients.ts'
import { agent as scripted } from './scripted-agent.ts'
import { openMcpTestHub } from './mcp-test-hub.ts'

const testHub = await openMcpTestHub({ mcp: { remote: { allow: ['127.0.0.1'] } } })
const remote = await serve({
  port: 0,
  drainMs: 100,
  store: memoryStore(),
  name: 'Far Away',
  description: 'Lives elsewhere',
  skills: [{ id: 'act', name: 'Act', description: 'Acts', tags: ['x'] }],
  agent: scripted as any,
})
after(() => remote.close())
const places: readonly (readonly [string, McpTarget])[] = [
  ['HTTP', { url: testHub.mcp }],
  ['stdio [full]', { args: ['--agent', `${testHub.url}/a2a/clock`, '--allow', '127.0.0.1'] }],
]

for (const [transport, where] of places) {
  describe(`a remote agent, over ${transport}`, () => {
    let asked: Elicitation[] = []
    let opened: Promise<McpTestClient> | undefined
    const open = (): Promise<McpTestClient> =>
      (opened ??= openMcpTestClient(revisions[0] as '2025-11-25', where, {
        answer(question) {
          asked.push(question)
          return { action: 'accept', content: { answer: 'Rome' } }
        },
      }))
    const say = async (message: string, more: object = {}) =>
      (await open()).call('invoke_remote_agent', { url: remote.url, message, ...more })

    it('is inspected, called, answered, polled and stopped', async () => {
      const caller = await open()
      const { structuredContent } = await caller.call('discover_agent', { url: remote.url })
      assert.deepEqual(
        [structuredContent.title, structuredContent.url, structuredContent.skills[0].id],
        ['Far Away', remote.url, 'act'],
      )
      assert.equal(structuredContent.name, undefined)
      const said = await say('say hello')
      assert.equal(textOf(said), 'hello')
      assert.equal(said.structuredContent.url, remote.url)
      assert.equal(textOf(await say('reply at once')), 'at once')
      asked = []
      assert.equal(textOf(await say('ask')), 'Rome it is')
      assert.equal(asked[0]?.message, 'Far Away asks: Which city?')
      const begun = await say('long', { waitSeconds: 0 })
      const { taskId } = begun.structuredContent
      assert.match(
        begun.content.at(-1).text,
        new RegExp(`Call get_task with url "${remote.url}" and taskId "${taskId}"`),
      )
      const looked = await caller.call('get_task', { url: remote.url, taskId })
      assert.equal(looked.structuredContent.state, 'working')
      const ended = await caller.call('cancel_task', { url: remote.url, taskId })
      assert.equal(ended.structuredContent.state, 'canceled')
    })

    it('reports progress, and is stopped with the call', async () => {
      const caller = await open()
      const contextId = randomUUID()
      const messages: (string | undefined)[] = []
      const stop = new AbortController()
      const calling = caller.call(
        'invoke_remote_agent',
        { url: remote.url, message: 'long', contextId },
        {
          signal: stop.signal,
          onprogress({ message }) {
            messages.push(message)
            if (message === 'at it') stop.abort()
          },
        },
      )
      await assert.rejects(calling)
      for (let state = ''; state !== 'TASK_STATE_CANCELED'; await sleep(20)) {
        const { tasks } = await list(contextId)
        state = tasks[0]?.status.state ?? ''
        assert.notEqual(state, 'TASK_STATE_FAILED')
      }
    })

    it('returns large content as a resource', async () => {
      const caller = await open()
      const { content } = await say('big')
      const { contents } = await caller.read(content[0].uri)
      assert.equal(Buffer.from(contents[0].blob, 'base64').length, 2_000_000)
    })

    it('that answers in chunks gives one text', async (t) => {
      const url = await pretend(t, (request, response) => {
        if (request.method === 'GET') return card(request, response)
        return stream(response, [
          task('TASK_STATE_WORKING'),
          ...['one ', 'two ', 'three', ''].map((text, index) => chunk([{ text }], index > 0)),
          chunk([{ text: 'another' }], false, 'b'),
          update('TASK_STATE_COMPLETED'),
        ])
      })
      const said = await (await open()).call('invoke_remote_agent', { url, message: 'x' })
      assert.deepEqual(said.content.map(({ text }) => text).slice(0, 2), ['one two three', 'another'])
    })

    it('that misbehaves is reported in one sentence, quickly, and affects no others', async (t) => {
      const caller = await open()
      const behaviours: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
        'is none': (_, response) => void response.writeHead(404).end(),
        'has a card that is no card': (_, response) => void response.end('{"name":7}'),
        'has a card that never ends': (_, response) => {
          response.writeHead(200, { 'content-type': 'application/json' })
          const write = (): void => {
            while (!response.destroyed && response.write('[ '.repeat(50_000)));
            response.once('drain', write)
          }
          write()
        },
        'sends us inside': (_, response) => void response.writeHead(302, { location: 'http://10.0.0.1/card' }).end(),
        'says its interface is inside': (request, response) => card(request, response, 'http://10.0.0.1/a2a'),
        'answers with nonsense': (request, response) =>
          request.method === 'GET' ? card(request, response) : void response.end('<html>'),
        'closes the connection': (request, response) =>
          request.method === 'GET' ? card(request, response) : void response.destroy(),
        'never stops talking': (request, response) => {
          if (request.method === 'GET') return card(request, response)
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write(frame(task('TASK_STATE_WORKING')))
          const piece = frame(chunk([{ text: 'x'.repeat(1_000_000) }], true))
          const write = (): void => {
            while (!response.destroyed && response.write(piece));
            response.once('drain', write)
          }
          write()
        },
        'sends what is no base64': (request, response) => {
          if (request.method === 'GET') return card(request, response)
          const parts = [{ raw: '***not base64***', mediaType: 'image/png' }]
          return stream(response, [task('TASK_STATE_WORKING'), chunk(parts, false), update('TASK_STATE_COMPLETED')])
        },
      }
      for (const [what, behave] of Object.entries(behaviours)) {
        const url = await pretend(t, behave)
        const said = await caller.call('invoke_remote_agent', { url, message: 'x', waitSeconds: 20 })
        const [first] = said.content
        assert.deepEqual([what, said.isError, first.type], [what, true, 'text'])
        assert.doesNotMatch(JSON.stringify(said), /node_modules|\.ts:\d|at async/, what)
      }
      assert.equal(textOf(await say('say still here')), 'still here')
    })

    for (const [what, isSilent] of [
      ['nothing', false],
      ['nothing, nor the task that is requested at the end [full]', true],
    ] as const)
      it(`is awaited up to the given time if it sends ${what}`, async (t) => {
        let posts = 0
        const url = await pretend(t, (request, response) => {
          if (request.method === 'GET') return card(request, response)
          posts += 1
          if (posts > 1 && !isSilent) return void response.writeHead(403).end()
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write(frame(task('TASK_STATE_WORKING')))
        })
        const said = await (await open()).call('invoke_remote_agent', { url, message: 'x', waitSeconds: 0.5 })
        assert.deepEqual([said.structuredContent.state, said.structuredContent.taskId], ['working', 't'])
      })
  })
}

describe('a call of a remote agent', () => {
  it('is audited, without the query of its URL', async () => {
    const caller = await openMcpTestClient('2025-11-25', { url: testHub.mcp })
    await caller.call('invoke_remote_agent', { url: `${remote.url}/?token=sesame`, message: 'say hi' })
    for (;;) {
      const { entries } = await testHub.admin('GET', '/admin/audit?limit=100')
      const found = entries.filter(({ agent }: any) => agent === `${remote.url}/`)
      if (found.length === 0) continue
      assert.deepEqual(
        [found[0].operation, found[0].outcome, found[0].who],
        ['SendStreamingMessage', 'OK', 'anonymous'],
      )
      assert.ok(!JSON.stringify(entries).includes('sesame'))
      return
    }
  })
})

async function list(contextId: string): Promise<{ tasks: { status: { state: string } }[] }> {
  const response = await fetch(`${remote.url}/tasks?contextId=${contextId}`, { headers: { 'A2A-Version': '1.0' } })
  return (await response.json()) as { tasks: { status: { state: string } }[] }
}

/** A hand-written agent. */
async function pretend(
  t: TestContext,
  behave: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(behave).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function card(request: IncomingMessage, response: ServerResponse, url = `http://${request.headers.host}/`): void {
  const made = {
    name: 'Pretender',
    description: 'Pretends',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(made))
}

const ids = { taskId: 't', contextId: 'c' }
const task = (state: string): object => ({ task: { id: 't', contextId: 'c', status: { state } } })
const update = (state: string): object => ({ statusUpdate: { ...ids, status: { state } } })
const chunk = (parts: readonly object[], append: boolean, artifactId = 'a'): object => ({
  artifactUpdate: { ...ids, artifact: { artifactId, parts }, append },
})
const frame = (result: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`

function stream(response: ServerResponse, events: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(events.map(frame).join(''))
}
