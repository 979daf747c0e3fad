import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { program } from '../commands/index.ts'
import { parseDotenv } from './dotenv.ts'
import { configFolder, readConfigFiles } from './config-files.ts'
import { parseDuration } from './duration.ts'
import { globalOptions } from './global-options.ts'
import { parseCommandLine } from './parse-args.ts'
import { resolveSettings } from './resolve-settings.ts'
import type { Settings } from './settings.ts'

/** A project with a folder in it, and a home. */
function createFolders(): { readonly project: string; readonly inner: string; readonly home: string } {
  const base = mkdtempSync(join(tmpdir(), 'parley-settings-'))
  const [project, inner, home] = [join(base, 'project'), join(base, 'project/a/b'), join(base, 'home')]
  mkdirSync(inner, { recursive: true })
  mkdirSync(join(home, '.config/a2a-cli'), { recursive: true })
  return { project, inner, home }
}

interface Sources {
  readonly argv: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd: string
  readonly home: string
  readonly config?: string
}

function resolve({ argv, environment = {}, cwd, home, config }: Sources): Settings {
  const { command, args } = parseCommandLine(argv, program)
  assert.ok(command !== undefined)
  const options = [...command.options, ...globalOptions]
  const files = readConfigFiles({ environment, cwd, home }, config)
  return resolveSettings({ options, command: command.name, args, environment, files })
}

describe('settings', () => {
  it('come from the flag, then the environment, the local file, the global file and the default [A2ACLI_CONFIG_002]', () => {
    const { project, inner, home } = createFolders()
    const [local, global] = [join(project, '.env'), join(home, '.config/a2a-cli/.env')]
    writeFileSync(local, 'A2ACLI_POLL_INTERVAL=3s\n')
    writeFileSync(global, 'A2ACLI_POLL_INTERVAL=4s\nA2ACLI_OUTPUT=json\n')
    const both = { A2ACLI_POLL_INTERVAL: '2500ms' }
    const found = (environment: Readonly<Record<string, string>>, ...flags: string[]) => {
      const settings = resolve({ argv: ['send', ...flags], environment, cwd: inner, home })
      return [settings.durationMs('poll-interval'), settings.sourceOf('poll-interval')]
    }
    assert.deepEqual(found(both, '--poll-interval', '1s'), [1_000, { kind: 'flag' }])
    assert.deepEqual(found(both), [2_500, { kind: 'environment', variable: 'A2ACLI_POLL_INTERVAL' }])
    assert.deepEqual(found({}), [3_000, { kind: 'file', path: local }])
    // An empty variable counts as unset.
    assert.deepEqual(found({ A2ACLI_POLL_INTERVAL: '' }), [3_000, { kind: 'file', path: local }])
    writeFileSync(local, '')
    assert.deepEqual(found({}), [4_000, { kind: 'file', path: global }])
    writeFileSync(global, '')
    assert.deepEqual(found({}), [2_000, { kind: 'default' }])
  })

  it('take --config instead of the nearest file, and fail if it is missing', () => {
    const { project, inner, home } = createFolders()
    writeFileSync(join(project, '.env'), 'A2ACLI_AGENT_CARD=local\nA2ACLI_TENANT=t')
    writeFileSync(join(inner, 'staging.env'), 'A2ACLI_AGENT_CARD=staging')
    const settings = resolve({ argv: ['send'], cwd: inner, home, config: 'staging.env' })
    assert.equal(settings.value('agent-card'), 'staging')
    assert.equal(settings.value('tenant'), undefined)
    assert.throws(() => resolve({ argv: ['send'], cwd: inner, home, config: 'none.env' }), /--config none\.env/)
  })

  it('never take --stream from the environment, and context and task only for send', () => {
    const { inner, home } = createFolders()
    const environment = { A2ACLI_STREAM: 'true', A2ACLI_TASK_ID: 't', A2ACLI_CONTEXT_ID: 'c' }
    const send = resolve({ argv: ['send'], environment, cwd: inner, home })
    assert.deepEqual([send.has('stream'), send.value('task-id'), send.value('context-id')], [false, 't', 'c'])
    const list = resolve({ argv: ['task', 'list'], environment, cwd: inner, home })
    assert.deepEqual([list.value('task-id'), list.value('context-id')], [undefined, undefined])
  })

  it('split lists at commas, and take all repeats of a flag', () => {
    const { inner, home } = createFolders()
    const environment = { A2ACLI_TRANSPORT: 'rest, jsonrpc' }
    const values = (...argv: string[]) => resolve({ argv, environment, cwd: inner, home }).values('transport')
    assert.deepEqual(values('send'), ['rest', 'jsonrpc'])
    assert.deepEqual(values('send', '--transport', 'grpc', '--transport', 'HTTP+JSON'), ['grpc', 'HTTP+JSON'])
  })

  it('take the last of an option that is not repeatable', () => {
    const { inner, home } = createFolders()
    assert.equal(resolve({ argv: ['send', '-a', 'one', '-a', 'two'], cwd: inner, home }).value('agent-card'), 'two')
  })

  it('read switches of the environment', () => {
    const { inner, home } = createFolders()
    const has = (A2ACLI_INSECURE: string) =>
      resolve({ argv: ['send'], environment: { A2ACLI_INSECURE }, cwd: inner, home }).has('insecure')
    assert.deepEqual(['1', 'true', 'YES', '0', 'false', 'off'].map(has), [true, true, true, false, false, false])
    assert.throws(() => has('maybe'), /A2ACLI_INSECURE must be true or false/)
  })

  it('reject values that an option does not allow, and name where they are', () => {
    const { project, inner, home } = createFolders()
    writeFileSync(join(project, '.env'), 'A2ACLI_TIMEOUT=soon')
    assert.throws(() => resolve({ argv: ['send'], cwd: inner, home }), /A2ACLI_TIMEOUT of .*\.env: "soon"/)
    const at = (...argv: string[]) => resolve({ argv, cwd: home, home })
    assert.throws(() => at('send', '-o', 'yaml'), /--output: "yaml" is none of text, json/)
    assert.throws(() => at('send', '-o', 'jsonl'), { hint: 'For one object per line: -o json --stream' })
    assert.throws(() => at('send', '--transport', 'soap'), /"soap" is none of jsonrpc, rest, grpc/)
    assert.throws(() => at('task', 'list', '--status', 'done'), /"done"/)
    assert.throws(() => at('send', '--metadata', '[1]').jsonObject('metadata'), /--metadata must be a JSON object/)
    assert.throws(() => at('send', '--metadata', '{').jsonObject('metadata'), /--metadata must be a JSON object/)
    assert.throws(() => at('send', '--history', '-1').integer('history'), /"-1" is no integer of at least 0/)
    assert.throws(() => at('send', '--history', '9').integer('history', 0, 5), /from 0 to 5/)
    assert.deepEqual(at('send', '--metadata', '{"a":1}').jsonObject('metadata'), { a: 1 })
    assert.equal(at('send', '--history', '3').integer('history'), 3)
  })
})

describe('configuration files', () => {
  it('have blank lines, comments, export, one layer of quotes, and foreign keys', () => {
    const text = `\uFEFF# comment
export A2ACLI_A=one # comment

A2ACLI_B="two # three"
A2ACLI_C='it''s'
A2ACLI_D = x=y\r
OTHER=1
A2ACLI_E=
not a line`
    assert.deepEqual(Object.fromEntries(parseDotenv(text)), {
      A2ACLI_A: 'one',
      A2ACLI_B: 'two # three',
      A2ACLI_C: "it''s",
      A2ACLI_D: 'x=y',
      A2ACLI_E: '',
    })
  })

  it('are below XDG_CONFIG_HOME if it is absolute', () => {
    const home = '/home/ada'
    assert.equal(configFolder({ environment: {}, home }), '/home/ada/.config/a2a-cli')
    assert.equal(configFolder({ environment: { XDG_CONFIG_HOME: '/etc/ada' }, home }), '/etc/ada/a2a-cli')
    assert.equal(configFolder({ environment: { XDG_CONFIG_HOME: 'ada' }, home }), '/home/ada/.config/a2a-cli')
    assert.equal(configFolder({ environment: {}, home: undefined }), undefined)
  })

  it('are plain files, unless the user names one: a project may link to a device that never ends', () => {
    const { project, home } = createFolders()
    symlinkSync('/dev/zero', join(project, '.env'))
    assert.deepEqual(readConfigFiles({ environment: {}, cwd: project, home }, undefined), [])
  })

  it('report whether others can read them', () => {
    const { project, home } = createFolders()
    const file = join(project, '.env')
    writeFileSync(file, 'A2ACLI_BEARER=x', { mode: 0o600 })
    const isReadable = () => readConfigFiles({ environment: {}, cwd: project, home }, undefined)[0]?.isReadableByOthers
    assert.equal(isReadable(), false)
    chmodSync(file, 0o644)
    assert.equal(isReadable(), true)
  })
})

describe('durations', () => {
  it('have units, or are seconds', () => {
    assert.deepEqual(
      ['2s', '500ms', '1m30s', '10', '1.5', '1h', '0'].map(parseDuration),
      [2_000, 500, 90_000, 10_000, 1_500, 3_600_000, 0],
    )
    assert.deepEqual(['', 's', '2 s', '-1', '1d', '5sm'].map(parseDuration), Array.from({ length: 6 }))
  })
})
