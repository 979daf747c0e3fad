import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
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
})
