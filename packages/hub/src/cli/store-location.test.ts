import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Terminal } from './command.ts'
import { readStoreSettings } from './store-location.ts'
import { createTestTerminal, testFlags } from './testing/test-terminal.ts'

const cwd = mkdtempSync(join(tmpdir(), 'parley-location-'))
after(() => rmSync(cwd, { recursive: true }))
const file = join(cwd, 'parley.yaml')

function settings(args: readonly string[], environment: Terminal['environment'] = {}) {
  return readStoreSettings(testFlags('backup', ...args), createTestTerminal({ cwd, environment }))
}

describe('the store of a command', () => {
  it('is the one of the configuration, although variables of its agents are missing', async () => {
    writeFileSync(file, 'store: sqlite:tasks.db\nagents: { a: { kind: openai, apiKey: "${env:NO_SUCH}" } }\n')
    assert.equal((await settings([])).store, `sqlite:${join(cwd, 'tasks.db')}`)
    assert.equal((await settings(['-c', file])).dataDir, join(cwd, '.parley'))
  })

  it('is the SQLite file of --data, whatever the configuration and the environment name', async () => {
    const { store, dataDir } = await settings(['--data', 'other'], { PARLEY_STORE: 'postgres://db/x' })
    assert.deepEqual([store, dataDir], ['sqlite:', join(cwd, 'other')])
  })

  it('is refused if --data cannot be a directory, with what is in the way', async () => {
    const inTheWay = join(cwd, 'a-file')
    writeFileSync(inTheWay, '')
    for (const path of ['a-file', 'a-file/below', 'a-file/further/below'])
      await assert.rejects(settings(['--data', path]), {
        message: `--data: ${inTheWay} is a file, not a directory: choose another directory.`,
        exitCode: 2,
      })
    await assert.rejects(settings([], { PARLEY_DATA: 'a-file' }), /^CliError: PARLEY_DATA: .*a-file is a file/)
    await assert.rejects(settings(['--data', '']), { message: '--data must name a directory.', exitCode: 2 })
    assert.equal((await settings([], { PARLEY_DATA: '' })).dataDir, join(cwd, '.parley'))
  })

  it('is that of --store, with the master key of the environment', async () => {
    const found = await settings(['--store', 'postgres://db/x'], { PARLEY_MASTER_KEY: 'key' })
    assert.deepEqual([found.store, found.masterKey], ['postgres://db/x', 'key'])
  })

  it('is read from a provider only with --run-secrets, unless a flag replaces it', async () => {
    const secrets = 'secrets: { vault: { command: [echo, "postgres://db/{name}"] } }\n'
    writeFileSync(file, `${secrets}store: "\${vault:tasks}"\nagents: {}\n`)
    const environment = { PATH: process.env['PATH'], PARLEY_MASTER_KEY: Buffer.alloc(32).toString('base64') }
    await assert.rejects(
      settings([], environment),
      /parley\.yaml:2 {2}store: \$\{vault:tasks\} was not read: add --run-secrets/,
    )
    assert.equal((await settings(['--run-secrets'], environment)).store, 'postgres://db/tasks')
    assert.equal((await settings(['--store', 'postgres://db/x'], environment)).store, 'postgres://db/x')
  })

  it('is refused if the section is invalid, with the line', async () => {
    writeFileSync(file, 'agents: {}\nstore: mysql://db\n')
    await assert.rejects(settings([]), /parley\.yaml:2 {2}store: must be sqlite:<file>/)
  })
})
