import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runCli } from './commands.ts'
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
        if (/listening on|^Stop with/.test(line)) listening.push(listens)
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
