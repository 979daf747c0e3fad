/** Parsing arguments into a command, its flags and its exit code, without a process. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { commands, overrideOptions } from './commands.ts'
import { runCli } from './run.ts'
import { createTestTerminal, testFlags } from './testing/test-terminal.ts'

const flags = (words: string) => testFlags(...words.split(' '))

async function errorOf(words: string): Promise<string> {
  const terminal = createTestTerminal()
  assert.equal(await runCli(words.split(' '), terminal), 2)
  return terminal.errors.join('\n')
}

describe('the command line', () => {
  it('says what there is when a word is missing or wrong', async () => {
    const wrong = [
      [
        'key',
        'Missing subcommand of `parley key`. Use `parley key create`, `parley key list`, `parley key revoke`, `parley key rotate`.',
      ],
      ['start', 'Unknown command "start". See `parley help`.'],
      ['statsu', 'Unknown command "statsu". Did you mean `parley status`?'],
      ['add', 'Unknown command "add". Did you mean `parley agent add`?'],
      ['key lst', 'Unknown command "key lst". Did you mean `parley key list`?'],
      ['agent rm', 'Unknown command "agent rm". Did you mean `parley agent remove`?'],
      ['--prot 3', 'Unknown option --prot of `parley up`. Did you mean --port? See `parley help up`.'],
      ['up x', '`parley up` does not take "x". Usage: parley up [options]'],
      ['key revoke', '`parley key revoke` needs <id>. `parley key list` shows the ids.'],
    ] as const
    for (const [words, message] of wrong) assert.equal(await errorOf(words), message)
  })

  it('names a file that is missing, and creates no store', async (t) => {
    const cwd = mkdtempSync(join(tmpdir(), 'parley-commands-'))
    t.after(() => rmSync(cwd, { recursive: true }))
    const missing = join(cwd, 'missing')
    for (const words of ['restore missing', 'restore --list missing', 'restore --check missing', 'import missing']) {
      const terminal = createTestTerminal({ cwd })
      assert.equal(await runCli([...words.split(' '), '--data', 'data'], terminal), 1)
      assert.deepEqual(terminal.errors, [`${missing} does not exist: check the path.`])
    }
    const terminal = createTestTerminal({ cwd })
    assert.equal(await runCli(['restore', '.', '--data', 'data'], terminal), 1)
    assert.deepEqual([terminal.errors, readdirSync(cwd)], [[`${cwd} is a directory: name a file in it.`], []])
  })

  it('names a store that is missing, or is none', async (t) => {
    const cwd = mkdtempSync(join(tmpdir(), 'parley-commands-'))
    t.after(() => rmSync(cwd, { recursive: true }))
    const file = join(cwd, 'parley.db')
    const errorsOf = async (words: string): Promise<readonly string[]> => {
      const terminal = createTestTerminal({ cwd })
      assert.equal(await runCli([...words.split(' '), '--data', '.'], terminal), 1)
      return terminal.errors
    }
    for (const words of ['verify', 'backup x', 'export x'])
      assert.deepEqual(await errorsOf(words), [`No store at ${file}: name its directory with --data.`])
    writeFileSync(file, 'a text')
    const message = `The store ${file} cannot be opened (file is not a database): choose another file.`
    for (const words of ['verify', 'backup x', 'export x']) assert.deepEqual(await errorsOf(words), [message])
  })

  it('gives a command its flags, wherever they stand', () => {
    const created = flags('key create --agent a --agent b --expires 30d')
    assert.deepEqual([created.values('agent'), created.value('expires')], [['a', 'b'], '30d'])
    assert.deepEqual(flags('key revoke k1').positionals, ['k1'])
    for (const words of [
      '--name coder https://a.example.com -c p.yaml',
      'https://a.example.com -c p.yaml --name coder',
    ]) {
      const added = flags(`agent add ${words}`)
      assert.deepEqual(
        [added.value('name'), added.value('config'), added.positionals],
        ['coder', 'p.yaml', ['https://a.example.com']],
      )
    }
    assert.deepEqual(flags('agent add --name coder wc words.txt').positionals, ['wc', 'words.txt'])
  })

  it('leaves to a command what stands behind --, also flags that look like ours', async () => {
    const added = flags('agent add --name coder -- npx -y some-agent --name x --help')
    assert.deepEqual(
      [added.value('name'), added.positionals],
      ['coder', ['npx', '-y', 'some-agent', '--name', 'x', '--help']],
    )
    assert.equal(
      await errorOf('agent add npx -y some-agent'),
      'Unknown option -y of `parley agent add`. Put a command with its own options after --: `parley agent add -- <command…>`. See `parley help agent add`.',
    )
  })

  it('helps with every command', async () => {
    const terminal = createTestTerminal()
    assert.equal(await runCli(['help'], terminal), 0)
    for (const { name } of commands)
      assert.ok(
        terminal.printed.some((line) => line.includes(`parley ${name}`)),
        name,
      )
    const one = createTestTerminal()
    assert.equal(await runCli(['key', 'create', '--help'], one), 0)
    assert.ok(one.printed.some((line) => line.includes('--tasks-per-day')))
    const add = createTestTerminal()
    assert.equal(await runCli(['agent', 'add', 'https://a.example.com', '--help'], add), 0)
    assert.ok(add.printed.some((line) => line.includes('--token-env')))
  })

  it('documents every option of every command', async () => {
    const overrides = overrideOptions.map(({ name }) => name)
    for (const { name, options } of commands) {
      const terminal = createTestTerminal()
      await runCli([...name.split(' '), '--help'], terminal)
      const text = terminal.printed.join('\n')
      // The overrides of the configuration have one line.
      const missing = options.filter((option) => !text.includes(`--${option.name}`) && !overrides.includes(option.name))
      assert.deepEqual(missing, [], name)
    }
  })

  it('lists `a2a`, whose commands are not those of the hub, in its help', async () => {
    const terminal = createTestTerminal()
    await runCli(['help'], terminal)
    assert.ok(terminal.printed.some((line) => /^ {2}parley a2a <command> +Calls and checks A2A agents\./.test(line)))
  })

  it('says its version', async () => {
    const terminal = createTestTerminal()
    assert.equal(await runCli(['--version'], terminal), 0)
    assert.equal(await runCli(['-V'], terminal), 0)
    assert.match(terminal.printed[0] ?? '', /^\d+\.\d+\.\d+$/)
  })

  it('ends with 2 and a sentence, not a stack, when it was called wrongly', async () => {
    for (const words of [['nonsense'], ['up', '--nonsense'], ['key', 'revoke'], ['agent', 'add']]) {
      const terminal = createTestTerminal()
      assert.equal(await runCli(words, terminal), 2)
      assert.equal(terminal.errors.length, 1)
      assert.doesNotMatch(terminal.errors[0] ?? '', /\n\s+at /)
    }
  })

  it('names the flag and its values if a value is wrong, before it asks the hub', async () => {
    const wrong = [
      ['logs -n 5000', '--tail must be a number from 1 to 1000, not "5000".'],
      ['logs --level trace', '--level: "trace" is none of debug, info, warn, error.'],
      [
        'audit export --since yesterday',
        '--since must be a time such as 2026-01-31T12:00:00Z, or an age such as 24h, not "yesterday".',
      ],
    ] as const
    for (const [words, message] of wrong) {
      const terminal = createTestTerminal()
      assert.deepEqual([await runCli(words.split(' '), terminal), terminal.errors], [2, [message]], words)
    }
  })

  it('shows the help of a group of commands', async () => {
    const outputs = [
      ['key', '--help'],
      ['key', '-h'],
      ['help', 'key'],
    ].map(async (words) => {
      const terminal = createTestTerminal()
      assert.equal(await runCli(words, terminal), 0)
      return terminal.printed
    })
    const [first = [], ...others] = await Promise.all(outputs)
    assert.ok(first.some((line) => line.startsWith('parley key rotate')))
    for (const other of others) assert.deepEqual(other, first)
  })
})
