import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { program } from '../commands/index.ts'
import { CliError } from '../output/cli-error.ts'
import { parseCommandLine } from './parse-args.ts'

const parse = (...argv: string[]) => parseCommandLine(argv, program)
const given = (...argv: string[]) => parse(...argv).args.options.map(({ name, value }) => [name, value])
const usage = (message: RegExp, hint?: RegExp) => (reason: unknown) =>
  reason instanceof CliError &&
  reason.code === 'A2ACLI_ERR_USAGE' &&
  message.test(reason.message) &&
  (hint?.test(reason.hint ?? '') ?? true)

describe('a command line', () => {
  it('keeps the order of options across their names, and repeats [A2ACLI_SEND_006]', () => {
    assert.deepEqual(
      given('send', '--text', 'a', '--file', 'b', '--media-type', 'image/png', '--text-part=c', '--data', '-'),
      [
        ['text', 'a'],
        ['file', 'b'],
        ['media-type', 'image/png'],
        ['text', 'c'],
        ['data', '-'],
      ],
    )
  })

  it('says what was probably meant: a text with a dash, -o json, a command of a group', () => {
    assert.throws(() => parse('send', '-5'), usage(/-5/, /a2a send -- -5/))
    assert.throws(() => parse('send', '--json'), usage(/--json/, /Did you mean -o json\?/))
    assert.throws(() => parse('list'), usage(/"list"/, /`a2a task list`/))
    assert.throws(() => parse('cancel'), usage(/"cancel"/, /`a2a task cancel`/))
    assert.throws(() => parse('get'), usage(/"get"/, /`a2a card get` or `a2a task get`/))
  })

  it('finds the command between options, and its operands', () => {
    const { command, words, args } = parse('-o', 'json', 'task', '--debug', 'get', 'id-1', '-a', 'host')
    assert.equal(command?.name, 'task get')
    assert.deepEqual(words, ['task', 'get'])
    assert.deepEqual(args.operands, ['id-1'])
    assert.deepEqual(
      args.options.map(({ name }) => name),
      ['output', 'debug', 'agent-card'],
    )
  })

  it('accepts every spelling of a value, and switches with a value', () => {
    for (const spelling of [['-o', 'json'], ['-ojson'], ['-o=json'], ['--output', 'json'], ['--output=json']])
      assert.deepEqual(given('send', ...spelling), [['output', 'json']])
    assert.deepEqual(given('send', '-vh', '--stream=false', '--no-wait'), [
      ['verbose', undefined],
      ['help', undefined],
      ['stream', 'false'],
      ['async', undefined],
    ])
  })

  it('takes a value that begins with a dash, but not a known option', () => {
    assert.deepEqual(given('send', '--text', '-1', '--text', '--- title'), [
      ['text', '-1'],
      ['text', '--- title'],
    ])
    assert.throws(() => parse('send', '--text', '--stream'), usage(/needs a value/, /--text=--stream/))
    assert.deepEqual(given('send', '--text=--stream'), [['text', '--stream']])
  })

  it('takes everything after -- as operands', () => {
    assert.deepEqual(parse('send', '--', '--not-an-option').args.operands, ['--not-an-option'])
  })

  it('knows an option with an optional value', () => {
    assert.deepEqual(given('server', '--proxy', '--port', '1'), [
      ['proxy', ''],
      ['port', '1'],
    ])
    assert.deepEqual(given('server', '--proxy', 'http://127.0.0.1:1'), [['proxy', 'http://127.0.0.1:1']])
  })

  it('knows the other names of a command', () => {
    for (const name of ['server', 'serve', 'demo-server']) assert.equal(parse(name, '--echo').command?.name, 'server')
  })

  it('names no command for a group or an empty line', () => {
    assert.deepEqual([parse('task').command, parse('task').words], [undefined, ['task']])
    assert.equal(parse('task', 'push-config').command, undefined)
    assert.equal(parse().command, undefined)
  })

  it('rejects unknown commands and options, with the nearest name', () => {
    assert.throws(() => parse('sned'), usage(/Unknown command "sned"/, /`a2a send`/))
    assert.throws(() => parse('task', 'lst'), usage(/Unknown command "task lst"/, /`a2a task list`/))
    assert.throws(() => parse('task', 'watch-everything'), usage(/Unknown command/, /a2a help task/))
    assert.throws(() => parse('send', '--steam'), usage(/Unknown option --steam/, /--stream/))
    assert.throws(() => parse('send', '-x'), usage(/Unknown option -x/))
    assert.throws(() => parse('send', '--continue'), usage(/Unknown option --continue/))
    // An option of another command.
    assert.throws(() => parse('send', '--extended'), usage(/Unknown option --extended/))
  })

  it('rejects a missing value, and a value of a switch', () => {
    assert.throws(() => parse('send', '--bearer'), usage(/--bearer needs a value: --bearer <token>/))
    assert.throws(() => parse('send', '-a'), usage(/-a needs a value/))
    assert.throws(() => parse('send', '--stream=yes'), usage(/--stream takes no value/))
  })
})
