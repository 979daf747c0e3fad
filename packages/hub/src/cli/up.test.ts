import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runCli } from './run.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

describe('parley up', () => {
  it('listens for signals before it says that it runs', async (t) => {
    const cwd = await mkdtemp(join(tmpdir(), 'parley-up-'))
    t.after(() => rm(cwd, { recursive: true, force: true }))
    const terminal = createTestTerminal({ cwd })
    let listens = false
    const listening: boolean[] = []
    const code = await runCli(['up', '--store', 'memory:', '--port', '0', '--grpc-port', '0'], {
      ...terminal,
      print(line) {
        if (/listening on|^All tasks are lost when/.test(line)) listening.push(listens)
        terminal.print(line)
      },
      untilShutdown() {
        listens = true
        return Promise.resolve()
      },
    })
    assert.equal(code, 0, terminal.errors.join('\n'))
    assert.deepEqual(listening, [true, true])
  })

  it('logs its start and stop, and warns at the next start if its configuration file is missing', async (t) => {
    const cwd = await mkdtemp(join(tmpdir(), 'parley-up-'))
    t.after(() => rm(cwd, { recursive: true, force: true }))
    const args = ['up', '--port', '0', '--grpc-port', '0']
    const file = join(cwd, 'parley.yaml')
    await writeFile(file, 'agents: { mine: { kind: demo, agent: echo } }\n')
    async function run() {
      const terminal = createTestTerminal({ cwd })
      const order: string[] = []
      const code = await runCli(args, {
        ...terminal,
        print: (line) => void order.push(line),
        printError: (line) => void order.push(...line.split('\n')),
        untilShutdown: () => Promise.resolve(),
      })
      assert.equal(code, 0, order.join('\n'))
      return order
    }
    const first = await run()
    const messages = first.flatMap((line) => / INFO +(the hub \w+)/.exec(line)?.[1] ?? [])
    assert.deepEqual(messages, ['the hub started', 'the hub stops', 'the hub stopped'])
    assert.ok(!first.some((line) => line.includes('Ctrl-C')), 'there is no terminal')
    await rm(file)
    const second = await run()
    const warned = second.findIndex((line) => line.includes(`${file} was removed: the demo agents`))
    assert.ok(warned >= 0, second.join('\n'))
  })

  it('aligns the descriptions of the agents', async (t) => {
    const cwd = await mkdtemp(join(tmpdir(), 'parley-up-'))
    t.after(() => rm(cwd, { recursive: true, force: true }))
    const terminal = createTestTerminal({ cwd })
    const args = ['up', '--store', 'memory:', '--port', '0', '--grpc-port', '0']
    await runCli(args, { ...terminal, untilShutdown: () => Promise.resolve() })
    const columns = terminal.printed.flatMap((line) => /^ {2}\w+ +http\S+ +/.exec(line)?.[0].length ?? [])
    assert.ok(columns.length > 1)
    assert.equal(new Set(columns).size, 1, terminal.printed.join('\n'))
  })

  it('names the hub that already runs in the folder, and says that it has stopped', async (t) => {
    const cwd = await mkdtemp(join(tmpdir(), 'parley-up-'))
    t.after(() => rm(cwd, { recursive: true, force: true }))
    const args = ['up', '--port', '0', '--grpc-port', '']
    const terminal = createTestTerminal({ cwd })
    const running = Promise.withResolvers<string>()
    const code = runCli(args, {
      ...terminal,
      isOutputTerminal: true,
      print(line) {
        const [, url] = /listening on (\S+)/.exec(line) ?? []
        if (url !== undefined) running.resolve(url.replace('localhost', '127.0.0.1'))
        terminal.print(line)
      },
    })
    const url = await running.promise
    const second = createTestTerminal({ cwd })
    assert.equal(await runCli(args, second), 1)
    assert.deepEqual(second.errors, [
      `A hub already runs here: ${url}. Open it with \`parley open\`, or choose another directory with --data.`,
    ])
    terminal.shutDown()
    assert.equal(await code, 0)
    assert.equal(terminal.printed.at(-1), 'Stopped.')
    const status = createTestTerminal({ cwd })
    assert.equal(await runCli(['status', '--port', '3'], status), 3)
    assert.match(
      status.errors.join('\n'),
      /If you mean the hub of this folder, it is not running: start it with `parley up`/,
    )
  })

  it('counts the secrets that their provider fails to read again', async (t) => {
    const cwd = await mkdtemp(join(tmpdir(), 'parley-up-'))
    t.after(() => rm(cwd, { recursive: true, force: true }))
    await writeFile(
      join(cwd, 'parley.yaml'),
      `secrets: { vault: { command: [cat, "{name}"], refresh: off } }
admin: { key: "\${vault:key}" }
agents: { echo: { kind: demo, agent: echo } }
`,
    )
    await writeFile(join(cwd, 'key'), 'a-long-random-value-of-our-own')
    const terminal = createTestTerminal({ cwd, environment: { PATH: process.env['PATH'] } })
    const running = Promise.withResolvers<string>()
    const warned = Promise.withResolvers<void>()
    const code = runCli(['up', '--store', 'memory:', '--port', '0', '--grpc-port', '0'], {
      ...terminal,
      print(line) {
        const [, url] = /listening on (\S+)/.exec(line) ?? []
        if (url !== undefined) running.resolve(url)
      },
      printError(line) {
        if (line.includes('could not be read again')) warned.resolve()
        terminal.printError(line)
      },
    })
    const metricsUrl = new URL('/metrics', await Promise.race([running.promise, code.then(() => 'http://ended')]))
    assert.notEqual(metricsUrl.hostname, 'ended', terminal.errors.join('\n'))
    const metrics = async (): Promise<string> => (await fetch(metricsUrl)).text()
    assert.match(await metrics(), /^parley_secrets_stale\{provider="vault"\} 0$/m)
    await rm(join(cwd, 'key'))
    terminal.reload()
    await warned.promise
    assert.match(await metrics(), /^parley_secrets_stale\{provider="vault"\} 1$/m)
    terminal.shutDown()
    assert.equal(await code, 0)
  })
})
