import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { commandText, dataFlags, storeNameFlags } from './command-text.ts'
import { testFlags } from './testing/test-terminal.ts'

const flagsOf = (...words: string[]) => testFlags('up', ...words)
const terminal = { environment: {} }

describe('a command that is printed for people to copy', () => {
  it('names the same hub: by its data directory, or as the command did that prints it', () => {
    const flags = flagsOf('--port', '21224', '--data', 'dd', '-c', 'my hub.yaml')
    assert.equal(commandText(flags, terminal, 'open', dataFlags), "parley open --config 'my hub.yaml' --data dd")
    assert.equal(commandText(flagsOf('--port', '21224'), terminal, 'logs'), 'parley logs --port 21224')
    assert.equal(commandText(flagsOf(), terminal, 'open'), 'parley open')
  })

  it('is run by npm in a clone, which has no parley in the path', () => {
    const environment = { PARLEY_COMMAND: 'npm run parley --', PARLEY_DATA: 'dd' }
    assert.equal(commandText(flagsOf(), { environment }, 'open'), 'npm run parley -- open --data dd')
  })

  it('is run by npx where npm put no parley into the path', () => {
    for (const event of ['npx', 'start'])
      assert.equal(
        commandText(flagsOf(), { environment: { npm_lifecycle_event: event } }, 'open'),
        'npx @parley/hub open',
      )
  })

  it('has the variables that another terminal lacks, quoted for a shell', () => {
    const environment = { PARLEY_DATA: "/it's here", PARLEY_CONFIG: '' }
    assert.equal(commandText(flagsOf(), { environment }, 'open'), "parley open --data '/it'\\''s here'")
  })

  it('opens the same store, without its password', () => {
    const text = (store: string): string => commandText(flagsOf('--store', store), terminal, 'verify', storeNameFlags)
    assert.equal(text('sqlite:other.db'), 'parley verify --store sqlite:other.db')
    assert.equal(text('postgres://u:p@db/x'), 'parley verify --store <url>')
  })
})
