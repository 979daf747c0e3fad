import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runCli } from './run.ts'
import { printResult, styled, tableLines, wrappedLine } from './output.ts'
import { createTestTerminal, testFlags } from './testing/test-terminal.ts'

describe('the output of commands', () => {
  it('aligns columns under a header', () => {
    const lines = tableLines(createTestTerminal(), ['NAME', 'STATE'], [['a', 'up'], ['translator', ''], ['b', 'down']]) // prettier-ignore
    assert.deepEqual(lines, ['NAME        STATE', 'a           up', 'translator', 'b           down'])
  })

  it('has colours on a terminal only, and not with NO_COLOR', () => {
    const terminal = createTestTerminal()
    assert.equal(styled(terminal, 'red', 'x'), 'x')
    assert.equal(styled({ ...terminal, isOutputTerminal: true }, 'red', 'x'), '\u001B[31mx\u001B[39m')
    for (const environment of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
      assert.equal(styled({ ...terminal, isOutputTerminal: true, environment }, 'red', 'x'), 'x')
  })

  it('is JSON with -o json', () => {
    const print = (...words: string[]): readonly string[] => {
      const terminal = createTestTerminal()
      printResult(testFlags('key', 'list', ...words), terminal, { a: 1 }, () => ['one'])
      return terminal.printed
    }
    assert.deepEqual(print(), ['one'])
    assert.deepEqual(JSON.parse(print('-o', 'json').join('\n')), { a: 1 })
  })

  it('checks the format before the command does anything', async () => {
    const environment = { PARLEY_URL: 'http://127.0.0.1:9', PARLEY_ADMIN_KEY: 'k'.repeat(32) }
    const terminal = createTestTerminal({ environment })
    // A hub that is called but does not respond ends the command with 3.
    assert.equal(await runCli(['key', 'create', '--agent', 'a', '-o', 'yaml'], terminal), 2)
    assert.deepEqual(terminal.errors, ['--output: "yaml" is none of text, json.'])
  })

  it('spells the commands in hints as they are run here: in a clone by npm', async () => {
    // No hub can listen there: the system hands out no port below 1024.
    const environment = { PARLEY_URL: '127.0.0.1:3', PARLEY_ADMIN_KEY: 'k'.repeat(32) }
    const hintOf = async (more: Record<string, string>): Promise<string> => {
      const terminal = createTestTerminal({ environment: { ...environment, ...more } })
      assert.equal(await runCli(['status'], terminal), 3)
      return /start it with (`.*`)\./.exec(terminal.errors.join())?.[1] ?? ''
    }
    assert.equal(await hintOf({}), '`parley up`')
    assert.equal(await hintOf({ PARLEY_COMMAND: 'npm run parley --' }), '`npm run parley -- up`')
  })

  it('wraps help at the width of the terminal, within the column of its text', () => {
    const line = '  -c, --config <file>   The configuration that names the store. Default: parley.yaml.'
    assert.deepEqual(wrappedLine(line), [line])
    assert.deepEqual(wrappedLine(line, 60), [
      '  -c, --config <file>   The configuration that names the',
      '                        store. Default: parley.yaml.',
    ])
    assert.deepEqual(wrappedLine(line, 40), [
      '  -c, --config <file>   The',
      '      configuration that names the',
      '      store. Default: parley.yaml.',
    ])
    assert.deepEqual(wrappedLine('  Reads the store at one moment.', 20), ['  Reads the store at', '  one moment.'])
  })
})
