/** Sends and their results: a task or a message, at the end or at once. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { reply } from '@parley/a2a'
import { createGate, sendForTask } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { messageIn, partsName, messageBodyIn, messageParams, stateIn, taskIn } from '../spelling.ts'

const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

export const sending: readonly Scenario[] = [
  {
    name: 'a send returns the finished task: its artifact, its history, its ids [B-63 B-53 B-55 B-47 B-46]',
    async check({ open }) {
      const peer = open(({ text }) => `Hello, ${text}!`)
      const task = await sendForTask(peer, 'Ann')
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
      assert.deepEqual(task.artifacts, [{ artifactId: 'answer', parts: [{ text: 'Hello, Ann!' }] }])
      assert.ok(task.id !== '' && task.contextId !== undefined && task.contextId !== '')
      const [said, ...more] = task.history ?? []
      assert.deepEqual([said?.taskId, said?.contextId, said?.parts], [task.id, task.contextId, [{ text: 'Ann' }]])
      assert.deepEqual(more, [])
    },
  },
  {
    name: 'the response has the shape and the spelling of the requested version [B-6 B-48 J-1 J-2 J-3 S2-10 F-1 F-8]',
    async check({ open, cell, form }) {
      const peer = open(({ text }) => `Hello, ${text}!`)
      const { status, headers, body, payload } = await peer.raw.call('SendMessage', messageParams('Ann'))
      assert.equal(status, 200)
      assert.equal(headers.get('a2a-version'), cell.version)
      if (cell.binding === 'JSONRPC') {
        assert.equal(headers.get('content-type'), 'application/json')
        assert.deepEqual(Object.keys(body), ['jsonrpc', 'id', 'result'])
        assert.deepEqual([body.jsonrpc, body.id], ['2.0', 1])
      } else if (cell.binding === 'HTTP+JSON') {
        assert.equal(headers.get('content-type'), form === '1.x' ? 'application/a2a+json' : 'application/json')
      }
      const task = taskIn(form, payload)
      if (form === '0.x JSON-RPC') assert.equal(Object.keys(payload)[0], 'kind')
      else assert.deepEqual(Object.keys(payload), ['task'])
      assert.equal(task.status.state, stateIn(form, 'TASK_STATE_COMPLETED'))
      assert.match(task.status.timestamp, utc)
      const text = form === '0.x JSON-RPC' ? { kind: 'text', text: 'Hello, Ann!' } : { text: 'Hello, Ann!' }
      assert.deepEqual(task.artifacts, [{ artifactId: 'answer', parts: [text] }])
      const [said] = task.history
      assert.equal(said.role, form === '0.x JSON-RPC' ? 'user' : 'ROLE_USER')
      assert.equal(said.kind, form === '0.x JSON-RPC' ? 'message' : undefined)
      assert.equal(said[partsName(form)][0].text, 'Ann')
    },
  },
  {
    name: 'a request with only a text is accepted, and waits for the end [B-63 B-66 B-68 T-1]',
    async check({ open, form }) {
      const peer = open(async function* ({ text }) {
        yield 'as you say: '
        await delay(20)
        yield text
      })
      const { payload } = await peer.raw.call('SendMessage', messageParams(''), {
        bend: () => messageBodyIn(form, 'by-hand', 'hi'),
      })
      const task = taskIn(form, payload)
      assert.equal(task.status.state, stateIn(form, 'TASK_STATE_COMPLETED'))
      assert.equal(task.artifacts[0].parts[0].text, 'as you say: hi')
      assert.equal(task.history[0].messageId, 'by-hand')
    },
  },
  {
    name: 'a direct reply is a message with a context and without a task [B-49 B-55 B-61 T-1]',
    async check({ open, form }) {
      const peer = open(({ text }) => reply(`You said ${text}`))
      const answer = await peer.send('hi', { contextId: 'talk-1' })
      assert.ok('parts' in answer)
      assert.deepEqual([answer.role, answer.contextId, answer.taskId], ['ROLE_AGENT', 'talk-1', undefined])
      assert.deepEqual(answer.parts, [{ text: 'You said hi' }])
      const { payload } = await peer.raw.call('SendMessage', messageParams('again'))
      const message = messageIn(form, payload)
      assert.equal(message.role, form === '0.x JSON-RPC' ? 'agent' : 'ROLE_AGENT')
      assert.equal(message[partsName(form)][0].text, 'You said again')
      assert.ok(message.messageId !== '' && message.contextId !== '' && !('taskId' in message))
    },
  },
  {
    name: 'a non-blocking send returns while the agent works, and the work continues [B-64 B-66]',
    async check({ open, form }) {
      const gate = createGate()
      const peer = open(async () => {
        await gate.opened
        return 'late'
      })
      const task = await sendForTask(peer, 'go', { returnImmediately: true })
      assert.match(task.status.state, /^TASK_STATE_(SUBMITTED|WORKING)$/)
      const { payload } = await peer.raw.call('GetTask', { id: task.id })
      assert.equal(payload.status.state, stateIn(form, 'TASK_STATE_WORKING'))
      let end = ''
      for await (const state of peer.subscribe(task.id).states()) {
        end = state
        gate.open()
      }
      assert.equal(end, 'TASK_STATE_COMPLETED')
      assert.equal((await peer.get(task.id)).artifacts?.[0]?.artifactId, 'answer')
    },
  },
  {
    name: 'returnImmediately does not end a stream early [B-65]',
    async check({ open, form }) {
      const peer = open(async function* () {
        yield 'one '
        await new Promise((resolve) => setImmediate(resolve))
        yield 'two'
      })
      const { frames } = await peer.raw.stream('SendStreamingMessage', messageParams('go'), {
        bend: (payload) => ({
          ...payload,
          configuration: form === '1.x' ? { returnImmediately: true } : { blocking: false },
        }),
      })
      assert.equal(taskIn(form, frames[0]?.payload).status.state, stateIn(form, 'TASK_STATE_SUBMITTED'))
      assert.match(JSON.stringify(frames.at(-1)?.payload), /completed/i)
    },
  },
  {
    name: 'a wait that exceeds its limit ends with the current task [B-67]',
    async check({ open }) {
      const gate = createGate()
      const peer = open(() => gate.opened, { server: { limits: { waitMs: 30 } } })
      const task = await sendForTask(peer, 'go')
      assert.equal(task.status.state, 'TASK_STATE_WORKING')
      gate.open()
    },
  },
  {
    name: 'the fields of the request beside its message reach the agent [B-69]',
    async check({ open }) {
      const peer = open(({ acceptedOutputModes, metadata, message }) => ({
        data: { modes: acceptedOutputModes, metadata, own: message.metadata ?? {} },
      }))
      const said = { parts: [{ text: 'hi' }], metadata: { tone: 'kind' } }
      const task = await sendForTask(peer, said, { acceptedOutputModes: ['text/plain'], metadata: { trace: [1, 'x'] } })
      assert.deepEqual(task.artifacts?.[0]?.parts, [
        { data: { modes: ['text/plain'], metadata: { trace: [1, 'x'] }, own: { tone: 'kind' } } },
      ])
    },
  },
  {
    name: 'messages in one context open separate tasks that run concurrently, and the context of the client is kept [B-56 T-3 S2-22]',
    async check({ open }) {
      const gate = createGate()
      let running = 0
      const peer = open(async function* ({ text }) {
        running += 1
        if (running === 2) gate.open()
        await gate.opened
        yield text
      })
      const tasks = await Promise.all(['a', 'b'].map((text) => sendForTask(peer, text, { contextId: 'trip:7' })))
      assert.deepEqual(
        tasks.map(({ contextId }) => contextId),
        ['trip:7', 'trip:7'],
      )
      assert.equal(new Set(tasks.map(({ id }) => id)).size, 2)
    },
  },
]
