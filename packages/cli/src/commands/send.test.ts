/** `a2a send`: where the message comes from, what the exit code says, and how many requests it needs. */
import assert from 'node:assert/strict'
import type { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { A2AError } from '@parley/a2a'
import { runA2a } from '../run.ts'
import { serveDemoAgent } from '../testing/demo-agent.ts'
import { createMemoryTerminal, runInMemory } from '../testing/memory-terminal.ts'

/** What the server was asked, in order. */
const operations: string[] = []
let refusal: A2AError | undefined
const server = await serveDemoAgent({
  admit({ operation = '' }) {
    operations.push(operation)
    return refusal === undefined ? {} : { refuse: refusal }
  },
})

interface JsonTask {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: string }
  readonly artifacts?: readonly { readonly parts: readonly unknown[] }[]
  readonly history?: readonly { readonly parts: readonly { readonly text?: string }[] }[]
}
const taskOf = (text: string) => (JSON.parse(text) as { readonly task: JsonTask }).task
const errorOf = (text: string) => (JSON.parse(text) as { readonly error: { code: string; hint: string } }).error
const answerOf = (text: string) => taskOf(text).artifacts?.[0]?.parts
const send = (args: readonly string[], input?: string | Buffer, isTerminal = false) =>
  runInMemory(['send', ...args, '-a', server.url, '-o', 'json'], {
    isTerminal,
    ...(input === undefined ? {} : { input }),
  })

describe('the message on stdin', () => {
  it('is the text -, or everything if there is neither a text nor a part', async () => {
    for (const args of [['-'], []]) {
      const { code, stdout } = await send(args, 'a\nb\n')
      assert.equal(code, 0, stdout)
      // Without the last line end, which `echo` adds.
      assert.deepEqual(answerOf(stdout), [{ text: 'Hello, a\nb!' }])
    }
  })

  it('is not read if there is a text or a part', async () => {
    for (const args of [['you'], ['--text', 'you'], ['--text', '-'], ['--data', '{"a":1}'], ['--', 'you']]) {
      const terminal = createMemoryTerminal({ input: 'unread' })
      assert.equal(await runA2a(['send', '-a', server.url, '-o', 'json', ...args], terminal), 0, terminal.stdout)
      assert.equal((terminal.input as PassThrough).readableLength, 6, args.join(' '))
    }
    assert.deepEqual(answerOf((await send(['--text', '-'])).stdout), [{ text: 'Hello, -!' }])
    assert.equal((await send(['--data', '-'], '{"a":1}')).code, 0)
  })

  it('is not read from a terminal unless the text is -, which explains how to end it', async () => {
    const { code, stdout } = await send([], undefined, true)
    assert.deepEqual([code, errorOf(stdout).code], [2, 'A2ACLI_ERR_USAGE'])
    const terminal = createMemoryTerminal({ isTerminal: true })
    const running = runA2a(['send', '-', '-a', server.url, '-o', 'json'], terminal)
    await terminal.untilError('Ctrl-D')
    ;(terminal.input as PassThrough).end('typed\n')
    assert.equal(await running, 0)
    assert.deepEqual(answerOf(terminal.stdout), [{ text: 'Hello, typed!' }])
  })

  it('is a usage error if it is empty, no text, or too large, and nothing is sent', async () => {
    operations.length = 0
    const wrong = [
      ['', /empty/],
      [' \n', /empty/],
      [Buffer.from([0xff, 0xfe, 0]), /not text in UTF-8/],
      [Buffer.from('a\0b'), /not text in UTF-8/],
      [Buffer.alloc(20_000_001, 'a'), /more than 20\.0 MB/],
    ] as const
    for (const [input, expected] of wrong)
      for (const args of [['-'], []]) {
        const { code, stdout } = await send(args, input)
        assert.deepEqual([code, errorOf(stdout).code], [2, 'A2ACLI_ERR_USAGE'])
        assert.match(stdout, expected)
      }
    assert.deepEqual(operations, [])
  })

  it('stops at Ctrl-C and at --timeout', async () => {
    const open = createMemoryTerminal({ isTerminal: true })
    const running = runA2a(['send', '-', '-a', server.url], open)
    await open.untilError('Ctrl-D')
    open.interrupt()
    assert.equal(await running, 130)
    const late = createMemoryTerminal({ isTerminal: true })
    assert.equal(await runA2a(['send', '-', '-a', server.url, '--timeout', '1ms'], late), 5)
  })
})

describe('a text on the command line', () => {
  it('is a usage error if it is empty and there is no other part', async () => {
    operations.length = 0
    for (const args of [[''], ['--text', ''], ['--text', '', '--text', '']]) {
      const { code, stdout } = await send(args)
      assert.deepEqual([code, errorOf(stdout).code], [2, 'A2ACLI_ERR_USAGE'], args.join(' '))
    }
    assert.deepEqual(operations, [])
    assert.equal((await send(['--text', '', '--data', '{"a":1}'])).code, 0)
  })
})

describe('an address without an agent', () => {
  it('names a missing card in one sentence, and the addresses that were tried only with --debug', async () => {
    const wrong = `${server.url}/a2a/nope`
    const { code, stderr } = await runInMemory(['task', 'get', 't', '-a', wrong])
    assert.equal(code, 3)
    assert.match(
      stderr,
      new RegExp(`^Error: There is no agent card at ${wrong}\\. The card at \\S+ belongs to Demo, which .*\nCode: `),
    )
    assert.match(stderr, /^Hint: .*--debug/m)
    assert.match((await runInMemory(['task', 'get', 't', '-a', wrong, '--debug'])).stderr, /GET .*agent\.json/)
  })
})

describe('a message to a task that has ended', () => {
  it('is refused, with the command that continues the conversation', async () => {
    const { id, contextId } = taskOf((await send(['you'])).stdout)
    const { code, stdout } = await send(['again', '--task-id', id])
    assert.equal(code, 1)
    const { hint } = errorOf(stdout)
    assert.match(hint, new RegExp(`a2a send -a ${server.url} --context-id ${contextId} "<text>"\n--debug`))
  })
})

describe('--exit-status', () => {
  it('is 1 for a task without success and 6 for one that waits; without it the exit code is 0', async () => {
    for (const [text, expected] of [
      ['you', 0],
      ['message', 0],
      ['fail', 1],
      ['reject', 1],
      ['input', 6],
    ] as const) {
      for (const stream of [[], ['--stream']])
        assert.equal((await send([text, '--exit-status', ...stream])).code, expected, text)
      assert.equal((await send([text])).code, 0, text)
    }
  })

  it('tells it of a task that is fetched or followed', async () => {
    const { id } = taskOf((await send(['input'])).stdout)
    for (const command of [['get'], ['get', '--wait'], ['subscribe']]) {
      const run = (...more: readonly string[]) => runInMemory(['task', ...command, id, '-a', server.url, ...more])
      assert.equal((await run('--exit-status')).code, 6, command.join(' '))
      assert.equal((await run()).code, 0, command.join(' '))
    }
    const { id: held } = taskOf((await send(['hold exit', '--async', '--exit-status'])).stdout)
    const canceled = await runInMemory(['task', 'cancel', held, '-a', server.url])
    assert.deepEqual([canceled.code, canceled.stderr], [0, ''])
    assert.equal((await runInMemory(['task', 'get', held, '--exit-status', '-a', server.url])).code, 1)
  })
})

describe('an agent that refuses for a while', () => {
  it('is named with the seconds of its Retry-After, over every binding', async () => {
    refusal = new A2AError('RATE_LIMITED', 'Quota', { retryAfterSeconds: '20' })
    try {
      for (const binding of ['jsonrpc', 'rest', 'grpc']) {
        const { code, stdout } = await send(['you', '--transport', binding])
        assert.deepEqual([code, errorOf(stdout).hint], [1, 'Retry in 20 s.'], binding)
      }
      const { stderr } = await runInMemory(['send', 'you', '-a', server.url])
      assert.match(stderr, /^Hint: Retry in 20 s\.$/m)
    } finally {
      refusal = undefined
    }
  })

  it('is named with the time until the next attempt, and not as a stream that broke', async (t) => {
    t.mock.method(Math, 'random', () => 0)
    const { setTimeout: realSetTimeout } = globalThis
    // The wait, of 6 s and half of the first delay, ends at once, and the next attempt is admitted.
    t.mock.method(globalThis, 'setTimeout', (run: () => void, ms?: number, ...rest: []) => {
      if (ms !== 6_250) return realSetTimeout(run, ms, ...rest)
      refusal = undefined
      return realSetTimeout(run, 0)
    })
    try {
      for (const args of [
        ['send', 'you'],
        ['task', 'list'],
      ])
        for (const isTerminal of [false, true]) {
          refusal = new A2AError('RATE_LIMITED', 'Quota', { retryAfterSeconds: '6' })
          const { code, stdout, stderr } = await runInMemory([...args, '-a', server.url], { isTerminal })
          assert.equal(code, 0, stderr)
          assert.match(stdout + stderr, /Rate limited; retrying in 7 s\./)
          assert.doesNotMatch(stdout + stderr, /interrupted/)
        }
    } finally {
      refusal = undefined
    }
  })
})

describe('the requests of a send', () => {
  const requestsOf = async (args: readonly string[]): Promise<readonly [readonly string[], string]> => {
    operations.length = 0
    const { code, stdout, stderr } = await runInMemory(['send', '-a', server.url, ...args])
    assert.equal(code, 0, stdout + stderr)
    return [[...operations], stdout]
  }

  it('are one, because the stream has told everything, and its sum is the task of the server', async () => {
    for (const text of ['you', 'chunks', 'parts', 'fail', 'input']) {
      for (const options of [
        [],
        ['--history', '0'],
        ['--history', '1'],
        ['--transport', 'rest'],
        ['--transport', 'grpc'],
      ]) {
        const [requests, stdout] = await requestsOf([text, '-o', 'json', ...options])
        assert.deepEqual(requests, ['SendStreamingMessage'], `${text} ${options.join(' ')}`)
        const task = taskOf(stdout)
        const fetched = await runInMemory(['task', 'get', task.id, '-a', server.url, '-o', 'json', ...options])
        assert.deepEqual(task, JSON.parse(fetched.stdout))
      }
      assert.equal((await requestsOf([text]))[0].length, 1)
    }
    assert.deepEqual((await requestsOf(['message']))[0], ['SendStreamingMessage'])
  })

  it('are two for an agent before 1.0, whose task gets metadata that no event has', async () => {
    const old = await serveDemoAgent({ stateTransitionHistory: true })
    const at = ['-a', old.url, '-o', 'json', '--a2a-version', '0.3']
    const { code, stdout, stderr } = await runInMemory(['send', 'chunks', ...at])
    assert.equal(code, 0, stdout + stderr)
    const task = taskOf(stdout)
    assert.deepEqual(task, JSON.parse((await runInMemory(['task', 'get', task.id, ...at])).stdout))
    assert.match(stdout, /"stateTransitionHistory"/)
  })

  it('are one for an answer to a question too', async () => {
    const { id } = taskOf((await send(['input'])).stdout)
    const [requests, stdout] = await requestsOf(['Oslo', '--task-id', id, '-o', 'json'])
    assert.deepEqual(requests, ['SendStreamingMessage'])
    const fetched = await runInMemory(['task', 'get', id, '-a', server.url, '-o', 'json'])
    assert.deepEqual(taskOf(stdout), JSON.parse(fetched.stdout))
  })

  it('print text that came in chunks as one text', async () => {
    const [, stdout] = await requestsOf(['chunks'])
    assert.equal(stdout.match(/^Text: .*$/gm)?.at(-1), 'Text: one two three')
  })
})
