/**
 * Every operation of our client against one kind of peer. What it expects is the same everywhere: a program that talks
 * to one A2A agent talks to all of them.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Artifact, StreamEvent } from '@parley/a2a'
import { A2AError } from '@parley/a2a'
import { clearCardCache, connect } from '@parley/a2a/client'
import type { Answer, ConnectOptions, RemoteAgent, TaskAnswer } from '@parley/a2a/client'
import { agentName, extendedDescription, mood } from './peer.ts'
import type { Peer, PeerKind } from './peer.ts'

export function everyOperation(kind: PeerKind): void {
  describe(`our client and ${kind.name}`, { timeout: 20_000 }, () => {
    const { version, binding, absent, without, cannot = {} } = kind
    const requests: Request[] = []
    let peer: Peer
    let agent: RemoteAgent
    const join = (more: ConnectOptions = {}): Promise<RemoteAgent> =>
      connect(peer.url, {
        ...kind.options,
        limits: { pollMs: 20, firstDelayMs: 5, timeoutMs: 10_000 },
        fetch(request) {
          requests.push(request)
          return fetch(request)
        },
        ...more,
      })
    before(async () => {
      clearCardCache()
      peer = await kind.open()
      agent = await join()
    })
    after(() => peer.close())

    /** What the client must know without asking. */
    async function refusesUnasked(code: string, call: () => Promise<unknown>): Promise<void> {
      const before = requests.length
      await rejectsWith(code, call())
      assert.equal(requests.length, before, 'it asked')
    }

    it('reads the card, and chooses the interface it should [B-17 B-18 B-28]', () => {
      assert.equal(agent.card.name, agentName)
      assert.equal(agent.card.skills[0]?.id, 'act')
      assert.deepEqual([agent.interface.version, agent.interface.protocolBinding], [version, binding])
      assert.ok(agent.interface.why.length > 0)
    })

    it(`is not talked into ${absent} where it is pinned and not offered [B-9]`, async () => {
      const before = requests.length
      await rejectsWith('VERSION_NOT_SUPPORTED', join({ version: absent }))
      assert.ok(requests.slice(before).every(({ method }) => method === 'GET'))
    })

    it('sends and gets a finished task', async () => {
      const task = taskOf(await agent.send('say hello there'))
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
      assert.equal(textOf(task), 'hello there ')
      assert.ok(task.contextId !== undefined && task.id !== '')
    })

    it('sends and gets a message', async () => {
      const message = await agent.send('reply hi back')
      assert.ok(message.kind === 'message')
      assert.deepEqual([message.role, message.parts[0]], ['ROLE_AGENT', { text: 'hi back' }])
    })

    it('asks and gets text, or an error that says why there is none', async () => {
      assert.equal(await agent.ask('say hello'), 'hello ')
      assert.equal(await agent.ask('reply hello'), 'hello')
      const failed = await rejectsWith('TASK_FAILED', agent.ask('fail'))
      assert.deepEqual([failed.message, failed.details['state']], ['Upstream is down', 'TASK_STATE_FAILED'])
      await rejectsWith('TASK_FAILED', agent.ask('reject'))
      const asked = await rejectsWith('INPUT_REQUIRED', agent.ask('ask'))
      assert.equal(asked.message, 'Which city?')
    })

    it('starts a task at once and waits for its end', { skip: cannot['start at once'] ?? false }, async () => {
      const begun = await agent.start('hold start')
      assert.match(begun.status.state, /SUBMITTED|WORKING/)
      const waiting = agent.wait(begun.id)
      peer.release('start')
      const done = await waiting
      assert.deepEqual([done.kind, done.id, done.status.state], ['task', begun.id, 'TASK_STATE_COMPLETED'])
      assert.equal(textOf(done), 'held released')
      assert.equal((await agent.wait(begun.id)).status.state, 'TASK_STATE_COMPLETED')
    })

    it('streams from the task to its last state, each event once', async () => {
      const before = requests.length
      const stream = agent.stream('say one two three four')
      assert.equal(requests.length, before, 'a stream that nobody reads was sent')
      const events = await stream.all()
      assert.ok('task' in events[0]!)
      assert.deepEqual(chunksOf(events), ['one ', 'two ', 'three ', 'four '])
      const last = events.at(-1)!
      assert.ok('statusUpdate' in last && last.statusUpdate.status.state === 'TASK_STATE_COMPLETED')
      assert.deepEqual([stream.taskId, stream.contextId], [events[0].task.id, events[0].task.contextId])
    })

    it('streams text as it comes, and all of it to whoever waits', async () => {
      const chunks = await Array.fromAsync(agent.stream('say one two').text())
      assert.deepEqual(chunks, ['one ', 'two '])
      assert.equal(await agent.stream('say one two').text(), 'one two ')
      assert.equal(await agent.stream('reply hi').text(), 'hi')
    })

    it('sees the states of a stream, its artifacts and what they add up to', async () => {
      const states = await agent.stream('say one').states()
      assert.deepEqual(states.slice(-2), ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'])
      const artifacts = await agent.stream('say one two').artifacts()
      assert.deepEqual(artifacts.map(textOfArtifact), ['one two '])
      const task = taskOf(await agent.stream('say one two').result())
      assert.deepEqual([task.status.state, textOf(task)], ['TASK_STATE_COMPLETED', 'one two '])
    })

    it('streams a message as the only event', async () => {
      const stream = agent.stream('reply hi')
      assert.deepEqual((await stream.all()).map(keyOf), ['message'])
      assert.equal((await agent.stream('reply hi').result()).kind, 'message')
    })

    it('reads a task, with as much of its history as it wants', async () => {
      const { id } = taskOf(await agent.send('ask'))
      await agent.send('Oslo', { taskId: id })
      const all = await agent.get(id, { historyLength: 10 })
      assert.ok(all.kind === 'task' && (all.history?.length ?? 0) >= 2)
      assert.deepEqual((await agent.get(id, { historyLength: 1 })).history, all.history?.slice(-1))
    })

    if (without.includes('list')) {
      it('knows without asking that tasks cannot be listed [B-87 B-169]', () =>
        refusesUnasked('UNSUPPORTED_OPERATION', () => agent.list()))
    } else {
      it('lists tasks page by page', async () => {
        const contextId = crypto.randomUUID()
        const made: string[] = []
        for (const word of ['one', 'two', 'three']) {
          made.push(taskOf(await agent.send(`say ${word}`, { contextId })).id)
        }
        const first = await agent.list({ contextId, pageSize: 2 })
        assert.deepEqual([first.tasks.length, first.totalSize], [2, 3])
        const second = await agent.list({ contextId, pageSize: 2, pageToken: first.nextPageToken })
        assert.equal(second.nextPageToken, '')
        assert.deepEqual([...first.tasks, ...second.tasks].map(({ id }) => id).sort(), made.sort())
      })
    }

    it('cancels a running task, and whoever follows it is told', async () => {
      const { id } = await running('hold forever')
      const following = agent.subscribe(id)
      const iterator = following[Symbol.asyncIterator]()
      await iterator.next()
      const canceled = await agent.cancel(id)
      assert.deepEqual([canceled.kind, canceled.status.state], ['task', 'TASK_STATE_CANCELED'])
      const rest = await Array.fromAsync({ [Symbol.asyncIterator]: () => iterator })
      assert.equal(stateOf(rest.at(-1)), 'TASK_STATE_CANCELED')
    })

    it('subscribes to a running task: what it is, and then what comes', async () => {
      const { id } = await running('hold subscribe')
      const events: StreamEvent[] = []
      for await (const event of agent.subscribe(id)) {
        if (events.length === 0) peer.release('subscribe')
        events.push(event)
      }
      const [first] = events
      assert.ok(first !== undefined && 'task' in first && textOf(first.task) === 'held ')
      assert.deepEqual(chunksOf(events), ['released'])
      assert.equal(stateOf(events.at(-1)), 'TASK_STATE_COMPLETED')
    })

    it('adds a subscription up to the whole task', async () => {
      const { id } = await running('hold result')
      const result = agent.subscribe(id).result()
      peer.release('result')
      assert.equal(textOf(taskOf(await result)), 'held released')
    })

    it('answers a question by its task, by sending and by streaming', async () => {
      const asked = taskOf(await agent.send('ask'))
      assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
      const told = taskOf(await agent.send('Oslo', { taskId: asked.id, contextId: asked.contextId! }))
      assert.deepEqual([told.id, textOf(told)], [asked.id, 'Weather in Oslo'])

      const question = taskOf(await agent.stream('ask').result())
      assert.equal(question.status.state, 'TASK_STATE_INPUT_REQUIRED')
      assert.equal(await agent.stream('Rome', { taskId: question.id }).text(), 'Weather in Rome')
    })

    it('keeps the ids of a conversation straight [B-44 B-59]', async () => {
      const chat = agent.chat()
      const asked = taskOf(await chat.send('ask'))
      assert.deepEqual([chat.taskId, chat.contextId], [asked.id, asked.contextId])
      const told = taskOf(await chat.send('Oslo'))
      assert.deepEqual([told.id, textOf(told), chat.taskId], [asked.id, 'Weather in Oslo', undefined])
      const next = taskOf(await chat.send('say more'))
      assert.notEqual(next.id, asked.id)
      assert.equal(next.contextId, asked.contextId)
    })

    it('answers what the agent asks and goes on', async () => {
      const questions: string[] = []
      const onInputRequired = ({ text }: { readonly text: string }): string => {
        questions.push(text)
        return 'Rome'
      }
      assert.equal(await agent.chat({ onInputRequired }).ask('ask'), 'Weather in Rome')
      assert.equal(await agent.chat({ onInputRequired }).stream('ask').text(), 'Weather in Rome')
      assert.deepEqual(questions, ['Which city?', 'Which city?'])
    })

    it('carries every kind of part both ways', async () => {
      const parts = [
        { text: 'parts' },
        { raw: 'AQL/', filename: 'b.png', mediaType: 'image/png' },
        { url: 'https://example.com/c', filename: 'c.png', mediaType: 'image/png' },
        { data: { deep: { er: [1, 'two', null] } } },
      ]
      const { artifacts = [] } = taskOf(await agent.send(parts))
      const [shown, mirror] = artifacts
      const own = { raw: 'AQL/', filename: 'a.bin', mediaType: 'application/x-a' }
      const named = cannot['name files'] === undefined ? bare : nameless
      assert.deepEqual(named(shown?.parts), named([{ data: { rows: [1, 2.5], ok: true } }, own]))
      assert.deepEqual(named(mirror?.parts), named(parts))
    })

    it('attaches files and data to a text', async () => {
      const files = [new File([new Uint8Array([1, 2, 255])], 'b.png', { type: 'image/png' })]
      const { artifacts = [] } = taskOf(await agent.send('parts', { files, data: { n: 1 } }))
      const sent = artifacts[1]?.parts ?? []
      assert.deepEqual(sent.map(keyOf).sort(), ['data', 'raw', 'text'])
      assert.ok(sent.some((part) => 'raw' in part && part.raw === 'AQL/' && part.mediaType === 'image/png'))
    })

    if (without.includes('push')) {
      it('knows without asking that the agent does not push [B-169]', async () => {
        const code = 'PUSH_NOTIFICATION_NOT_SUPPORTED'
        await refusesUnasked(code, () => agent.push.set('any', { url: 'https://example.com/hook' }))
        await refusesUnasked(code, () => agent.push.get('any', 'hook'))
        await refusesUnasked(code, () => agent.push.list('any'))
        await refusesUnasked(code, () => agent.push.delete('any', 'hook'))
        const push = { url: 'https://example.com/hook' }
        await refusesUnasked(code, () => agent.send('say hi', { push }))
      })
    } else {
      const cannotSet = cannot['set push configs'] ?? false
      it('sets a push config and reads it back', { skip: cannotSet }, async () => {
        const { id } = taskOf(await agent.send('say hooked'))
        const set = await agent.push.set(id, { id: 'hook', url: 'https://example.com/hook', token: 'secret' })
        assert.deepEqual([set.taskId, set.url], [id, 'https://example.com/hook'])
        assert.equal((await agent.push.get(id, 'hook')).url, 'https://example.com/hook')
      })

      const cannotList = cannot['list push configs'] ?? cannotSet
      it('lists push configs and deletes one', { skip: cannotList }, async () => {
        const { id } = taskOf(await agent.send('say hooked'))
        for (const name of ['one', 'two']) await agent.push.set(id, { id: name, url: `https://example.com/${name}` })
        const { configs } = await agent.push.list(id)
        assert.deepEqual(configs.map((config) => config.id).sort(), ['one', 'two'])
        await agent.push.delete(id, 'one')
        assert.deepEqual(
          (await agent.push.list(id)).configs.map((config) => config.url),
          ['https://example.com/two'],
        )
      })
    }

    if (without.includes('extendedCard')) {
      it('knows without asking that there is no extended card [B-169]', () =>
        refusesUnasked('UNSUPPORTED_OPERATION', () => agent.extendedCard()))
    } else {
      it('takes the extended card for its own from then on [B-139]', async () => {
        const other = await join()
        const before = other.card.description
        const card = await other.extendedCard()
        assert.equal(card.description, extendedDescription)
        assert.notEqual(before, extendedDescription)
        assert.equal(other.card.description, extendedDescription)
        assert.equal(await other.ask('say still there'), 'still there ')
      })
    }

    it('gets the same errors from everybody', async () => {
      await rejectsWith('TASK_NOT_FOUND', agent.get('nowhere'))
      await rejectsWith('TASK_NOT_FOUND', agent.cancel('nowhere'))
      await rejectsWith('TASK_NOT_FOUND', agent.subscribe('nowhere').all())
      await rejectsWith('TASK_NOT_FOUND', agent.wait('nowhere'))
      await rejectsWith('TASK_NOT_FOUND', agent.send('more', { taskId: 'nowhere' }))
      const { id } = taskOf(await agent.send('say done'))
      await rejectsWith('TASK_NOT_CANCELABLE', agent.cancel(id))
    })

    const accepts = cannot['refuse a message to a finished task'] ?? false
    it('is refused a message to a finished task', { skip: accepts }, async () => {
      const { id } = taskOf(await agent.send('say done'))
      const error = await rejectsWith(undefined, agent.send('more', { taskId: id }))
      assert.match(error.code, /^(UNSUPPORTED_OPERATION|INVALID_PARAMS|INVALID_REQUEST)$/)
    })

    it('is told which parameter is wrong', { skip: cannot['refuse a bad message'] ?? false }, async () => {
      const message = { messageId: '', role: 'ROLE_USER', parts: [{ text: 'hi' }] } as const
      const error = await rejectsWith('INVALID_PARAMS', agent.session.call('SendMessage', { message }))
      assert.match(error.message, /message/i)
    })

    it('names the version, the trace and the extensions it wants in every request [B-1 B-142 B-171]', async () => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
      const traced = await join({ trace: () => ({ traceparent }), extensions: [mood] })
      const before = requests.length
      const { id } = taskOf(await traced.send('say hi'))
      await traced.get(id)
      await traced.stream('say hi').all()
      const sent = requests.slice(before).map(({ headers }) => headers)
      assert.ok(sent.length >= 3)
      for (const headers of sent) {
        assert.equal(headers.get('a2a-version'), version)
        assert.equal(headers.get('traceparent'), traceparent)
        assert.equal(headers.get(version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions'), mood)
      }
    })

    /** A task that has come as far as to hold, which any snapshot then shows. */
    async function running(text: string): Promise<TaskAnswer> {
      let task = await agent.start(text)
      while (textOf(task) !== 'held ') task = await agent.get(task.id)
      return task
    }
  })
}

/** `code` undefined: any A2AError will do. */
export async function rejectsWith(code: string | undefined, promise: Promise<unknown>): Promise<A2AError> {
  const reason = await promise.then(
    (value) => assert.fail(`resolved with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  assert.ok(reason instanceof A2AError, `not an A2AError: ${reason instanceof Error ? reason.stack : String(reason)}`)
  if (code !== undefined) assert.equal(reason.code, code, reason.stack)
  return reason
}

function taskOf(answer: Answer): TaskAnswer {
  assert.ok(answer.kind === 'task', `not a task: ${JSON.stringify(answer)}`)
  return answer
}

const keyOf = (value: object): string => Object.keys(value)[0] ?? ''

function textOf({ artifacts = [] }: { readonly artifacts?: readonly Artifact[] }): string {
  return artifacts.map(textOfArtifact).join('')
}
function textOfArtifact({ parts }: Artifact): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}

/** The text of the chunks, one by one; those that only close an artifact say nothing. */
function chunksOf(events: readonly StreamEvent[]): string[] {
  return events
    .map((event) => ('artifactUpdate' in event ? textOfArtifact(event.artifactUpdate.artifact) : ''))
    .filter((text) => text !== '')
}

function stateOf(event: StreamEvent | undefined): string | undefined {
  if (event === undefined) return undefined
  if ('statusUpdate' in event) return event.statusUpdate.status.state
  return 'task' in event ? event.task.status.state : undefined
}

/** Peers fill in what was left out: an empty name is no name. */
function bare(parts: readonly object[] = []): object[] {
  return parts.map((part) =>
    Object.fromEntries(
      Object.entries(part).filter(
        ([key, value]) => value !== '' && !(key === 'metadata' && Object.keys(value as object).length === 0),
      ),
    ),
  )
}
function nameless(parts: readonly object[] = []): object[] {
  return bare(parts).map((part) => Object.fromEntries(Object.entries(part).filter(([key]) => key !== 'filename')))
}
