import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { runCli } from './run.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

async function script(shell: string): Promise<string> {
  const terminal = createTestTerminal()
  assert.equal(await runCli(['completion', shell], terminal), 0)
  return terminal.printed.join('\n')
}

/** What bash offers for each line, in one shell; the last word is incomplete. */
async function complete(lines: readonly (readonly string[])[]): Promise<readonly (readonly string[])[]> {
  const calls = lines.map(
    (words) => `COMP_WORDS=(${['parley', ...words].map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
COMPREPLY=(); _parley; printf '%s\\n' "\${COMPREPLY[@]}"; echo '>'`,
  )
  const program = [await script('bash'), ...calls].join('\n')
  const { stdout, stderr, status } = spawnSync('bash', ['-c', program], { encoding: 'utf8' })
  assert.deepEqual([status, stderr], [0, ''])
  return stdout
    .split('>\n')
    .slice(0, -1)
    .map((text) => text.split('\n').filter((line) => line !== ''))
}

const hasBash = spawnSync('bash', ['-c', 'complete -p']).status !== null
const hasShell = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0

describe('parley completion', () => {
  it('completes commands, subcommands and options in bash', { skip: !hasBash && 'there is no bash' }, async () => {
    const cases = [
      [['st'], ['status']],
      [
        ['key', ''],
        ['create', 'list', 'revoke', 'rotate'],
      ],
      [['key', 'create', '--exp'], ['--expires']],
      [['key', 'revoke', 'some-id', '--time'], ['--timeout']],
      [['completion', 'z'], ['zsh']],
      // `key` is the port.
      [['--port', 'key', 'l'], ['logs']],
    ] as const
    assert.deepEqual(
      await complete(cases.map(([words]) => words)),
      cases.map(([, offered]) => offered),
    )
  })

  it('is valid zsh', { skip: !hasShell('zsh') && 'there is no zsh' }, async () => {
    const { stderr, status } = spawnSync('zsh', ['-n'], { input: await script('zsh'), encoding: 'utf8' })
    assert.deepEqual([status, stderr], [0, ''])
  })

  it('completes commands and options in fish', { skip: !hasShell('fish') && 'there is no fish' }, async () => {
    const program = await script('fish')
    const offered = (line: string): readonly string[] => {
      const { stdout, stderr } = spawnSync('fish', ['-c', `${program}\ncomplete -C '${line}'`], { encoding: 'utf8' })
      assert.equal(stderr, '')
      return stdout.split('\n').filter((one) => one !== '')
    }
    assert.deepEqual(offered('parley st'), ['status'])
    assert.deepEqual(offered('parley key '), ['create', 'list', 'revoke', 'rotate'])
    assert.deepEqual(offered('parley key create --exp'), ['--expires'])
    assert.deepEqual(offered('parley key revoke some-id --time'), ['--timeout'])
  })

  it('lists the shells if none is named', async () => {
    const terminal = createTestTerminal()
    assert.equal(await runCli(['completion'], terminal), 2)
    assert.deepEqual(terminal.errors, [
      '`parley completion` needs <bash | zsh | fish>. Usage: parley completion <bash | zsh | fish> [options]',
    ])
  })
})
