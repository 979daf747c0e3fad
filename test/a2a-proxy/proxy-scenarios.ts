/** The scenarios of every cell of the proxy matrix. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { A2AError, isTerminal } from '@parley/a2a'
import type { Part, StreamEvent } from '@parley/a2a'
import type { TaskResponse } from '@parley/a2a/client'
import { chunksOf, stateOf, taskOf, textOf } from '../interop/client/connected-peer.ts'
import type { Cell } from './proxy-matrix.ts'
import { heldText, numberedWords } from './remote-script.ts'

export function proxyScenarios(cell: Cell): void {
  sending(cell)
  streaming(cell)
  canceling(cell)
  asking(cell)
  gettingTasks(cell)
  content(cell)
  failing(cell)
  notifying(cell)
}

function sending(cell: Cell): void {
  it('a message is answered with a finished task that has the output of the agent', async () => {
    const task = taskOf(await cell.agent.send('say hello there'))
    assert.deepEqual([task.status.state, textOf(task)], ['TASK_STATE_COMPLETED', 'hello there '])
    const messages = (task.history ?? []).filter((message) => message.role === 'ROLE_USER')
    assert.equal(messages.length, 1, 'what the caller said stands in the history once')
  })

  it('a direct message becomes the status message of a finished task [B-49]', async () => {
    const task = taskOf(await cell.agent.send('reply hi'))
    assert.deepEqual([task.status.state, messageText(task)], ['TASK_STATE_COMPLETED', 'hi'])
  })
}

function streaming(cell: Cell): void {
  it('a stream has the same chunks in the same order, and each status at its position [B-93]', async () => {
    const events = await cell.agent.stream('count 20').all()
    assert.deepEqual(chunksOf(events), numberedWords(20))
    assert.equal(stateOf(events.at(-1)), 'TASK_STATE_COMPLETED')
    const received = events.flatMap((event): string[] => [...statusWords(event), ...chunksOf([event])])
    const expected = numberedWords(20).flatMap((word, index) => (index % 8 === 7 ? [word, `at ${index}`] : [word]))
    assert.deepEqual(received, expected)
  })

  it('a stream keeps the boundaries of an artifact [B-100]', async () => {
    const events = await cell.agent.stream('count 3').all()
    const updates = events.flatMap((event) => ('artifactUpdate' in event ? [event.artifactUpdate] : []))
    const bounds = updates.map(({ artifact: { artifactId }, append = false, lastChunk = false }) => [
      artifactId,
      append,
      lastChunk,
    ])
    assert.deepEqual(bounds, [
      ['answer', false, false],
      ['answer', true, false],
      ['answer', true, true],
    ])
  })

  it('a subscriber gets the current task and then new events [B-105]', async () => {
    const name = `hold ${crypto.randomUUID()}`
    const { id } = await startTask(cell, name)
    const events: StreamEvent[] = []
    for await (const event of cell.agent.subscribe(id)) {
      if (events.length === 0) cell.peer.release(name)
      events.push(event)
    }
    const [first] = events
    assert.ok(first !== undefined && 'task' in first && textOf(first.task) === 'one two ')
    assert.deepEqual(chunksOf(events), ['three ', 'four'])
    assert.equal(stateOf(events.at(-1)), 'TASK_STATE_COMPLETED')
    assert.equal(textOf(await cell.agent.get(id)), heldText)
  })
}

function canceling(cell: Cell): void {
  it('a cancel reaches the remote agent and all readers [B-110 B-114]', async () => {
    const name = `hold ${crypto.randomUUID()}`
    const { id } = await startTask(cell, name)
    const reading = cell.agent.subscribe(id).states()
    const canceled = await cell.agent.cancel(id)
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELED')
    await cell.script.canceled(name)
    assert.equal((await Array.fromAsync(reading)).at(-1), 'TASK_STATE_CANCELED')
  })
}

function asking(cell: Cell): void {
  it('a question reaches the caller, and its answer goes to the same task, by send and by stream', async () => {
    const asked = taskOf(await cell.agent.send('ask'))
    assert.deepEqual([asked.status.state, messageText(asked)], ['TASK_STATE_INPUT_REQUIRED', 'Which city?'])
    const answered = taskOf(await cell.agent.send('Oslo', { taskId: asked.id }))
    assert.deepEqual(
      [answered.id, answered.status.state, textOf(answered)],
      [asked.id, 'TASK_STATE_COMPLETED', 'Weather in Oslo'],
    )

    const question = taskOf(await cell.agent.stream('ask').result())
    assert.equal(question.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal(await cell.agent.stream('Rome', { taskId: question.id }).text(), 'Weather in Rome')
  })

  it('an AUTH_REQUIRED state reaches the caller, and the task continues with the next message [B-155]', async () => {
    const asked = taskOf(await cell.agent.send('sign'))
    assert.deepEqual(
      [asked.status.state, messageText(asked)],
      ['TASK_STATE_AUTH_REQUIRED', 'Sign in at https://id.example.com'],
    )
    assert.equal(textOf(taskOf(await cell.agent.send('done', { taskId: asked.id }))), 'Weather in done')
  })
}

function gettingTasks(cell: Cell): void {
  it('a task is read again as it was returned', async () => {
    const task = taskOf(await cell.agent.send('say hello'))
    const again = await cell.agent.get(task.id)
    assert.deepEqual([again.status.state, textOf(again)], ['TASK_STATE_COMPLETED', 'hello '])
  })

  const noList = cell.caller.version === '1.0' ? false : `${cell.caller.version} has no operation that lists tasks`
  it('tasks are listed by the context that the caller knows', { skip: noList }, async () => {
    const contextId = crypto.randomUUID()
    const made = taskOf(await cell.agent.send('say hello', { contextId }))
    const { tasks } = await cell.agent.list({ contextId })
    assert.deepEqual(
      tasks.map(({ id }) => id),
      [made.id],
    )
  })
}

function content(cell: Cell): void {
  const cannotName = cell.remote.knownDefects?.['name files']
  it('parts of every kind arrive and return unchanged', async () => {
    const sent: readonly Part[] = [
      { text: 'parts' },
      { data: { deep: { list: [1, 'two', true] } } },
      { raw: 'AQL/', mediaType: 'application/x-a', ...(cannotName === undefined ? { filename: 'a.bin' } : {}) },
      {
        url: 'https://example.com/a.pdf',
        mediaType: 'application/pdf',
        ...(cannotName === undefined ? { filename: 'a.pdf' } : {}),
      },
    ]
    const { artifacts = [] } = taskOf(await cell.agent.send([...sent]))
    const [shown, mirror] = artifacts.map(({ parts }) => parts.map(withoutMetadata))
    const file = { raw: 'AQL/', filename: 'a.bin', mediaType: 'application/x-a' }
    assert.deepEqual(shown, [
      { data: { rows: [1, 2.5], ok: true } },
      cannotName === undefined ? file : withoutFilename(file),
    ])
    assert.deepEqual(mirror, sent)
  })
}

function failing(cell: Cell): void {
  it('a task that fails or is rejected ends in that state, with the message of the agent', async () => {
    for (const [text, state, words] of [
      ['fail', 'TASK_STATE_FAILED', 'Out of paper'],
      ['reject', 'TASK_STATE_REJECTED', 'Not my job'],
    ] as const) {
      const task = taskOf(await cell.agent.send(text))
      assert.deepEqual([task.status.state, messageText(task)], [state, words])
    }
  })

  it('invalid requests get the same errors as from any other agent', async () => {
    const codeOf = async (call: Promise<unknown>): Promise<string> =>
      call.then(
        () => 'nothing',
        (reason: unknown) => (reason instanceof A2AError ? reason.code : String(reason)),
      )
    const done = taskOf(await cell.agent.send('say hello'))
    assert.equal(await codeOf(cell.agent.get('nowhere')), 'TASK_NOT_FOUND')
    assert.equal(await codeOf(cell.agent.cancel(done.id)), 'TASK_NOT_CANCELABLE')
    assert.equal(await codeOf(cell.agent.send('more', { taskId: done.id })), 'UNSUPPORTED_OPERATION')
  })
}

function notifying(cell: Cell): void {
  it('the webhook of a caller is notified in the format of its version [B-121 B-122 B-123]', async (t) => {
    const notified = Promise.withResolvers<{ body: Record<string, unknown>; type: string; token: unknown }>()
    const server = createServer((req, res) => {
      let text = ''
      req.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      req.on('end', () => {
        res.end()
        if (!/"(TASK_STATE_COMPLETED|completed)"/.test(text)) return
        const body = JSON.parse(text) as Record<string, unknown>
        notified.resolve({
          body,
          type: String(req.headers['content-type']),
          token: req.headers['x-a2a-notification-token'],
        })
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
    const { id } = taskOf(await cell.agent.send('say hello', { push: { url, token: 's3cret' } }))
    const { body, type, token } = await notified.promise
    assert.equal(token, 's3cret')
    if (cell.caller.version === '1.0') {
      assert.match(type, /^application\/a2a\+json/)
      const { statusUpdate } = body as { statusUpdate: { taskId: string; status: { state: string } } }
      assert.deepEqual([statusUpdate.taskId, statusUpdate.status.state], [id, 'TASK_STATE_COMPLETED'])
    } else {
      assert.match(type, /^application\/json/)
      const { kind, id: named, status } = body as { kind: string; id: string; status: { state: string } }
      assert.deepEqual([kind, named, status.state], ['task', id, 'completed'])
    }
  })
}

/** A task whose agent holds, after its caller received the output so far. */
async function startTask({ agent }: Cell, text: string): Promise<TaskResponse> {
  let task = await agent.start(text)
  while (textOf(task) !== 'one two ') {
    assert.ok(!isTerminal(task.status.state), `it has ended: ${JSON.stringify(task.status)}`)
    task = await agent.get(task.id)
  }
  return task
}

function statusWords(event: StreamEvent): readonly string[] {
  const { message } = 'statusUpdate' in event ? event.statusUpdate.status : {}
  return message === undefined ? [] : [textIn(message.parts)]
}

function messageText({ status }: TaskResponse): string {
  return textIn(status.message?.parts ?? [])
}

function textIn(parts: readonly Part[]): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}

/** Without fields that a peer fills in on its own. */
function withoutMetadata({ metadata: _, ...part }: Part): object {
  const { mediaType, filename, ...rest } = part
  const isFile = 'raw' in rest || 'url' in rest
  return isFile ? { ...rest, ...(mediaType ? { mediaType } : {}), ...(filename ? { filename } : {}) } : rest
}

function withoutFilename({ filename: _, ...file }: { readonly filename: string }): object {
  return file
}
