/** `a2a server` through its command line: echo, proxy and the checks of its options. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { after, describe, it } from 'node:test'
import { inputRequired, memoryStore } from '@parley/a2a'
import { A2AError, connect } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import { serve, type ServeOptions } from '@parley/a2a/node'
import { bearer } from '@parley/a2a/server'
import { runA2a } from '../run.ts'
import { createMemoryTerminal, runInMemory, type MemoryTerminal } from '../testing/memory-terminal.ts'

const closing: (() => unknown)[] = []
after(() => Promise.all(closing.map((close) => close())))

interface RunningServer {
  readonly url: string
  readonly terminal: MemoryTerminal
  stop(): Promise<number>
}

async function start(args: readonly string[], environment: Record<string, string> = {}): Promise<RunningServer> {
  const terminal = createMemoryTerminal({ environment })
  const ended = runA2a(['server', '--port', '0', ...args], terminal)
  let isOver = false
  const stop = (): Promise<number> => {
    if (!isOver) terminal.interrupt()
    isOver = true
    return ended
  }
  closing.push(stop)
  await Promise.race([terminal.untilOutput('Card: '), ended])
  const [, url = ''] = /Listening: (\S+)/.exec(terminal.stdout) ?? []
  assert.notEqual(url, '', terminal.stderr)
  return { url, terminal, stop }
}

/** An agent behind a bearer token, as the upstream of a proxy. */
async function upstream(over: Readonly<Record<string, unknown>> = {}) {
  const server = await serve({
    name: 'Upstream',
    description: 'Answers',
    port: 0,
    store: memoryStore(),
    quiet: true,
    push: { allow: ['127.0.0.1'] },
    authenticate: bearer({ verify: (token: string) => (token === 'right-token' ? { id: 'alice' } : undefined) }),
    skills: [{ id: 'answer', name: 'Answer', description: 'Answers', tags: ['x'] }],
    extendedCard: { description: 'Answers more' },
    signing: true,
    publicUrl: undefined,
    hosts: ['127.0.0.1'],
    agent: ({ text, caller }: { text: string; caller: { id: string } }) =>
      text === 'ask' ? inputRequired('What?') : `${caller.id}: ${text}`,
    ...over,
  } as unknown as ServeOptions)
  closing.push(() => server.close())
  return server
}

describe('a2a server --echo', () => {
  it('serves the parts of the message over the bindings that it lists', async () => {
    const { url, terminal, stop } = await start([
      '--echo',
      '--name',
      'My echo',
      '--serve-transport',
      'rest',
      '--serve-transport',
      'grpc',
    ])
    const binding = grpc()
    closing.push(() => binding.close())
    const agent = await connect(url, { bindings: [binding], prefer: ['GRPC'] })
    assert.deepEqual(
      agent.card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding),
      ['HTTP+JSON', 'GRPC'],
    )
    assert.deepEqual([agent.card.name, agent.card.capabilities.streaming], ['My echo', true])
    const events = await agent.stream([{ text: 'a' }, { data: { b: 1 } }]).all()
    const [update] = events.flatMap((event) => ('artifactUpdate' in event ? [event.artifactUpdate] : []))
    assert.deepEqual([update?.artifact.parts, update?.lastChunk], [[{ text: 'a' }, { data: { b: 1 } }], true])
    assert.match(terminal.stderr, /SendStreamingMessage GRPC 1\.0 OK task /)
    assert.equal(await stop(), 0)
    await assert.rejects(fetch(url))
  })

  it('ends at once although a client streams', async () => {
    const { url, stop } = await start(['--exec', 'sleep 600', '--quiet'])
    const agent = await connect(url)
    const { id } = await agent.start('x')
    const stream = agent.subscribe(id)[Symbol.asyncIterator]()
    await stream.next()
    assert.equal(await stop(), 0)
    await stream.return?.()
  })

  it('takes the card from a file, and adds the fields of 0.3', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-card-'))
    const card = {
      name: 'From file',
      description: 'd',
      version: '7',
      skills: [{ id: 's', name: 'S', description: 'd', tags: [] }],
    }
    writeFileSync(join(folder, 'card.json'), JSON.stringify(card))
    const { url } = await start([
      '--echo',
      '--card',
      join(folder, 'card.json'),
      '--card-compat',
      '--description',
      'mine',
    ])
    const served = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as Record<string, unknown>
    assert.deepEqual([served['name'], served['description'], served['version']], ['From file', 'mine', '7'])
    assert.equal(typeof served['url'], 'string')
    const old = await start(['--echo', '--protocol', '0.3'])
    const sent = await runInMemory(['send', '-a', old.url, 'hi', '--a2a-version', '0.3'])
    assert.equal(sent.code, 0, sent.stderr)
    assert.equal((await runInMemory(['send', '-a', old.url, 'hi'])).code, 1)
  })

  it('needs exactly one mode, and options that belong together', async () => {
    for (const args of [[], ['--echo', '--exec', 'cat'], ['--echo', '--chunk', 'x'], ['--echo', '--port', '99999']]) {
      const { code } = await runInMemory(['server', ...args])
      assert.equal(code, 2, args.join(' '))
    }
  })

  it('refuses pages of other sites', async () => {
    const { url } = await start(['--echo'])
    const { status } = await fetch(`${url}/.well-known/agent-card.json`, {
      headers: { origin: 'https://evil.example' },
    })
    assert.equal(status, 403)
  })
})

describe('a2a server --proxy', () => {
  it('forwards every operation with its credential, and keeps the ids of the upstream', async () => {
    const server = await upstream()
    const { url, terminal } = await start(['--proxy', server.url], { A2ACLI_BEARER: 'right-token' })
    const agent = await connect(url)
    const direct = await connect(server.url, { bearer: 'right-token' })
    assert.deepEqual([agent.card.name, agent.card.skills[0]?.id], ['Upstream', 'answer'])
    assert.deepEqual([agent.card.signatures, agent.card.securitySchemes], [undefined, undefined])
    for (const { url: local } of agent.card.supportedInterfaces) assert.ok(local.startsWith(url))

    assert.equal(await agent.ask('hi'), 'alice: hi')
    assert.equal(await agent.stream('there').text(), 'alice: there')
    const asked = await agent.start('ask')
    const waiting = await agent.wait(asked.id)
    assert.equal(waiting.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.deepEqual((await direct.get(asked.id)).status, waiting.status)
    assert.ok((await agent.list()).tasks.some(({ id }) => id === asked.id))
    const config = await agent.push.set(asked.id, { url: 'http://127.0.0.1:9/x', id: 'c' })
    assert.equal(config.id, 'c')
    assert.equal((await direct.push.get(asked.id, 'c')).url, 'http://127.0.0.1:9/x')
    assert.equal((await agent.push.list(asked.id)).configs.length, 1)
    await agent.push.delete(asked.id, 'c')
    assert.equal((await agent.cancel(asked.id)).status.state, 'TASK_STATE_CANCELED')
    await assert.rejects(agent.get('unknown'), (error) => error instanceof A2AError && error.code === 'TASK_NOT_FOUND')
    assert.equal((await agent.extendedCard()).description, 'Answers more')
    assert.match(terminal.stderr, /CancelTask \S+ 1\.0 OK task /)
    assert.doesNotMatch(terminal.stdout + terminal.stderr, /right-token/)
  })

  it('limits a message by --max-answer, and no stream, which it does not keep', async () => {
    const server = await upstream({
      authenticate: undefined,
      extendedCard: undefined,
      async *agent({ text }: { text: string }) {
        for (let i = 0; i < 10; i += 1) yield text
      },
    })
    const { url, terminal } = await start(['--proxy', server.url, '--max-answer', '100kB'])
    const agent = await connect(url)
    const text = 'x'.repeat(20_000)
    assert.equal((await agent.stream(text).text()).length, 10 * text.length)
    await assert.rejects(agent.ask(text), { code: 'INTERNAL' })
    assert.match(terminal.stderr, /--max-answer 100kB/)
  })

  it('translates bindings and versions', async () => {
    const server = await upstream({
      versions: ['0.3'],
      omitInterfaces: ['HTTP+JSON'],
      authenticate: undefined,
      extendedCard: undefined,
    })
    const { url } = await start(['--proxy', '-a', server.url, '--a2a-version', '0.3', '--serve-transport', 'rest'])
    const agent = await connect(url)
    assert.deepEqual([agent.interface.protocolBinding, agent.interface.version], ['HTTP+JSON', '1.0'])
    assert.equal(await agent.stream('hi').text(), 'anonymous: hi')
  })

  it('says that its port is in use, and how to choose another', async () => {
    const { url } = await start(['--echo'])
    const { port } = new URL(url)
    const { code, stdout } = await runInMemory(['server', '--echo', '--port', port, '-o', 'json'])
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } }
    assert.deepEqual([code, error.code], [2, 'A2ACLI_ERR_USAGE'])
    assert.equal(error.message, `Cannot listen on 127.0.0.1:${port}: the port is in use.`)
    assert.match(error.hint, /--port <port>/)
  })

  it('reports an upstream that cannot be reached', async () => {
    const { code, stdout } = await runInMemory(['server', '--proxy', 'http://127.0.0.1:1', '-o', 'json'])
    assert.deepEqual([code, JSON.parse(stdout).error.code], [3, 'A2ACLI_ERR_UNREACHABLE'])
  })
})

describe('a2a server --exec', () => {
  it('ends its programs at the second Ctrl-C: a third one ends the process at once', { timeout: 120_000 }, async () => {
    const { url, terminal, stop } = await start([
      '--exec',
      `trap '' TERM; echo "$$"; sleep 300; :`,
      '--chunk',
      String.raw`\n`,
    ])
    const agent = await connect(url)
    let pid = 0
    for await (const event of agent.stream('go')) {
      const parts = 'artifactUpdate' in event ? event.artifactUpdate.artifact.parts : []
      pid = Number(parts.flatMap((part) => ('text' in part ? [part.text] : [])).join(''))
      if (pid > 0) break
    }
    const ended = stop()
    terminal.interrupt()
    while (isRunning(pid)) await nextTick()
    assert.equal(await ended, 0)
  })
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
