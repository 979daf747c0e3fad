import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { parseFlags } from './commands.ts'
import type { Terminal } from './command.ts'
import { storeFlags } from './config-flags.ts'
import { readStoreSettings } from './store-location.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

const cwd = mkdtempSync(join(tmpdir(), 'parley-location-'))
after(() => rmSync(cwd, { recursive: true }))
const file = join(cwd, 'parley.yaml')

function settings(args: readonly string[], environment: Terminal['environment'] = {}) {
  const command = { name: 'backup', summary: '', flags: storeFlags, run: async () => 0 }
  return readStoreSettings(parseFlags(command, args), createTestTerminal({ cwd, environment }))
}

describe('the store of a command', () => {
  it('is the one of the configuration, although variables of its agents are missing', () => {
    writeFileSync(file, 'store: sqlite:tasks.db\nagents: { a: { kind: openai, apiKey: "${env:NO_SUCH}" } }\n')
    assert.equal(settings([]).store, `sqlite:${join(cwd, 'tasks.db')}`)
    assert.equal(settings(['-c', file]).dataDir, join(cwd, '.parley'))
  })

  it('is the SQLite file of --data, whatever the configuration and the environment name', () => {
    const { store, dataDir } = settings(['--data', 'other'], { PARLEY_STORE: 'postgres://db/x' })
    assert.deepEqual([store, dataDir], ['sqlite:', join(cwd, 'other')])
  })

  it('is refused if --data cannot be a directory, with what is in the way', () => {
    const inTheWay = join(cwd, 'a-file')
    writeFileSync(inTheWay, '')
    for (const path of ['a-file', 'a-file/below', 'a-file/further/below'])
      assert.throws(() => settings(['--data', path]), {
        message: `--data: ${inTheWay} is a file, not a directory: choose another directory.`,
        exitCode: 2,
      })
    assert.throws(() => settings([], { PARLEY_DATA: 'a-file' }), /^CliError: PARLEY_DATA: .*a-file is a file/)
    assert.throws(() => settings(['--data', '']), { message: '--data must name a directory.', exitCode: 2 })
    assert.equal(settings([], { PARLEY_DATA: '' }).dataDir, join(cwd, '.parley'))
  })

  it('is that of --store, with the master key of the environment', () => {
    const found = settings(['--store', 'postgres://db/x'], { PARLEY_MASTER_KEY: 'key' })
    assert.deepEqual([found.store, found.masterKey], ['postgres://db/x', 'key'])
  })

  it('is refused if the section is invalid, with the line', () => {
    writeFileSync(file, 'agents: {}\nstore: mysql://db\n')
    assert.throws(() => settings([]), /parley\.yaml:2 {2}store: must be sqlite:<file>/)
  })
})
