/** `a2a skill`: the files that it writes are those of the repository. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runInMemory } from '../testing/memory-terminal.ts'

const original = join(import.meta.dirname, '../../../../.agents/skills/a2a')
const names = ['SKILL.md', 'references/examples.md']
const read = (folder: string): readonly string[] => names.map((name) => readFileSync(join(folder, name), 'utf8'))
const newFolder = (): string => mkdtempSync(join(tmpdir(), 'parley-cli-'))

describe('skill install', () => {
  it('writes the skill to the project, and says what it wrote', async () => {
    const cwd = newFolder()
    const { code, stdout, stderr } = await runInMemory(['skill', 'install'], { cwd })
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(stdout, 'Wrote: .agents/skills/a2a/SKILL.md\nWrote: .agents/skills/a2a/references/examples.md\n')
    assert.deepEqual(read(join(cwd, '.agents/skills/a2a')), read(original))
    const again = await runInMemory(['skill', 'install', '-o', 'json'], { cwd })
    const { files } = JSON.parse(again.stdout) as { readonly files: readonly { path: string; status: string }[] }
    assert.deepEqual(
      files,
      names.map((name) => ({ path: join(cwd, '.agents/skills/a2a', name), status: 'unchanged' })),
    )
  })

  it('replaces a changed file only with --force, and writes nothing otherwise', async () => {
    const cwd = newFolder()
    const folder = join(cwd, '.agents/skills/a2a')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'SKILL.md'), 'mine')
    const { code, stderr } = await runInMemory(['skill', 'install'], { cwd })
    assert.equal(code, 2)
    assert.match(stderr, /SKILL\.md was changed.*\n.*\nHint: Use --force/)
    assert.equal(readFileSync(join(folder, 'SKILL.md'), 'utf8'), 'mine')
    assert.throws(() => read(folder), /ENOENT/)
    assert.equal((await runInMemory(['skill', 'install', '--force'], { cwd })).code, 0)
    assert.deepEqual(read(folder), read(original))
  })

  it('writes to the home of the user, or to a folder of skills', async () => {
    const [cwd, home] = [newFolder(), newFolder()]
    assert.equal((await runInMemory(['skill', 'install', '--global'], { cwd, home })).code, 0)
    assert.deepEqual(read(join(home, '.agents/skills/a2a')), read(original))
    assert.equal((await runInMemory(['skill', 'install', '--dir', '.claude/skills'], { cwd, home })).code, 0)
    assert.deepEqual(read(join(cwd, '.claude/skills/a2a')), read(original))
    const { stderr } = await runInMemory(['skill', 'install'], { cwd, home })
    assert.match(stderr, /^Claude Code reads another folder: a2a skill install --dir \S+\.claude\/skills\n$/)
    assert.equal((await runInMemory(['skill', 'install', '--dir', 'x', '--global'], { cwd, home })).code, 2)
  })
})

describe('skill show', () => {
  it('prints the SKILL.md', async () => {
    assert.equal((await runInMemory(['skill', 'show'])).stdout, read(original)[0])
  })
})
