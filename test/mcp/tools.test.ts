/** Every tool, by both official clients, over HTTP and over stdio. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openMcpTestClient, revisions, textOf } from './mcp-clients.ts'
import type { ElicitationHandler, McpTestClient, Elicitation, McpTarget } from './mcp-clients.ts'
import { openMcpTestHub } from './mcp-test-hub.ts'

const { url, mcp } = await openMcpTestHub()
const places: readonly (readonly [string, McpTarget])[] = [
  ['HTTP', { url: mcp }],
  ['stdio [full]', { args: ['--hub', url, '--allow', '127.0.0.1'] }],
]

for (const revision of revisions) {
  for (const [transport, where] of places) {
    describe(`a client of ${revision} over ${transport}`, () => {
      // One program for each, because they start slowly: a client with elicitation, and one without.
      let answer: ElicitationHandler | undefined
      const asking = once(() =>
        openMcpTestClient(revision, where, { answer: (question) => answer?.(question) ?? { action: 'cancel' } }),
      )
      const plain = once(() => openMcpTestClient(revision, where))
      const open = (options: { readonly answer?: ElicitationHandler } = {}): Promise<McpTestClient> => {
        answer = options.answer
        return answer === undefined ? plain() : asking()
      }

      it('gets the list of tools', async () => {
        const caller = await open()
        assert.equal(caller.version, revision)
        const tools = await caller.tools()
        assert.deepEqual(
          tools.map(({ name }) => name),
          ['list_agents', 'discover_agent', 'send_message', 'invoke_remote_agent', 'get_task', 'cancel_task'],
        )
        for (const tool of tools) {
          assert.equal(tool.inputSchema.type, 'object')
          assert.equal(tool.outputSchema.type, 'object')
          assert.ok(tool.description.length > 20 && tool.title.length > 5)
        }
        const { structuredContent, content } = await caller.call('list_agents', {})
        const [first] = structuredContent.agents
        assert.equal(structuredContent.agents.length, 3)
        assert.equal(first.name, 'scripted')
        assert.deepEqual(
          first.skills.map(({ id }: { id: string }) => id),
          ['act', 'sing'],
        )
        assert.match(content[0].text, /- scripted: Does what the message says\n {4}act: It can act/)
      })

      it('finds agents by text, and inspects one', async () => {
        const caller = await open()
        const found = await caller.call('list_agents', { query: 'TAG-KNIT another' })
        assert.deepEqual(
          found.structuredContent.agents.map(({ name }: { name: string }) => name),
          ['other'],
        )
        const none = await caller.call('list_agents', { query: 'zebra' })
        assert.deepEqual(none.structuredContent.agents, [])
        const { structuredContent } = await caller.call('discover_agent', { agent: 'scripted' })
        assert.equal(structuredContent.title, 'Scripted')
        assert.equal(structuredContent.url, `${url}/a2a/scripted`)
        assert.equal(structuredContent.skills.length, 2)
        assert.equal(structuredContent.available, true)
      })

      it('gets an answer from a task, and a direct reply', async () => {
        const caller = await open()
        const said = await caller.call('send_message', { agent: 'scripted', message: 'say hello', skill: 'act' })
        assert.equal(textOf(said), 'hello')
        const { state, taskId, contextId, artifacts } = said.structuredContent
        assert.deepEqual([state, artifacts], ['completed', [{ artifactId: 'answer', text: 'hello' }]])
        assert.match(said.content.at(-1).text, new RegExp(`task ${taskId}, context ${contextId}, completed`))
        const again = await caller.call('send_message', { agent: 'scripted', message: 'say more', contextId })
        assert.equal(again.structuredContent.contextId, contextId)
        assert.notEqual(again.structuredContent.taskId, taskId)
        const reply = await caller.call('send_message', { agent: 'scripted', message: 'reply at once' })
        assert.equal(textOf(reply), 'at once')
        assert.equal(reply.structuredContent.taskId, undefined)
        assert.equal(reply.structuredContent.state, 'completed')
      })

      it('sends data and files', async () => {
        const caller = await open()
        const files = [
          { name: 'a.txt', mediaType: 'text/plain', base64: Buffer.from('abc').toString('base64') },
          { url: 'https://example.com/b.pdf', mediaType: 'application/pdf' },
        ]
        const said = await caller.call('send_message', {
          agent: 'scripted',
          message: 'received',
          data: { n: 1 },
          files,
        })
        assert.deepEqual(JSON.parse(textOf(said)), [
          { data: { n: 1 } },
          { raw: 'YWJj', filename: 'a.txt', mediaType: 'text/plain' },
          { url: 'https://example.com/b.pdf', mediaType: 'application/pdf' },
        ])
      })

      it('gets images, audio, files, URLs and data by their type', async () => {
        const caller = await open()
        const { content, structuredContent } = await caller.call('send_message', {
          agent: 'scripted',
          message: 'files',
        })
        const [picture, sound, note, bytes, place, rows] = content
        assert.deepEqual([picture.type, picture.mimeType], ['image', 'image/png'])
        assert.equal(Buffer.from(picture.data, 'base64').subarray(1, 4).toString(), 'PNG')
        assert.deepEqual([sound.type, sound.mimeType], ['audio', 'audio/wav'])
        assert.deepEqual([note.type, note.resource.text, note.resource.mimeType], ['resource', 'a note', 'text/plain'])
        assert.deepEqual([bytes.type, bytes.resource.blob], ['resource', 'AQID'])
        assert.deepEqual(
          [place.type, place.uri, place.name],
          ['resource_link', 'https://example.com/report.pdf', 'report.pdf'],
        )
        assert.deepEqual(JSON.parse(rows.text), { rows: 42 })
        assert.deepEqual(structuredContent.artifacts.at(-1).data, [{ rows: 42 }])
        assert.equal(structuredContent.artifacts[3].files[0].bytes, 3)
        const read = await caller.read(note.resource.uri)
        assert.deepEqual(read.contents, [{ uri: note.resource.uri, mimeType: 'text/plain', text: 'a note' }])
      })

      it('gets large content as a resource', async () => {
        const caller = await open()
        assert.equal((await caller.templates()).length, 2)
        const { content } = await caller.call('send_message', { agent: 'scripted', message: 'big' })
        const [link] = content
        assert.deepEqual([link.type, link.name, link.size], ['resource_link', 'big.bin', 2_000_000])
        const { contents } = await caller.read(link.uri)
        assert.equal(Buffer.from(contents[0].blob, 'base64').length, 2_000_000)
        const [, , , ref] = link.uri.split('/')
        await assert.rejects(caller.read(link.uri.replace(ref, 'missing')), /Unknown resource/)
        await assert.rejects(caller.read(`${link.uri}9`), /Unknown resource/)
        await assert.rejects(caller.read('file:///etc/passwd'), /Unknown resource/)
      })

      it('gets the progress of the agent', async () => {
        const caller = await open()
        const updates: { progress: number; message?: string }[] = []
        const said = await caller.call(
          'send_message',
          { agent: 'scripted', message: 'steps 3' },
          { onprogress: (one) => void updates.push(one) },
        )
        assert.equal(textOf(said), 'walked')
        const words = updates.map(({ message }) => message).filter((one) => one?.startsWith('step'))
        // Of updates at the same time only the newest is sent; the last one always is.
        assert.deepEqual(
          words,
          ['step 1', 'step 2', 'step 3'].filter((one) => words.includes(one)),
        )
        assert.equal(words.at(-1), 'step 3')
        const steps = updates.map(({ progress }) => progress)
        assert.deepEqual(
          steps,
          [...new Set(steps)].sort((a, b) => a - b),
        )
      })

      it('stops the task with the call', async () => {
        const caller = await open()
        const stop = new AbortController()
        const at = Promise.withResolvers<void>()
        const onprogress = ({ message }: { message?: string }): void => {
          if (message === 'at it') at.resolve()
        }
        const before = await caller.call('send_message', { agent: 'scripted', message: 'say x' })
        const { contextId } = before.structuredContent
        const calling = caller.call(
          'send_message',
          { agent: 'scripted', message: 'long', contextId },
          { onprogress, signal: stop.signal },
        )
        await at.promise
        stop.abort()
        await assert.rejects(calling)
        assert.equal(await stateInContext(contextId), 'TASK_STATE_CANCELED')
      })

      it('starts work without waiting, polls it, waits for it, and ends it', async () => {
        const caller = await open()
        const begun = await caller.call('send_message', { agent: 'scripted', message: 'long', waitSeconds: 0 })
        const { taskId } = begun.structuredContent
        assert.ok(['submitted', 'working'].includes(begun.structuredContent.state))
        assert.match(
          begun.content.at(-1).text,
          new RegExp(`Call get_task with agent "scripted" and taskId "${taskId}"`),
        )
        const looked = await caller.call('get_task', { agent: 'scripted', taskId, waitSeconds: 0.2, historyLength: 5 })
        assert.equal(looked.structuredContent.state, 'working')
        assert.equal(looked.structuredContent.message, 'at it')
        assert.deepEqual(looked.structuredContent.history, [{ role: 'user', text: 'long' }])
        const waiting = caller.call('get_task', { agent: 'scripted', taskId, waitSeconds: 30 })
        const ended = await caller.call('cancel_task', { agent: 'scripted', taskId })
        assert.equal(ended.structuredContent.state, 'canceled')
        const waited = await waiting
        assert.deepEqual([waited.structuredContent.state, waited.isError ?? false], ['canceled', false])
        const twice = await caller.call('cancel_task', { agent: 'scripted', taskId })
        assert.equal(twice.structuredContent.state, 'canceled')
      })

      it('gets instructions to continue when it waits for too long, and nothing is stopped', async () => {
        const caller = await open()
        const said = await caller.call('send_message', { agent: 'scripted', message: 'steps 6', waitSeconds: 0.3 })
        assert.equal(said.structuredContent.state, 'working')
        assert.equal(said.isError, undefined)
        const { taskId } = said.structuredContent
        const done = await caller.call('get_task', { agent: 'scripted', taskId, waitSeconds: 30 })
        assert.equal(textOf(done), 'walked')
      })

      it('gets the question of the agent, and the answer goes to the same task', async () => {
        const asked: Elicitation[] = []
        const caller = await open({
          answer(question) {
            asked.push(question)
            return { action: 'accept', content: { answer: 'Rome' } }
          },
        })
        const said = await caller.call('send_message', { agent: 'scripted', message: 'ask' })
        assert.equal(textOf(said), 'Rome it is')
        assert.equal(asked.length, 1)
        assert.equal(asked[0]?.message, 'Scripted asks: Which city?')
        assert.deepEqual(Object.keys(asked[0]?.requestedSchema?.properties ?? {}), ['answer'])
        const { taskId } = said.structuredContent
        const looked = await caller.call('get_task', { agent: 'scripted', taskId, historyLength: 10 })
        assert.deepEqual(
          looked.structuredContent.history.map(({ text }: { text: string }) => text),
          ['ask', 'Which city?', 'Rome'],
        )
      })

      it('gets a form as the agent made it, and the agent gets the values', async () => {
        const asked: Elicitation[] = []
        const caller = await open({
          answer(question) {
            asked.push(question)
            return { action: 'accept', content: { name: 'Ann', size: 'large', count: 2 } }
          },
        })
        const said = await caller.call('send_message', { agent: 'scripted', message: 'form' })
        assert.equal(textOf(said), 'filled in: {"name":"Ann","size":"large","count":2}')
        assert.deepEqual(Object.keys(asked[0]?.requestedSchema?.properties ?? {}), ['name', 'size', 'count'])
      })

      it('gets a URL to open if the agent requests it', async () => {
        const asked: Elicitation[] = []
        const caller = await open({
          answer(question) {
            asked.push(question)
            return { action: 'accept' }
          },
        })
        const said = await caller.call('send_message', { agent: 'scripted', message: 'open' })
        assert.equal(textOf(said), 'It is done. it is')
        assert.deepEqual([asked[0]?.mode, asked[0]?.url], ['url', 'https://id.example.com/device'])
      })

      it('may decline to answer: the task waits, and can be answered later', async () => {
        for (const action of ['decline', 'cancel']) {
          const caller = await open({ answer: () => ({ action }) })
          const said = await caller.call('send_message', { agent: 'scripted', message: 'ask' })
          const { state, taskId, question } = said.structuredContent
          assert.deepEqual([state, question], ['input-required', 'Which city?'])
          const later = await caller.call('send_message', { agent: 'scripted', message: 'Oslo', taskId })
          assert.equal(textOf(later), 'Oslo it is')
        }
      })

      it('explains how to answer if the client has no elicitation', async () => {
        const caller = await open()
        for (const [message, answer] of [
          ['ask', 'Paris'],
          ['auth', 'done'],
        ] as const) {
          const said = await caller.call('send_message', { agent: 'scripted', message })
          const { taskId, state } = said.structuredContent
          assert.ok(['input-required', 'auth-required'].includes(state))
          assert.equal(said.isError, undefined)
          assert.match(
            said.content.at(-1).text,
            new RegExp(`call send_message with agent "scripted", taskId "${taskId}"`),
          )
          const done = await caller.call('send_message', { agent: 'scripted', message: answer, taskId })
          assert.equal(textOf(done), `${answer} it is`)
        }
      })

      it('never gets a question for a secret', async () => {
        const caller = await open({ answer: () => assert.fail('the user was asked for a secret') })
        const said = await caller.call('send_message', { agent: 'scripted', message: 'secret' })
        assert.equal(said.structuredContent.state, 'input-required')
        assert.match(said.content.at(-1).text, /The answer is a secret: do not ask for it here/)
        const signIn = await caller.call('send_message', { agent: 'scripted', message: 'auth' })
        assert.equal(signIn.structuredContent.state, 'auth-required')
      })

      it('gets a limited number of questions', async () => {
        let count = 0
        const caller = await open({
          answer() {
            count += 1
            return { action: 'accept', content: { answer: 'endless' } }
          },
        })
        const said = await caller.call('send_message', { agent: 'scripted', message: 'endless' })
        assert.equal(said.structuredContent.state, 'input-required')
        assert.equal(count, 6)
      })

      it('gets failures as messages, without internal details', async () => {
        const caller = await open()
        const failed = await caller.call('send_message', { agent: 'scripted', message: 'fail' })
        assert.deepEqual([failed.isError, failed.structuredContent.state], [true, 'failed'])
        assert.doesNotMatch(JSON.stringify(failed), /host-7/)
        const sorry = await caller.call('send_message', { agent: 'scripted', message: 'sorry' })
        assert.deepEqual([sorry.isError, textOf(sorry)], [true, 'The printer is out of paper'])
        const rejected = await caller.call('send_message', { agent: 'scripted', message: 'reject' })
        assert.deepEqual([rejected.isError, rejected.structuredContent.state], [true, 'rejected'])
        const { taskId } = sorry.structuredContent
        const looked = await caller.call('get_task', { agent: 'scripted', taskId })
        assert.deepEqual([looked.isError ?? false, looked.structuredContent.state], [false, 'failed'])
        const mistakes: readonly (readonly [string, object, RegExp])[] = [
          ['send_message', { agent: 'scripted' }, /message: must be a string/],
          ['send_message', { agent: 'scripted', message: 'x', mesage: 'y' }, /mesage/],
          ['send_message', { agent: 'scripted', message: 'x', files: [{ name: 'a' }] }, /must have a url or base64/],
          ['send_message', { agent: 'missing', message: 'x' }, /Unknown agent/],
          ['get_task', { agent: 'scripted', taskId: 'none' }, /Task not found/],
          ['get_task', { taskId: 'x' }, /set agent to a name, or url/],
          ['get_task', { agent: 'scripted', url: 'https://x.example', taskId: 'x' }, /set agent to a name, or/],
          ['cancel_task', { agent: 'scripted', taskId }, /cannot be canceled|not cancelable|has ended|ended/i],
          ['invoke_remote_agent', { url: 'gopher://x', message: 'x' }, /must be an http or https URL/],
        ]
        for (const [tool, input, sentence] of mistakes) {
          const result = await caller.call(tool, input)
          assert.equal(result.isError, true, `${tool} ${JSON.stringify(input)}`)
          assert.match(result.content[0].text, sentence)
        }
        await assert.rejects(caller.call('no_such_tool', {}), /Unknown tool no_such_tool/)
      })

      it('passes its trace on', async () => {
        const caller = await open()
        const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`
        const said = await caller.call(
          'send_message',
          { agent: 'scripted', message: 'trace' },
          { meta: { traceparent } },
        )
        assert.match(textOf(said), new RegExp(`^00-${'ab'.repeat(16)}-`))
        const odd = await caller.call(
          'send_message',
          { agent: 'scripted', message: 'trace' },
          { meta: { traceparent: 7 } },
        )
        assert.match(textOf(odd), /^00-/)
      })
    })
  }
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined
  return () => (opened ??= open())
}

/** The newest task of a conversation at the hub. */
async function stateInContext(contextId: string): Promise<string> {
  for (;;) {
    const response = await fetch(`${url}/a2a/scripted/tasks?contextId=${contextId}`, {
      headers: { 'A2A-Version': '1.0' },
    })
    const { tasks } = (await response.json()) as { tasks: { status: { state: string } }[] }
    const state = tasks[0]?.status.state ?? ''
    if (state !== 'TASK_STATE_WORKING' && state !== 'TASK_STATE_SUBMITTED') return state
  }
}
