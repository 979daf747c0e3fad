/**
 * Section 9 of the 0.2 text, run in order by a client that has only the document: its requests byte for
 * byte, and the documented answers. Once without a version, as clients of 0.2 send them, and once with one.
 */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { AgentFunction } from '@parley/a2a'
import { createHandler } from '@parley/a2a/server'
import type { AgentSettings, Handler } from '@parley/a2a/server'
import { memoryStore } from '@parley/a2a'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { assistant, found, itinerary, joke, output, question, quick, tickets } from './v0-2-agent.ts'
import { bodyOf, exampleRequests } from './v0-2-documents.ts'

const token = '<obtained_access_token>'
const webhook = 'https://client.example.com/webhook/a2a-notifications'
const uuid = /^[\da-f-]{36}$/

interface Notification {
  readonly url: string
  readonly headers: Headers
  readonly body: any
}

for (const version of [undefined, '0.2']) {
  describe(
    `the examples of 0.2, ${version === undefined ? 'without a version' : `as ${version}`}`,
    { timeout: 120_000 },
    () => {
      const reportIsDue = Promise.withResolvers<void>()
      const notifications: Notification[] = []
      const handlers: Handler[] = []
      let main: Handler
      let direct: Handler

      function open(agent: AgentSettings['agent']): Handler {
        const handler = createHandler({
          store: memoryStore(),
          agent,
          name: 'GeoSpatial Route Planner Agent',
          publicUrl: 'https://example.com',
          securitySchemes: {
            google: {
              openIdConnectSecurityScheme: {
                openIdConnectUrl: 'https://accounts.google.com/.well-known/openid-configuration',
              },
            },
          },
          extendedCard: { description: 'For those who are known' },
          authenticate: ({ header }) => (header('authorization') === `Bearer ${token}` ? { id: 'client' } : undefined),
          push: {
            async fetch(request) {
              const body = JSON.parse(await request.text())
              const { url, headers } = request
              notifications.push({ url, headers, body })
              return new Response()
            },
          },
        })
        handlers.push(handler)
        return handler
      }
      before(() => {
        main = open(assistant(reportIsDue.promise))
        direct = open(quick)
      })
      after(() => Promise.all(handlers.map((handler) => handler.close())))

      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(version === undefined ? {} : { 'a2a-version': version }),
      }
      const post = (handler: Handler, body: string): Promise<Response> =>
        handler.fetch(new Request('https://example.com/a2a', { method: 'POST', headers, body }))

      /** The result of a request of the document, under its id. */
      async function resultOf(handler: Handler, body: string): Promise<any> {
        const response = await post(handler, body)
        assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/json'])
        const answer = JSON.parse(await response.text())
        assert.deepEqual([answer.jsonrpc, answer.id, answer.error], ['2.0', JSON.parse(body).id, undefined])
        return answer.result
      }

      it('9.1: the public card declares an extended one, which an authenticated caller gets [S1-1]', async () => {
        const read = async (path: string, init: RequestInit = {}) => {
          const response = await main.fetch(new Request(`https://example.com${path}`, init))
          return { status: response.status, card: JSON.parse(await response.text()) }
        }
        const open = await read('/.well-known/agent.json')
        assert.equal(open.status, 200)
        assert.deepEqual(
          [open.card.url, open.card.supportsAuthenticatedExtendedCard, open.card.securitySchemes.google.type],
          ['https://example.com/a2a', true, 'openIdConnect'],
        )
        const path = '/a2a/agent/authenticatedExtendedCard'
        assert.equal((await read(path)).status, 401)
        const extended = await read(path, { headers: { authorization: headers.authorization } })
        assert.deepEqual([extended.status, extended.card.description], [200, 'For those who are known'])
      })

      it('9.2: a question is answered with a task, or without one [S1-2]', async () => {
        const task = await resultOf(main, bodyOf('9.2', 'a joke, in a task'))
        assert.deepEqual([task.kind, task.status.state], ['task', 'completed'])
        assert.match(task.id, uuid)
        assert.match(task.contextId, uuid)
        const [produced] = task.artifacts
        assert.deepEqual([produced.name, produced.parts], ['joke', [{ kind: 'text', text: joke }]])
        const [asked] = task.history
        assert.deepEqual(
          [asked.role, asked.messageId, asked.taskId, asked.contextId],
          ['user', '9229e770-767c-417b-a0b0-f0741243c589', task.id, task.contextId],
        )
        const message = await resultOf(direct, bodyOf('9.2', 'a joke, without a task'))
        assert.deepEqual([message.kind, message.parts], ['message', [{ kind: 'text', text: joke }]])
        assert.match(message.contextId, uuid)
        assert.equal(message.taskId, undefined)
      })

      it('9.3: a paper is streamed in sections; its request needs the envelope that the document omits [S1-3]', async () => {
        const bare = JSON.parse(bodyOf('9.3', 'a paper, streamed'))
        const refused = JSON.parse(await (await post(main, JSON.stringify(bare))).text())
        assert.deepEqual([refused.id, refused.error.code], [null, -32600])
        const stream = await post(main, JSON.stringify({ jsonrpc: '2.0', id: 1, ...bare }))
        assert.equal(stream.status, 200)
        assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/)
        const frames = [...(await stream.text()).matchAll(/^data: (.*)$/gm)].map(([, json]) =>
          JSON.parse(json as string),
        )
        assert.ok(frames.every(({ jsonrpc, id }) => jsonrpc === '2.0' && id === 1))
        const events = frames.map(({ result }) => result).filter(({ status }) => status?.state !== 'working')
        const [first, ...others] = events
        assert.deepEqual([first.kind, first.status.state], ['task', 'submitted'])
        assert.equal(first.history[0].messageId, 'bbb7dee1-cf5c-4683-8a6f-4114529da5eb')
        const last = others.pop()
        assert.deepEqual(
          others.map(({ kind, artifact, append, lastChunk }) => [
            kind,
            artifact.parts[0].text,
            append ?? false,
            lastChunk ?? false,
          ]),
          [
            ['artifact-update', '<section 1...>', false, false],
            ['artifact-update', '<section 2...>', true, false],
            ['artifact-update', '<section 3...>', true, true],
          ],
        )
        assert.deepEqual([last.kind, last.status.state, last.final], ['status-update', 'completed', true])
        assert.ok(
          [...others, last].every(({ taskId, contextId }) => taskId === first.id && contextId === first.contextId),
        )
      })

      it('9.4: a task asks, and continues with the answer [S1-4]', async () => {
        const asks = await resultOf(main, bodyOf('9.4', 'a flight'))
        assert.deepEqual([asks.kind, asks.status.state, asks.status.message.role], ['task', 'input-required', 'agent'])
        assert.deepEqual(asks.status.message.parts, [{ kind: 'text', text: question }])
        assert.equal(asks.history[0].messageId, 'c53ba666-3f97-433c-a87b-6084276babe2')
        const done = await resultOf(
          main,
          bodyOf('9.4', 'what the flight needs', {
            '3f36680c-7f37-4a5f-945e-d78981fafd36': asks.id,
            'c295ea44-7543-4f78-b524-7a38915ad6e4': asks.contextId,
          }),
        )
        assert.deepEqual([done.id, done.contextId, done.status.state], [asks.id, asks.contextId, 'completed'])
        assert.deepEqual(done.status.message.parts, [{ kind: 'text', text: found }])
        const [flight] = done.artifacts
        assert.deepEqual([flight.name, flight.parts], ['FlightItinerary.json', [{ kind: 'data', data: itinerary }]])
        assert.deepEqual(
          done.history.map(({ role, parts: [part] }: any) => [role, part.text.slice(0, 6)]),
          [
            ['user', "I'd li"],
            ['agent', 'Sure, '],
            ['user', 'I want'],
          ],
        )
      })

      it('9.5: a send with a webhook is acknowledged at once, and the webhook gets the task once it has ended [S1-5 B-66 B-122]', async () => {
        const task = await resultOf(main, bodyOf('9.5', 'a report, with a webhook'))
        // The report is not due before this: a blocking send would wait forever.
        assert.match(task.status.state, /^(submitted|working)$/)
        reportIsDue.resolve()
        await eventually(
          async () => (await main.push?.cursors(task.id))?.[0]?.state === 'done',
          'the webhook to be done',
        )
        const bodies = notifications.map((one) => JSON.stringify(one.body))
        assert.deepEqual(bodies, [...new Set(bodies)], 'no task is told twice')
        assert.equal(notifications.filter((one) => one.body.status.state === 'completed').length, 1)
        const { url, headers: sent, body } = notifications.at(-1) as Notification
        assert.equal(url, webhook)
        // The whole task, as it is afterwards.
        assert.deepEqual(
          body,
          await resultOf(main, JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tasks/get', params: { id: task.id } })),
        )
        assert.equal(body.status.state, 'completed')
        assert.ok(body.artifacts.length > 0)
        assert.equal(sent.get('x-a2a-notification-token'), 'secure-client-token-for-task-aaa')
        assert.equal(sent.get('content-type'), 'application/json')
        assert.deepEqual([body.kind, body.id, body.contextId], ['task', task.id, task.contextId])
      })

      // With the messageId of 9.5, as in the document.
      it('9.6: an image is sent as bytes and returned as a URL [S1-6]', async () => {
        const task = await resultOf(main, bodyOf('9.6', 'a picture'))
        assert.equal(task.status.state, 'completed')
        const image = { name: 'output.png', mimeType: 'image/png', uri: output }
        assert.deepEqual(task.artifacts[0].parts, [{ kind: 'file', file: image }])
      })

      it('9.7: metadata of a part describe the form of the answer [S1-7]', async () => {
        const task = await resultOf(main, bodyOf('9.7', 'a list of tickets'))
        assert.equal(task.status.state, 'completed')
        assert.deepEqual(task.artifacts[0].parts, [{ kind: 'text', text: tickets }])
        assert.equal(task.history[0].parts[0].metadata.mimeType, 'application/json')
      })
    },
  )
}

describe('an error of 0.2', () => {
  const handler = createHandler({ store: memoryStore(), agent: (() => 'x') satisfies AgentFunction })
  after(() => handler.close())
  async function errorOf(body: object): Promise<any> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const answer = JSON.parse(await (await handler.fetch(new Request('http://localhost/', init))).text())
    return { id: answer.id, ...answer.error }
  }

  it('has the format of 0.2, and the id of a request is checked before its params [S1-8]', async () => {
    const message = { role: 'ROLE', parts: [{ kind: 'text', text: 'x' }], messageId: 'm' }
    const wrong = await errorOf({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } })
    assert.deepEqual([wrong.id, wrong.code], [1, -32602])
    assert.match(wrong.message, /message\.role must be user or agent/)
    assert.doesNotMatch(JSON.stringify(wrong), /ROLE_|TASK_STATE/)
    const nameless = await errorOf({ jsonrpc: '2.0', method: 'message/send', params: { message } })
    assert.deepEqual([nameless.id, nameless.code], [null, -32600])
    const odd = await errorOf({ jsonrpc: '2.0', id: {}, method: 'message/send', params: { message } })
    assert.deepEqual([odd.id, odd.code], [null, -32600])
  })
})

describe('the requests of the examples', () => {
  const seeds = join(import.meta.dirname, '../../../shared/seeds')
  const skip = existsSync(seeds) ? false : 'the documents are not beside this repository'
  it('are those of the document, byte for byte', { skip }, () => {
    const [name] = globSync('001_*.txt', { cwd: seeds })
    assert.ok(name !== undefined)
    const document = readFileSync(join(seeds, name), 'utf8')
    const section = document.slice(document.indexOf('\n9. '), document.indexOf('\n10. Appendices'))
    assert.equal(section.match(/^"method":/gm)?.length, exampleRequests.length)
    for (const { title, text } of exampleRequests) assert.ok(section.includes(`\n${text}\n`), title)
  })
})
