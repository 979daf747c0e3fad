import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { runInMemory } from '../testing/memory-terminal.ts'

const hasShell = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0
const skipWithout = (shell: string): { skip: string | false } => ({ skip: !hasShell(shell) && `there is no ${shell}` })

const folder = mkdtempSync(join(tmpdir(), 'parley-completion-'))
writeFileSync(join(folder, 'my card.json'), '{}')

async function script(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runInMemory(['completion', shell])
  assert.deepEqual([code, stderr], [0, ''])
  return stdout
}

function run(shell: string, program: string): readonly string[] {
  const { stdout, stderr } = spawnSync(shell, ['-c', program], { encoding: 'utf8', cwd: folder })
  assert.equal(stderr, '')
  return stdout.split('\n').filter((line) => line !== '')
}

/** The same for every shell: the words of a line, the last incomplete, and what is offered for it. */
const cases: readonly (readonly [line: readonly string[], offered: readonly string[]])[] = [
  [['sen'], ['send']],
  [
    ['task', 'push-config', 'l'],
    ['list', 'listen'],
  ],
  [['-o', 'json', 'task', 'g'], ['get']],
  [['task', 'get', 'some-id', '--poll'], ['--poll-interval']],
  [['send', '--media'], ['--media-type']],
  [['server', '--exec-'], ['--exec-timeout']],
  [['demo-server', '--exec-'], ['--exec-timeout']],
  [['send', '--output', 'j'], ['json']],
  [['send', '-o', 't'], ['text']],
  [['task', 'list', '--status', 'w'], ['working']],
  [['send', '--bearer', ''], []],
  [['completion', 'z'], ['zsh']],
  [['help', 'task', 'push-config', 'c'], ['create']],
  [['card', 'get', '--agent-card', 'my'], ['my card.json']],
]

describe('a2a completion', () => {
  describe('bash', skipWithout('bash'), () => {
    // bash makes an equals sign a word of its own.
    const withEquals: typeof cases = [
      [['send', '--output', '=', 'j'], ['json']],
      [
        ['send', '--output', '='],
        ['text', 'json'],
      ],
      [['--output', '=', 'json', 'sen'], ['send']],
    ]
    const all = [...cases, ...withEquals]
    let printed: readonly string[] = []
    // One shell for all lines.
    before(async () => {
      const lines = all.map(
        ([words]) => `COMP_WORDS=(${['a2a', ...words].map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
COMPREPLY=(); _a2a 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"; echo '>'`,
      )
      printed = run('bash', [await script('bash'), ...lines].join('\n'))
        .join('\n')
        .split('>')
    })
    for (const [index, [words, offered]] of all.entries())
      it(`completes \`a2a ${words.join(' ')}\``, () =>
        assert.deepEqual(
          printed[index]?.split('\n').filter((line) => line !== ''),
          offered,
        ))
  })

  describe('fish', skipWithout('fish'), () => {
    let program = ''
    before(async () => {
      program = await script('fish')
    })
    it('completes the same, with descriptions', () => {
      const lines = cases.map(([words]) => `echo '>'; complete -C 'a2a ${words.join(' ')}'`)
      const printed = run('fish', `${program}\n${lines.join('\n')}`)
        .join('\n')
        .split('>\n')
        .slice(1)
      const offered = printed.map((text) =>
        text
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => line.split('\t')[0]?.replaceAll('\\', '')),
      )
      assert.deepEqual(
        offered,
        cases.map(([, expected]) => expected),
      )
      assert.match(printed[0] ?? '', /^send\tSends a message/)
    })
  })

  describe('zsh', skipWithout('zsh'), () => {
    it('is valid', async () => {
      const { stderr, status } = spawnSync('zsh', ['-n'], { input: await script('zsh'), encoding: 'utf8' })
      assert.deepEqual([status, stderr], [0, ''])
    })
    it('completes the same', async () => {
      // Stands in for the functions of zsh's own completion, which need a line editor: prints what they are given.
      const stubs = `compdef() { : }; _files() { print -l -- (#i)\${PREFIX}*(N) }; compset() { PREFIX="\${PREFIX#*=}" }
compadd() { shift; for one in "$@"; do [[ $one == $PREFIX* ]] && print -- $one; done }
_describe() { local name="\${@[-1]}"; for one in "\${(@P)name}"; do [[ $one == $PREFIX* ]] && print -- "\${one%%:*}"; done }
setopt extendedglob`
      const calls = cases.map(
        ([words]) =>
          `print '>'; words=(a2a ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}; PREFIX='${words.at(-1)}'; _a2a`,
      )
      const printed = run('zsh', `${stubs}\n${await script('zsh')}\n${calls.join('\n')}`)
      const offered = printed
        .join('\n')
        .split('>')
        .slice(1)
        .map((text) => text.split('\n').filter((line) => line !== ''))
      assert.deepEqual(
        offered,
        cases.map(([, expected]) => expected),
      )
    })
  })

  it('names the shells if the one given is unknown', async () => {
    const { code, stderr } = await runInMemory(['completion', 'csh'])
    assert.equal(code, 2)
    assert.match(stderr, /Unknown shell "csh"[^]*bash, zsh, fish/)
  })
})
