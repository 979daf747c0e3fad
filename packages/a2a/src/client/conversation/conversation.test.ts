import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Agent, Turn } from '../../agents/agent.ts'
import { authRequired, inputRequired, reply, status } from '../../agents/reports.ts'
import type { StreamEvent } from '../../model/task.ts'
import { createHandler, type Handler } from '../../server/index.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { openScriptedPeers } from '../../testing/fixtures/scripted-peer.ts'
import { connect } from '../connect.ts'
import type { ConnectOptions, InputRequest } from '../contract.ts'

const openOddPeer = openScriptedPeers()
const handlers: Handler[] = []
after(() => Promise.all(handlers.map((handler) => handler.close())))

/** The agent behind our own server, without a socket. */
async function talkTo(agent: Agent, options: ConnectOptions = {}, settings: object = {}) {
  const handler = createHandler({ store: memoryStore(), name: 'Agent', agent, ...settings })
  handlers.push(handler)
  return connect('http://agent.test', { fetch: (request) => handler.fetch(request), ...options })
}

/** Asks for a city until it gets one, then responds. */
const booking: Agent = async function* ({ text }: Turn) {
  yield status('Looking')
  if (text === 'Book') yield inputRequired('Which city?')
  else if (text === 'hm') yield inputRequired('Which city, please?')
  else yield `Booked ${text}`
}

describe('a chat', () => {
  it('keeps the context, and a task while it waits for an answer [T-2]', async () => {
    const chat = (await talkTo(booking)).chat()
    const asked = await chat.send('Book')
    assert.ok(asked.kind === 'task')
    assert.deepEqual([chat.taskId, chat.contextId], [asked.id, asked.contextId])
    const booked = await chat.send('Lisbon')
    assert.ok(booked.kind === 'task')
    assert.equal(booked.id, asked.id)
    assert.equal(booked.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(chat.taskId, undefined)
    const next = await chat.send('Porto')
    assert.ok(next.kind === 'task')
    assert.notEqual(next.id, booked.id)
    assert.equal(next.contextId, asked.contextId)
    assert.deepEqual([...chat.tasks.keys()], [asked.id, next.id])
  })

  for (const version of ['1.0', '0.3', '0.2'] as const) {
    it(`answers the questions of the agent and continues, as one stream, in ${version}`, async () => {
      const questions: InputRequest[] = []
      const events: StreamEvent[] = []
      const chat = (await talkTo(booking, { version })).chat({
        onEvent: (event) => events.push(event),
        onInputRequired(question) {
          questions.push(question)
          return questions.length < 2 ? 'hm' : 'Lisbon'
        },
      })
      const stream = chat.stream('Book')
      const seen: StreamEvent[] = []
      for await (const event of stream) seen.push(event)
      assert.deepEqual(
        questions.map(({ text, isAuthRequired, sensitive }) => [text, isAuthRequired, sensitive]),
        [
          ['Which city?', false, false],
          ['Which city, please?', false, false],
        ],
      )
      assert.equal(questions[0]?.task.id, stream.taskId)
      assert.deepEqual(events, seen)
      const answer = await stream.result()
      assert.ok(answer.kind === 'task' && answer.status.state === 'TASK_STATE_COMPLETED')
      assert.equal(chat.tasks.size, 1)
    })
  }

  it('asks and answers until there is a text', async () => {
    const agent = await talkTo(booking)
    const answering = agent.chat({ onInputRequired: async () => [{ text: 'Lisbon' }] })
    assert.equal(await answering.ask('Book'), 'Booked Lisbon')
    let text = ''
    for await (const chunk of answering.stream('Book').text()) text += chunk
    assert.equal(text, 'Booked Lisbon')
    await assert.rejects(agent.chat().ask('Book'), { code: 'INPUT_REQUIRED', message: 'Which city?' })
  })

  it('leaves the task waiting without an answer, and limits the rounds between two programs', async () => {
    let asked = 0
    const agent = await talkTo(() => inputRequired(`Question ${++asked}`))
    for (const nothing of [undefined, null]) {
      const silent = agent.chat({ onInputRequired: () => nothing })
      const answer = await silent.send('hello')
      assert.ok(answer.kind === 'task')
      assert.equal(answer.status.state, 'TASK_STATE_INPUT_REQUIRED')
      assert.equal(silent.taskId, answer.id)
    }
    asked = 0
    const eager = agent.chat({ onInputRequired: () => 'And now?', maxRounds: 3 })
    assert.equal((await eager.send('hello')).kind, 'task')
    assert.equal(asked, 4)
    assert.notEqual(eager.taskId, undefined)
  })

  it('distinguishes a question for a credential from one for an answer', async () => {
    const agent: Agent = ({ text }) => (text === 'open' ? authRequired('Sign in') : `Thanks for ${text}`)
    const questions: InputRequest[] = []
    const chat = (await talkTo(agent)).chat({
      onInputRequired(question) {
        questions.push(question)
        return 'the key'
      },
    })
    assert.equal(await chat.ask('open'), 'Thanks for the key')
    assert.equal(questions[0]?.isAuthRequired, true)
  })

  it('accepts direct messages, and keeps their context', async () => {
    const chat = (await talkTo(() => reply('Hi'))).chat()
    assert.equal(await chat.ask('hello'), 'Hi')
    const { contextId } = chat
    assert.notEqual(contextId, undefined)
    await chat.send('hello again')
    assert.equal(chat.contextId, contextId)
    assert.equal(chat.tasks.size, 0)
  })

  it('sends one message at a time; a queued send that is aborted does not block the others', async () => {
    const running: string[] = []
    const gates = new Map(['one', 'two', 'three'].map((name) => [name, Promise.withResolvers<void>()]))
    const started = new Map(['one', 'two', 'three'].map((name) => [name, Promise.withResolvers<void>()]))
    const chat = (
      await talkTo(async ({ text }) => {
        running.push(text)
        started.get(text)?.resolve()
        await gates.get(text)?.promise
        return text
      })
    ).chat()
    const first = chat.ask('one')
    const leaving = new AbortController()
    const second = chat.ask('two', { signal: leaving.signal })
    const third = chat.ask('three')
    await started.get('one')?.promise
    leaving.abort(new Error('changed my mind'))
    await assert.rejects(second, /changed my mind/)
    assert.deepEqual(running, ['one'])
    gates.get('one')?.resolve()
    assert.equal(await first, 'one')
    gates.get('three')?.resolve()
    assert.equal(await third, 'three')
    assert.deepEqual(running, ['one', 'three'])
  })

  it('accepts the next message when a stream is left', async () => {
    const chat = (
      await talkTo(async function* ({ text, signal }) {
        yield text
        if (text === 'long') await new Promise((resolve) => signal.addEventListener('abort', resolve))
      })
    ).chat()
    for await (const chunk of chat.stream('long').text()) {
      assert.equal(chunk, 'long')
      break
    }
    assert.equal(await chat.ask('short'), 'short')
    assert.equal(chat.tasks.size, 2)
  })

  it('ends a question to the user when it is aborted', async () => {
    const leaving = new AbortController()
    const chat = (await talkTo(booking)).chat({
      onInputRequired() {
        leaving.abort(new Error('window closed'))
        return new Promise<string>(() => {})
      },
    })
    await assert.rejects(chat.send('Book', { signal: leaving.signal }), /window closed/)
    assert.equal(await chat.ask('Lisbon'), 'Booked Lisbon')
  })

  it('continues a task of another process while it is open', async () => {
    const agent = await talkTo(booking)
    const asked = await agent.send('Book')
    assert.ok(asked.kind === 'task')
    const later = agent.chat({ taskId: asked.id })
    const booked = await later.send('Lisbon')
    assert.ok(booked.kind === 'task' && booked.id === asked.id)
    const evenLater = agent.chat({ taskId: asked.id })
    const other = await evenLater.send('Porto')
    assert.ok(other.kind === 'task')
    assert.notEqual(other.id, asked.id)
    assert.equal(other.contextId, asked.contextId)
    const lost = agent.chat({ taskId: 'never-was', contextId: asked.contextId ?? '' })
    assert.equal(await lost.ask('Faro'), 'Booked Faro')
    assert.equal(lost.contextId, asked.contextId)
  })

  it('streams the text of a follow-up without that of earlier turns, as a stream of the agent does', async () => {
    const report: Agent = async function* ({ text }) {
      yield `About ${text}.`
      if (text === 'sales') yield inputRequired('Which format?')
    }
    for (const version of ['1.0', '0.3'] as const) {
      const agent = await talkTo(report, { version })
      const asked = await agent.send('sales')
      assert.ok(asked.kind === 'task')
      const stream = agent.stream('csv', { taskId: asked.id })
      assert.deepEqual(await Array.fromAsync(stream.text()), ['About csv.'])
      assert.equal((await stream.artifacts()).length, 2)
      const chat = agent.chat()
      await chat.send('sales')
      assert.deepEqual(await Array.fromAsync(chat.stream('csv').text()), ['About csv.'])
    }
  })

  it('starts a new task after one that ended while it waited', async () => {
    const agent = await talkTo(booking)
    const chat = agent.chat()
    const asked = await chat.send('Book')
    assert.ok(asked.kind === 'task')
    await agent.cancel(asked.id)
    await assert.rejects(chat.send('Lisbon'), { code: 'UNSUPPORTED_OPERATION' })
    assert.equal(await chat.ask('Porto'), 'Booked Porto')
  })

  it('keeps which tasks a task referred to [S2-12]', async () => {
    const chat = (
      await talkTo(async function* () {
        yield status({ parts: [{ text: 'asking the analyst' }], referenceTaskIds: ['sub-1'] })
        yield status({ parts: [{ text: 'asking the writer' }], referenceTaskIds: ['sub-2', 'sub-1'] })
        yield 'done'
      })
    ).chat()
    await chat.send('report')
    const [[taskId, related] = []] = [...chat.tasks]
    assert.equal(typeof taskId, 'string')
    assert.deepEqual([...(related ?? [])].sort(), ['sub-1', 'sub-2'])
  })

  it('works with an agent that cannot stream', async () => {
    const limits = { firstDelayMs: 1, pollMs: 2 }
    const agent = await talkTo(booking, { limits }, { streaming: false })
    assert.equal(agent.card.capabilities.streaming ?? false, false)
    const chat = agent.chat({ onInputRequired: () => 'Lisbon' })
    assert.equal(await chat.ask('Book'), 'Booked Lisbon')
  })
})

describe('a chat with a nonconforming peer', () => {
  const task = (state: string, over: object = {}) => ({
    kind: 'task',
    id: 't1',
    contextId: 'c1',
    status: { state, ...over },
  })
  const moved = (state: string, over: object = {}) => ({
    kind: 'status-update',
    taskId: 't1',
    contextId: 'c1',
    status: { state, ...over },
    final: state === 'completed',
  })
  const question = {
    message: { kind: 'message', messageId: 'q1', role: 'agent', parts: [{ kind: 'text', text: 'Which city?' }] },
  }

  it('answers even if the stream is left open for the answer [S2-13]', async () => {
    const peer = await openOddPeer((_, count) =>
      count === 1
        ? [task('submitted'), moved('input-required', question)]
        : [task('working'), moved('completed'), 'end'],
    )
    const chat = (await connect(peer.url)).chat({ onInputRequired: () => 'Lisbon' })
    const answer = await chat.send('Book')
    assert.ok(answer.kind === 'task' && answer.status.state === 'TASK_STATE_COMPLETED')
    const message = peer.calls[1]?.params['message'] as { taskId?: string; contextId?: string }
    assert.deepEqual([message.taskId, message.contextId], ['t1', 'c1'])
  })

  it('does not treat an answered question as a new one', async () => {
    const peer = await openOddPeer((_, count) =>
      count === 1
        ? [task('submitted'), moved('input-required', question), 'end']
        : [task('input-required', question), moved('working'), moved('completed'), 'end'],
    )
    let asked = 0
    const chat = (await connect(peer.url)).chat({ onInputRequired: () => `answer ${++asked}` })
    await chat.send('Book')
    const sends = peer.calls.filter(({ method }) => method === 'message/stream')
    assert.deepEqual([asked, sends.length], [1, 2])
  })

  it('returns the whole task if the peer continues it without sending it', async () => {
    const whole = { ...task('completed'), artifacts: [{ artifactId: 'a', parts: [{ kind: 'text', text: 'early' }] }] }
    const peer = await openOddPeer(({ method }, count) => {
      if (method === 'tasks/get') return { result: whole }
      return count === 1 ? [task('input-required', question), 'end'] : [moved('working'), moved('completed'), 'end']
    })
    const chat = (await connect(peer.url)).chat()
    await chat.send('Book')
    assert.equal(await chat.ask('Lisbon'), 'early')
  })

  it('uses the context that the peer chose, also when it changes', async () => {
    const peer = await openOddPeer((_, count) => [
      { ...task('completed'), contextId: `c${count}`, id: `t${count}` },
      'end',
    ])
    const chat = (await connect(peer.url)).chat({ contextId: 'mine' })
    await chat.send('one')
    assert.equal(chat.contextId, 'c1')
    await chat.send('two')
    assert.equal(chat.contextId, 'c2')
    const sent = peer.calls.map(({ params }) => (params['message'] as { contextId?: string }).contextId)
    assert.deepEqual(sent, ['mine', 'c1'])
  })
})
