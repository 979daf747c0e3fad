/** From words to a command, its flags and its exit code, without a process. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Complaint } from './command.ts'
import { choose, commands, flagsOf } from './commands.ts'
import { runCommand } from './run-command.ts'
import { testTerminal } from './test-terminal.ts'

const flags = (words: string): ReturnType<typeof flagsOf> => {
  const { command, rest } = choose(words.split(' '))
  return flagsOf(command, rest)
}

describe('the command line', () => {
  it('finds a command by its words, and starts the hub without any', () => {
    const names = ['up', 'config check -c x', 'key create', '', '--store memory:'].map(
      (words) => choose(words === '' ? [] : words.split(' ')).command.name,
    )
    assert.deepEqual(names, ['up', 'config check', 'key create', 'up', 'up'])
  })

  it('says what there is when a word is missing or wrong', () => {
    assert.throws(
      () => choose(['key']),
      new Complaint('Say `parley key create`, `parley key list`, `parley key revoke`.'),
    )
    assert.throws(() => choose(['start']), new Complaint('There is no command start: see `parley help`.'))
    assert.throws(() => flags('up --prot 3'), /Unknown option '--prot'/)
    assert.throws(() => flags('up x'), /Unexpected argument 'x'/)
  })

  it('gives a command its flags, wherever they stand', () => {
    const created = flags('key create --agent a --agent b --expires 30d')
    assert.deepEqual([created.texts('agent'), created.text('expires')], [['a', 'b'], '30d'])
    assert.deepEqual(flags('key revoke k1').words, ['k1'])
    for (const words of [
      '--name coder https://a.example.com -c p.yaml',
      'https://a.example.com -c p.yaml --name coder',
    ]) {
      const added = flags(`agent add ${words}`)
      assert.deepEqual(
        [added.text('name'), added.text('config'), added.words],
        ['coder', 'p.yaml', ['https://a.example.com']],
      )
    }
    assert.deepEqual(flags('agent add --name coder wc words.txt').words, ['wc', 'words.txt'])
  })

  it('leaves to a command what stands behind --, also flags that look like ours', () => {
    const added = flags('agent add --name coder -- npx -y some-agent --name x --help')
    assert.deepEqual([added.text('name'), added.words], ['coder', ['npx', '-y', 'some-agent', '--name', 'x', '--help']])
    assert.throws(
      () => flags('agent add npx -y some-agent'),
      new Complaint(
        "Unknown option '-y'. A command with flags of its own stands behind --: parley agent add -- <command…>",
      ),
    )
  })

  it('helps with every command', async () => {
    const terminal = testTerminal()
    assert.equal(await runCommand(['help'], terminal), 0)
    for (const { name } of commands)
      assert.ok(
        terminal.said.some((line) => line.includes(`parley ${name}`)),
        name,
      )
    const one = testTerminal()
    assert.equal(await runCommand(['key', 'create', '--help'], one), 0)
    assert.ok(one.said.some((line) => line.includes('--tasks-per-day')))
    const add = testTerminal()
    assert.equal(await runCommand(['agent', 'add', 'https://a.example.com', '--help'], add), 0)
    assert.ok(add.said.some((line) => line.includes('--token-env')))
  })

  it('says its version', async () => {
    const terminal = testTerminal()
    assert.equal(await runCommand(['--version'], terminal), 0)
    assert.match(terminal.said[0] ?? '', /^\d+\.\d+\.\d+$/)
  })

  it('ends with 1 and a sentence, not a stack, when it was called wrongly', async () => {
    for (const words of [['nonsense'], ['up', '--nonsense'], ['key', 'revoke'], ['agent', 'add']]) {
      const terminal = testTerminal()
      assert.equal(await runCommand(words, terminal), 1)
      assert.equal(terminal.complaints.length, 1)
      assert.doesNotMatch(terminal.complaints[0] ?? '', /\n\s+at /)
    }
  })
})
