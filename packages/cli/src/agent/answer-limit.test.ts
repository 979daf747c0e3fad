/** `--max-answer` and `--timeout` against servers that write until the client hangs up. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { artifact } from '@parley/a2a'
import { serveDemoAgent } from '../testing/demo-agent.ts'
import { runInMemory } from '../testing/memory-terminal.ts'

const chunk = 'x'.repeat(10_000)
const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }
const update = { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [{ text: chunk }] }, append: true }
const event = (value: object, id?: number): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Writes more than any limit here, as fast as the client reads, and never ends. */
function writeForever(response: ServerResponse, text: string): void {
  let left = 150_000_000
  const write = (): void => {
    while (!response.destroyed && (left -= text.length) > 0 && response.write(text));
  }
  response.on('drain', write)
  write()
}

const endlessStream: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(event({ task }))
  writeForever(response, event({ artifactUpdate: update }))
}
const endlessJson: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  writeForever(response, ' '.repeat(100_000))
}

/** An agent over HTTP+JSON. `left` resolves when the client has hung up on an answer that had not ended. */
async function serveAnswer(answer: Answer, { streaming = true, cardAnswer }: ServedCard = {}) {
  const left = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  let requests = 0
  const server = createServer((request, response) => {
    if (request.url === '/.well-known/agent-card.json' && cardAnswer === undefined) return response.end(cardText())
    requests += 1
    request.resume()
    response.on('close', () => response.writableFinished || left.resolve())
    ;(cardAnswer ?? answer)(request, response)
    asked.resolve()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cardText = (): string =>
    JSON.stringify({
      name: 'Endless',
      description: 'Never ends',
      version: '1',
      supportedInterfaces: [{ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
      capabilities: { streaming },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [],
    })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url, left: left.promise, asked: asked.promise, requestCount: () => requests }
}

interface ServedCard {
  readonly streaming?: boolean
  readonly cardAnswer?: Answer
}

interface Envelope {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string }
}
const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''
const errorOf = (text: string): Envelope['error'] => (JSON.parse(text) as Envelope).error
const tooLarge = {
  code: 'A2ACLI_ERR_INTERNAL',
  message: 'The answer of the agent is larger than --max-answer 1MB.',
  hint: 'Choose a larger --max-answer. 0 means no limit.',
  a2aCode: null,
}

describe('an answer without an end', () => {
  for (const command of [
    ['send', 'hi'],
    ['task', 'subscribe', 't'],
  ])
    it(`ends \`${command.join(' ')}\` at --max-answer, after its events are printed`, async () => {
      const agent = await serveAnswer(endlessStream)
      const args = [...command, '-a', agent.url, '-o', 'json', '--max-answer', '1MB']
      const { code, stdout } = await runInMemory([...args, '--stream'])
      await agent.left
      assert.equal(code, 1)
      assert.deepEqual(errorOf(lastLine(stdout)), tooLarge)
      const lines = stdout.trimEnd().split('\n')
      assert.deepEqual(JSON.parse(lines[0] ?? ''), { task })
      assert.ok(lines.length > 50, `${lines.length} events`)
      assert.equal(agent.requestCount(), 1, 'no new connection')
      const document = await runInMemory(args)
      assert.deepEqual([document.code, errorOf(document.stdout)], [1, tooLarge])
    })

  it('is printed on a terminal until the limit', async () => {
    const agent = await serveAnswer(endlessStream)
    const options = { isTerminal: true, environment: { NO_COLOR: '1' } }
    const { code, stdout, stderr } = await runInMemory(['send', 'hi', '-a', agent.url, '--max-answer', '1MB'], options)
    await agent.left
    assert.equal(code, 1)
    assert.ok(stdout.startsWith(chunk))
    assert.match(stderr, /^Error: The answer of the agent is larger than --max-answer 1MB\.$/m)
  })

  for (const [command, streaming] of [
    [['send', 'hi'], false],
    [['send', 'hi', '--async'], true],
    [['task', 'get', 't'], true],
    [['task', 'list'], true],
    [['task', 'cancel', 't'], true],
  ] as const)
    it(`ends \`${command.join(' ')}\` without a stream`, async () => {
      const agent = await serveAnswer(endlessJson, { streaming })
      const { code, stdout } = await runInMemory([...command, '-a', agent.url, '-o', 'json', '--max-answer', '1MB'])
      await agent.left
      assert.deepEqual([code, errorOf(stdout)], [1, tooLarge])
      assert.equal(agent.requestCount(), 1, 'no second attempt')
    })

  it('counts a stream with the connections that continue it', async () => {
    let id = 0
    const agent = await serveAnswer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (id === 0) response.write(event({ task }, id))
      for (let i = 0; i < 20; i += 1) response.write(event({ artifactUpdate: update }, ++id))
      response.end()
    })
    const { code, stdout } = await runInMemory([
      'send',
      'hi',
      '-a',
      agent.url,
      '-o',
      'json',
      '--stream',
      '--max-answer',
      '500kB',
    ])
    assert.equal(code, 1)
    assert.match(errorOf(lastLine(stdout)).message, /--max-answer 500kB/)
    assert.equal(agent.requestCount(), 3)
  })

  it('ends at --timeout', async () => {
    const agent = await serveAnswer(endlessStream)
    const args = ['send', 'hi', '-a', agent.url, '-o', 'json', '--timeout', '200ms', '--max-answer', '0']
    const { code, stdout } = await runInMemory(args)
    await agent.left
    assert.equal(code, 5)
    assert.match(errorOf(stdout).message, /--timeout 200ms/)
  })

  it('of 100 MB is the default limit [full]', async () => {
    const agent = await serveAnswer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event({ task }))
      const parts = [{ text: 'x'.repeat(1_000_000) }]
      writeForever(response, event({ artifactUpdate: { ...update, artifact: { artifactId: 'a', parts } } }))
    })
    const { code, stdout } = await runInMemory(['send', 'hi', '-a', agent.url, '-o', 'json'])
    await agent.left
    assert.equal(code, 1)
    assert.match(errorOf(stdout).message, /--max-answer 100MB/)
  })

  it('ends over gRPC, as a stream and as one message', async () => {
    const left = Promise.withResolvers<void>()
    const server = await serveDemoAgent({
      grpcPort: 0,
      agent: async function* ({ text, signal }) {
        if (text === 'large') {
          yield artifact('a', { text: 'x'.repeat(2_000_000) })
          return
        }
        signal.addEventListener('abort', () => left.resolve(), { once: true })
        // Three times the limit. All of it stays in the memory of this process.
        for (let n = 0; n < 300; n += 1) yield chunk
        await left.promise
      },
    })
    const run = (...args: string[]) =>
      runInMemory([...args, '-a', server.url, '--transport', 'grpc', '-o', 'json', '--max-answer', '1MB'])
    const { code, stdout } = await run('send', 'endless', '--stream')
    assert.deepEqual([code, errorOf(lastLine(stdout))], [1, tooLarge])
    assert.ok(stdout.split('\n').length > 10)
    const { task: sent } = JSON.parse(stdout.split('\n')[0] ?? '') as { task: { id: string } }
    await runInMemory(['task', 'cancel', sent.id, '-a', server.url])
    await left.promise
    const large = await run('send', 'large')
    assert.deepEqual([large.code, errorOf(large.stdout)], [1, tooLarge])
  })
})

describe('a catalog without an end', () => {
  const find = (url: string, ...more: string[]) =>
    runInMemory(['send', 'hi', '-a', 'baker', '--catalog', `${url}/catalog`, '-o', 'json', ...more])

  it('is read up to a limit of bytes, which --max-answer raises', async () => {
    for (const [more, size] of [
      [[], '16.0 MB'],
      [['--max-answer', '20MB'], '20.0 MB'],
    ] as const) {
      const agent = await serveAnswer(endlessJson)
      const { code, stdout } = await find(agent.url, ...more)
      await agent.left
      assert.equal(code, 1)
      const { code: name, message, hint } = errorOf(stdout)
      assert.equal(name, 'A2ACLI_ERR_INTERNAL')
      assert.equal(message, `The catalog ${agent.url}/catalog is larger than ${size}.`)
      assert.equal(hint, 'Choose a larger --max-answer. 0 means no limit.')
    }
  })

  it('must arrive within --timeout', async (context) => {
    const silent: Answer = (_, response) => void response.writeHead(200).write('[')
    const given = await serveAnswer(silent)
    const { code, stdout } = await find(given.url, '--timeout', '200ms')
    await given.left
    assert.equal(code, 5)
    assert.match(errorOf(stdout).message, /--timeout 200ms/)

    const agent = await serveAnswer(silent)
    context.mock.timers.enable({ apis: ['setTimeout'] })
    const running = find(agent.url)
    await agent.asked
    context.mock.timers.tick(30_000)
    const atDefault = await running
    await agent.left
    assert.equal(atDefault.code, 5)
    assert.equal(
      errorOf(atDefault.stdout).message,
      `The catalog ${agent.url}/catalog did not arrive within --timeout 30s.`,
    )
  })
})

describe('a card without an end', () => {
  it('is read up to a limit of bytes, which --max-answer raises', async () => {
    for (const [more, size] of [
      [[], '1.0 MB'],
      [['--max-answer', '2MB'], '2.0 MB'],
    ] as const) {
      const agent = await serveAnswer(endlessJson, { cardAnswer: endlessJson })
      const { code, stdout } = await runInMemory(['card', 'get', '-a', agent.url, '-o', 'json', ...more])
      await agent.left
      assert.equal(code, 1)
      const { code: name, message, hint } = errorOf(stdout)
      assert.equal(name, 'A2ACLI_ERR_CARD_INVALID')
      assert.equal(message, `${agent.url}: The card is larger than ${size}.`)
      assert.equal(hint, 'Choose a larger --max-answer. 0 means no limit.')
    }
  })
})

describe('--max-answer', () => {
  it('is a size', async () => {
    const { code, stdout } = await runInMemory(['send', 'hi', '-a', 'x.test', '-o', 'json', '--max-answer', 'much'])
    assert.equal(code, 2)
    assert.equal(errorOf(stdout).message, '--max-answer: "much" is no size.')
  })
})
