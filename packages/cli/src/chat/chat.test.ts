/** `a2a chat` against real agents, in a terminal in memory. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { artifact, authRequired, inputRequired, memoryStore, status } from '@parley/a2a'
import type { AgentFunction } from '@parley/a2a'
import { serve, type ServeOptions, type Server } from '@parley/a2a/node'
import { clientTools, credentials } from '@parley/a2a/server'
import { runA2a } from '../run.ts'
import { createMemoryTerminal, runInMemory, type MemoryTerminal } from '../testing/memory-terminal.ts'

const servers: Server[] = []
after(() => Promise.all(servers.map((server) => server.close())))

async function start(agent: AgentFunction, over: Partial<ServeOptions> = {}): Promise<Server> {
  const server = await serve({
    name: 'Chatty',
    agent,
    port: 0,
    store: memoryStore(),
    quiet: true,
    ...over,
  } as ServeOptions)
  servers.push(server)
  return server
}

interface Chat {
  readonly terminal: MemoryTerminal
  readonly ended: Promise<number>
  type(line: string): void
}

function chat(
  url: string,
  args: readonly string[] = [],
  environment: Record<string, string> = { NO_COLOR: '1' },
): Chat {
  const terminal = createMemoryTerminal({ isTerminal: true, environment })
  const ended = runA2a(['chat', '-a', url, ...args], terminal)
  return {
    terminal,
    ended,
    type: (line) => void (terminal.input as NodeJS.WritableStream & typeof terminal.input).write(`${line}\n`),
  }
}

describe('a chat', () => {
  it('carries the context, and the task while it waits for an answer', async () => {
    const turns: (readonly [string, string, string])[] = []
    const server = await start(({ text, task }) => {
      turns.push([text, task.id, task.contextId])
      return text === 'Book' ? inputRequired('For how many?') : `Done: ${text}`
    })
    const { terminal, ended, type } = chat(server.url)
    type('Book')
    await terminal.untilOutput('[input required] > ')
    type('two')
    await terminal.untilOutput('Done: two')
    type('Thanks')
    await terminal.untilOutput('Done: Thanks')
    type('/exit')
    assert.equal(await ended, 0)
    const [first, second, third] = turns
    assert.deepEqual(
      turns.map(([text]) => text),
      ['Book', 'two', 'Thanks'],
    )
    assert.equal(first?.[1], second?.[1])
    assert.notEqual(second?.[1], third?.[1])
    assert.equal(new Set(turns.map(([, , contextId]) => contextId)).size, 1)
    assert.match(
      terminal.stdout,
      new RegExp(`Context ID: ${third?.[2]}\nTask ID: ${third?.[1]}\nState: TASK_STATE_COMPLETED\n`),
    )
    assert.match(terminal.stdout, new RegExp(`Resume: a2a chat -a \\S+ --context-id ${third?.[2]}\n$`))
  })

  it('continues by the ids that it printed', async () => {
    const server = await start(({ text, task }) =>
      text === 'Book' ? inputRequired('For how many?') : `${text} of ${task.id}`,
    )
    const first = chat(server.url, ['Book'])
    await first.terminal.untilOutput('[input required] > ')
    ;(first.terminal.input as unknown as NodeJS.WritableStream).end()
    assert.equal(await first.ended, 0)
    const [, ids = ''] = /Resume: a2a chat -a \S+ (.*)\n$/.exec(first.terminal.stdout) ?? []
    const [, taskId = ''] = /--task-id (\S+)/.exec(ids) ?? []
    const second = chat(server.url, ids.split(' '))
    second.type('two')
    await second.terminal.untilOutput(`two of ${taskId}`)
    second.type('/exit')
    await second.ended
  })

  it('renders Markdown while it arrives, and shows data, files and progress', async () => {
    const server = await start(async function* () {
      yield status('Thinking')
      yield artifact('a', { text: 'Some **bo' })
      yield artifact('a', { text: 'ld** text\n', append: true })
      yield artifact('b', { data: { n: 1 } })
      yield artifact('c', { parts: [{ raw: 'AAAA', filename: 'x.bin', mediaType: 'application/octet-stream' }] })
      yield artifact('d', { text: '\u001B[2Jevil' })
    })
    const { terminal, ended, type } = chat(server.url, ['hi'], {})
    await terminal.untilOutput('evil')
    type('/exit')
    await ended
    assert.ok(terminal.stdout.includes('\u001B[2m… Thinking\u001B[22m\n'))
    assert.ok(terminal.stdout.includes('Some \u001B[1mbold\u001B[22m text\n'))
    assert.match(terminal.stdout, /\n\{\n {2}"n": 1\n\}\n/)
    assert.match(terminal.stdout, /File: x\.bin \(application\/octet-stream, 3 B\)/)
    assert.match(terminal.stdout, /\\u001b\[2Jevil/)
  })

  it('stops waiting at Ctrl-C, and cancels the task at the second', async () => {
    const server = await start(async function* ({ signal }) {
      yield 'begun'
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    const { terminal, ended, type } = chat(server.url)
    type('go')
    await terminal.untilOutput('begun')
    terminal.interrupt()
    await terminal.untilOutput('continues. /wait follows it')
    terminal.interrupt()
    await terminal.untilOutput('TASK_STATE_CANCELED\n')
    terminal.interrupt()
    assert.equal(await ended, 0)
    assert.match(terminal.stdout, /State: TASK_STATE_CANCELED\n/)
  })

  it('asks for a secret without showing it, and sends it marked as one', async () => {
    let received = ''
    const server = await start(
      ({ text }) => {
        if (text === 'go') return authRequired('Which key?', { inBand: true })
        received = text
        return 'Thank you'
      },
      { extensions: [credentials(), clientTools()] },
    )
    const { terminal, ended, type } = chat(server.url)
    type('go')
    await terminal.untilOutput('Secret (not shown, empty: later): ')
    type('hunter2')
    await terminal.untilOutput('Thank you')
    type('/exit')
    await ended
    assert.equal(received, 'hunter2')
    assert.doesNotMatch(terminal.stdout + terminal.stderr, /hunter2/)
    const [, taskId = ''] = /Task ID: (\S+)/.exec(terminal.stdout) ?? []
    const task = await runInMemory(['task', 'get', taskId, '-a', server.url, '--history', '10', '-o', 'json'])
    assert.equal(JSON.parse(task.stdout).history.length > 1, true)
    assert.doesNotMatch(task.stdout, /hunter2/)
  })

  it('waits for a credential that is passed to the agent elsewhere', async () => {
    let hasCredential = false
    const granted = Promise.withResolvers<void>()
    const server = await start(async function* ({ askMessage }) {
      void askMessage('Sign in at https://id.example', { auth: true }).catch(() => {})
      await granted.promise
      yield `Signed in: ${hasCredential}`
    })
    const { terminal, ended, type } = chat(server.url, ['--poll-interval', '50ms'])
    type('go')
    await terminal.untilOutput('[auth required] > ')
    assert.match(terminal.stdout, /Sign in at https:\/\/id\.example\n/)
    type('/wait')
    hasCredential = true
    granted.resolve()
    await terminal.untilOutput('Signed in: true')
    type('/exit')
    await ended
  })

  it('adds files to the next message, and explains errors without ending', async () => {
    const server = await start(({ message }) => message.parts.map((part) => part.filename ?? 'text').join(' '))
    const { terminal, ended, type } = chat(server.url)
    type('/file /nowhere/x')
    await terminal.untilError('Error: /file /nowhere/x cannot be read: no such file.')
    type('/data {bad')
    await terminal.untilError('Error: /data {bad is not JSON')
    type('/data {"a":1}')
    await terminal.untilOutput('Added to the next message')
    type('/file https://files.example/a.png')
    type('look')
    await terminal.untilOutput('text text a.png')
    type('/unknown')
    await terminal.untilOutput('Unknown command /unknown')
    type('/task')
    await terminal.untilOutput('State: TASK_STATE_COMPLETED')
    type('/exit')
    assert.equal(await ended, 0)
  })
})

describe('the open tasks of a chat', () => {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const gate = (name: string): PromiseWithResolvers<void> => {
    const known = gates.get(name) ?? Promise.withResolvers<void>()
    gates.set(name, known)
    return known
  }
  const workOrAnswer: AgentFunction = async function* ({ text, signal }) {
    const [command, name = ''] = text.split(' ')
    if (command !== 'work') {
      yield `Done: ${text}`
      return
    }
    yield `begun ${name}`
    await Promise.race([gate(name).promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
    yield ` and finished ${name}`
  }

  it('are followed and canceled after other messages, and named by /task and at the end', async () => {
    const server = await start(workOrAnswer)
    const { terminal, ended, type } = chat(server.url)
    type('/wait')
    await terminal.untilOutput('There is no open task.')
    for (const name of ['one', 'two']) {
      type(`work ${name}`)
      await terminal.untilOutput(`begun ${name}`)
      terminal.interrupt()
      await terminal.untilOutput(`${name}\nStopped waiting; task`)
    }
    const [first = '', second = ''] = [...terminal.stdout.matchAll(/task (\S+) continues/g)].map(([, id = '']) => id)
    type('hello')
    await terminal.untilOutput('Done: hello')
    type('/task')
    await terminal.untilOutput(`Open Task: ${first} (working)\nOpen Task: ${second} (working)\n`)
    gate('two').resolve()
    type('/wait')
    await terminal.untilOutput('and finished two')
    type('again')
    await terminal.untilOutput('Done: again')
    type(`/cancel ${first}`)
    await terminal.untilOutput(`Task ${first}: TASK_STATE_CANCELED`)
    type('/cancel')
    type('work three')
    await terminal.untilOutput('begun three')
    terminal.interrupt()
    await terminal.untilOutput('three\nStopped waiting; task')
    type('bye')
    await terminal.untilOutput('Done: bye')
    type('/exit')
    assert.equal(await ended, 0)
    assert.match(terminal.stdout, /Resume: .*\n\nOpen Task: \S+ \(working\)\n$/)
    assert.equal(terminal.stdout.match(/Done: hello/g)?.length, 1)
    assert.equal(terminal.stdout.match(/There is no open task\./g)?.length, 2)
  })

  it('are also those of an earlier conversation, whose ids are printed at the end', async () => {
    const server = await start(workOrAnswer)
    const { terminal, ended, type } = chat(server.url)
    type('work early')
    await terminal.untilOutput('begun early')
    terminal.interrupt()
    await terminal.untilOutput('Stopped waiting; task')
    type('/new')
    await terminal.untilOutput('New context.')
    gate('early').resolve()
    type('/wait')
    await terminal.untilOutput('and finished early')
    type('/new')
    type('/exit')
    assert.equal(await ended, 0)
    assert.match(
      terminal.stdout,
      /Context ID: \S+\nTask ID: \S+\nState: \S+\nResume: a2a chat -a \S+ --context-id \S+\n/,
    )
  })

  it('have files, which a command saves', async () => {
    const server = await start(async function* () {
      yield artifact('a', { parts: [{ raw: 'AAAA', filename: 'x.bin', mediaType: 'application/octet-stream' }] })
    })
    const { terminal, ended, type } = chat(server.url, ['hi'])
    await terminal.untilOutput('Download: ')
    type('/exit')
    await ended
    const [, id] = /Task ID: (\S+)/.exec(terminal.stdout) ?? []
    assert.ok(terminal.stdout.includes(`Download: a2a task download -a ${server.url} ${id}\n`))
  })
})

describe('a chat without a terminal', () => {
  it('sends its text once, as send does, and never prompts', async () => {
    const server = await start(({ text }) => `You said **${text}**`)
    const chatted = await runInMemory(['chat', '-a', server.url, 'hi'], { input: 'ignored\n' })
    assert.equal(chatted.code, 0)
    assert.match(chatted.stdout, /^Task ID: .*\n(.*\n)*Text: You said \*\*hi\*\*\n/)
    assert.equal(chatted.stdout.includes('\u001B') || chatted.stdout.includes('>'), false)
    const json = await runInMemory(['chat', '-a', server.url, 'hi', '-o', 'json'])
    assert.equal(JSON.parse(json.stdout).task.status.state, 'TASK_STATE_COMPLETED')
  })

  it('needs a text', async () => {
    const { code, stderr } = await runInMemory(['chat', '-a', '127.0.0.1:1'])
    assert.equal(code, 2)
    assert.match(stderr, /chat needs a terminal/)
  })
})
