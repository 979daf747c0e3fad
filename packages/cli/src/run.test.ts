import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { globalOptions } from './args/global-options.ts'
import { commands } from './commands/index.ts'
import { runA2a } from './run.ts'
import { createMemoryTerminal, runInMemory } from './testing/memory-terminal.ts'
import { programVersion } from './version.ts'

describe('a2a', () => {
  it('prints its version for --version, and for -v without a command [A2ACLI_CLI_001]', async () => {
    for (const args of [['--version'], ['-v'], ['send', '--version']])
      assert.deepEqual(await runInMemory(args), { code: 0, stdout: `${programVersion()}\n`, stderr: '' })
  })

  it('takes -v with a command as --verbose', async () => {
    const { code, stdout } = await runInMemory(['config', 'show', '-v'])
    assert.equal(code, 0)
    assert.match(stdout, /^verbose: true \(flag\)$/m)
  })

  it('prints help without arguments, for help, --help and -h', async () => {
    const { stdout } = await runInMemory([])
    assert.match(stdout, /^Usage: a2a <command> \[options\]$/m)
    for (const args of [['help'], ['--help'], ['-h']]) assert.equal((await runInMemory(args)).stdout, stdout)
    const send = await runInMemory(['help', 'send'])
    assert.match(
      send.stdout,
      /--media-type <type>[^]*--poll-interval <duration>[^]*Default: 2s\.\s+\[A2ACLI_POLL_INTERVAL\]/,
    )
    for (const args of [
      ['send', '--help'],
      ['--help', 'send'],
      ['send', '-h', 'text'],
    ])
      assert.deepEqual(await runInMemory(args), send)
    assert.match((await runInMemory(['help', 'task'])).stdout, /task push-config create <task-id>/)
    assert.match((await runInMemory(['help', 'demo-server'])).stdout, /Aliases: demo-server, serve/)
  })

  it('wraps help at words to the width of the terminal, 80 if it tells none, and not in a pipe', async () => {
    // A single word may be longer, and commands are copied as they are.
    const longest = (text: string): number => {
      const lines = text.slice(0, text.indexOf('Examples:')).split('\n')
      return Math.max(...lines.filter((line) => line.trim().includes(' ')).map(({ length }) => length))
    }
    for (const { name } of commands)
      for (const columns of [40, 80, 100, undefined]) {
        const options = { isTerminal: true, ...(columns === undefined ? {} : { columns }) }
        const { stdout } = await runInMemory(['help', ...name.split(' ')], options)
        assert.ok(longest(stdout) <= (columns ?? 80), `${name} at ${columns}`)
        const { stdout: whole } = await runInMemory(['help', ...name.split(' ')])
        assert.deepEqual(stdout.split(/\s+/), whole.split(/\s+/), 'the same words')
      }
    const { stdout } = await runInMemory(['help'])
    assert.match(stdout, /^Exit codes: .*6 task that waits\.$/m)
  })

  it('prints the defaults in effect [A2ACLI_DEFAULT_001]', async () => {
    const environment = { A2ACLI_POLL_INTERVAL: '7s', A2ACLI_BEARER: 'secret-token' }
    const { stdout } = await runInMemory(['help', 'send'], { environment })
    assert.match(stdout, /Default: 7s\s+\(from\s+A2ACLI_POLL_INTERVAL\)/)
    assert.ok(!stdout.includes('secret-token'))
    assert.equal((await runInMemory(['help', 'send'], { environment: { A2ACLI_TIMEOUT: 'soon' } })).code, 0)
  })

  it('shows the options of a command in its help, and of the global ones those that matter for it', async () => {
    for (const { name, options, globalOptions } of commands) {
      const { stdout, code } = await runInMemory(['help', ...name.split(' ')])
      assert.equal(code, 0)
      for (const option of [...options.map((one) => one.name), ...globalOptions])
        assert.match(stdout, new RegExp(`^  (-\\w, |    )--${option}\\b`, 'm'), `${name} --${option}`)
      assert.match(stdout, /see `a2a help`\.$/m)
    }
    const environment = { A2ACLI_TENANT: 'blue' }
    assert.doesNotMatch((await runInMemory(['help', 'send'])).stdout, /--tenant/)
    assert.match(
      (await runInMemory(['help', 'send'], { environment })).stdout,
      /--tenant[^]*?blue\s+\(from\s+A2ACLI_TENANT/,
    )
  })

  it('shows every global option in the overview, with what the process table shows of secrets', async () => {
    const { stdout } = await runInMemory(['help'])
    for (const { name } of globalOptions) assert.ok(stdout.includes(`--${name}`), name)
    assert.match(stdout, /--bearer <token>[^]*process table/)
  })

  it('shows control characters in the code of an agent instead of passing them to the terminal', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'A\u001B[31m', domain: 'x' }]
    const server = createServer((_, response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { code: 400, status: 'INVALID_ARGUMENT', message: 'No', details } }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const { port } = server.address() as AddressInfo
      const args = ['task', 'get', '-e', `http://127.0.0.1:${port}`, '--transport', 'rest', 't-1']
      const { stderr } = await runInMemory(args)
      assert.match(stderr, /^A2A Code: A\\u001b\[31m$/m)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it('reports usage errors as labels on stderr, with exit code 2', async () => {
    for (const args of [
      ['task'],
      ['task', 'push-config'],
      ['nothing'],
      ['send', '--nothing'],
      ['task', 'get'],
      ['-o', 'json', 'x'],
    ]) {
      const { code, stdout, stderr } = await runInMemory(args)
      assert.equal(code, 2, args.join(' '))
      if (args[0] === '-o') continue
      assert.equal(stdout, '')
      assert.match(stderr, /^Error: .+\nCode: A2ACLI_ERR_USAGE\nHint: /)
    }
    assert.match((await runInMemory(['task', 'get', 'a', 'b'])).stderr, /does not take "b"/)
    const hintOf = async (...args: string[]) => /^Hint: (.*)$/m.exec((await runInMemory(args)).stderr)?.[1]
    assert.equal(await hintOf('card', 'get', 'localhost'), 'Name the agent with -a: `a2a card get -a localhost`')
    const withPath = 'Name the agent with -a: `a2a card get -a localhost:3000/a2a/echo`'
    assert.equal(await hintOf('card', 'get', 'localhost:3000/a2a/echo'), withPath)
    assert.equal(await hintOf('send', 'http://a.test', 'hi'), 'Name the agent with -a: `a2a send -a http://a.test`')
    assert.equal(await hintOf('send', 'hello', 'world'), 'Put the text in quotes.')
    assert.equal(await hintOf('send', '--agent', 'x'), 'Did you mean --agent-card? See `a2a help send`.')
    assert.equal(await hintOf('task', 'gte', 'x'), 'Did you mean `a2a task get`?')
  })

  it('reports them as an envelope with every spelling of -o json, also a line that cannot be parsed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'))
    writeFileSync(join(folder, 'json.env'), 'A2ACLI_OUTPUT=json')
    const lines = [
      ['-o', 'json', 'send', '--nothing'],
      ['send', '--nothing', '-ojson'],
      ['send', '--nothing', '--output=json'],
      ['send', '--nothing', '--config', 'json.env'],
    ]
    for (const args of lines) {
      const { code, stdout, stderr } = await runInMemory(args, { cwd: folder })
      const { error } = JSON.parse(stdout) as { error: { code: string; hint: string; a2aCode: null } }
      assert.deepEqual([code, error.code, error.a2aCode, stderr], [2, 'A2ACLI_ERR_USAGE', null, ''])
    }
    const { stdout } = await runInMemory(['nothing', '-o', 'json', '--stream'])
    assert.match(stdout, /^\{"error":\{.+\}\}\n$/)
    const { stdout: fromVariable } = await runInMemory(['nothing'], { environment: { A2ACLI_OUTPUT: 'json' } })
    assert.match(fromVariable, /"error"/)
    // After -- it is text.
    assert.equal((await runInMemory(['nothing', '--', '-o', 'json'])).stdout, '')
  })

  it('ends with 141 and no message if the reader of its output has gone', async () => {
    assert.deepEqual(await runInMemory(['help'], { breaksAfterBytes: 10 }), { code: 141, stdout: '', stderr: '' })
    assert.equal((await runInMemory(['nothing', '-o', 'json'], { breaksAfterBytes: 10 })).code, 141)
  })

  it('names the program as the user started it', async () => {
    const terminal = createMemoryTerminal()
    const named = Object.create(terminal, { program: { value: 'parley a2a' } }) as typeof terminal
    await runA2a(['task'], named)
    await runA2a(['help', 'send'], named)
    assert.match(terminal.stderr, /`parley a2a task get`/)
    assert.match(terminal.stdout, /Usage: parley a2a send \[text\] \[options\][^]* {2}parley a2a send -a/)
  })
})
