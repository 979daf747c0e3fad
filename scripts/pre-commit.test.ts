/** Tests the hook with real commits, and compares the editor settings with those that it checks. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createScratchRepository, scratchEnv } from './scratch-repository.ts'

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }

describe('the pre-commit hook', () => {
  const { root, write, git } = createScratchRepository({ 'packages/a/src/one.ts': 'export const one = 1\n' })
  const commit = () => {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']
    const args = [...identity, 'commit', '-q', '-m', 'One']
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, env: scratchEnv, encoding: 'utf8' })
    return { status, output: stdout + stderr }
  }

  it('is installed by npm run hooks and by nothing else', () => {
    const [program = '', ...args] = scripts['hooks']?.split(' ') ?? []
    assert.equal(program, 'git')
    git(...args)
    assert.equal(git('config', 'core.hooksPath').trim(), '.githooks')
    const installing = Object.entries(scripts).filter(([, command]) => /hooksPath|run (-s )?hooks/.test(command))
    assert.deepEqual(
      installing.map(([name]) => name),
      ['hooks'],
    )
  })

  it('rejects staged files that are not formatted or have a lint error, and prints how to format them', () => {
    write('packages/a/src/one.ts', 'export const one = 1;\n')
    write('packages/a/src/three.ts', 'export const three = { a: 1, a: 2 }\n')
    git('add', '-A')
    const { status, output } = commit()
    assert.equal(status, 1)
    assert.match(output, /packages\/a\/src\/one\.ts/)
    assert.match(output, /npm run format/)
    assert.match(output, /no-dupe-keys/)
  })

  it('accepts the rest, and ignores files that are not staged', () => {
    write('packages/a/src/one.ts', 'export const one = 2\n')
    write('packages/a/src/three.ts', 'export const three = 3\n')
    write('notes.md', 'Notes\n')
    git('add', '-A')
    write('packages/a/src/two.ts', 'export const two = 2;\n')
    const { status, output } = commit()
    assert.equal(status, 0, output)
  })
})

describe('.editorconfig', () => {
  it('agrees with the settings of oxfmt', () => {
    const {
      printWidth = 100,
      tabWidth = 2,
      useTabs = false,
    } = JSON.parse(read('.oxfmtrc.json')) as {
      readonly printWidth?: number
      readonly tabWidth?: number
      readonly useTabs?: boolean
    }
    const [, forAll = ''] = /^\[\*\]\n((?:.+\n)+)/m.exec(read('.editorconfig')) ?? []
    assert.deepEqual(
      forAll
        .trim()
        .split('\n')
        .filter((line) => /^(max_line|indent|end_of)/.test(line)),
      [
        'end_of_line = lf',
        `indent_style = ${useTabs ? 'tab' : 'space'}`,
        `indent_size = ${tabWidth}`,
        `max_line_length = ${printWidth}`,
      ],
    )
  })
})
