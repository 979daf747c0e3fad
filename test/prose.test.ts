/** Documents, messages and console texts use no word of the list in scripts/prose-words.json. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { checkProse, proseFiles, readWords, textsOf, unusedAllowances, withoutCode } from '../scripts/prose.ts'
import type { ProseWords } from '../scripts/prose.ts'

const root = join(import.meta.dirname, '..')
const words = readWords()
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const sample: ProseWords = {
  avoid: [
    { phrases: ['utilize', 'is told'], write: 'the actor' },
    { phrases: ['npx parley'], write: 'npx @parley/hub', inCode: true },
  ],
  allow: { 'quoted.md': { utilize: 'quotes a message of another program' } },
}
const found = (file: string, content: string): readonly string[] =>
  checkProse(file, content, sample).map(({ line, phrase }) => `${line} ${phrase}`)

describe('the prose of documents, messages and the console', () => {
  const files = proseFiles(root)

  it('is read from pages and from sources of every package', () => {
    for (const file of ['README.md', 'docs/reference/cli.md', 'packages/hub/src/cli/commands.ts']) {
      assert.ok(files.includes(file), file)
    }
    assert.ok(files.some((file) => /^packages\/console\/src\/.*\.tsx$/.test(file)))
    assert.ok(!files.some((file) => file.endsWith('.test.ts')))
  })

  it('has no word of the list: `npm run prose` shows what to write instead', () => {
    const findings = files
      .flatMap((file) => checkProse(file, read(file), words))
      .map(({ file, line, phrase, write }) => `${file}:${line}: "${phrase}": write ${write}`)
    assert.deepEqual(findings, [])
  })

  it('allows a phrase in a file only with a reason, and only while the file uses it', () => {
    const reasons = Object.values(words.allow).flatMap((phrases) => Object.values(phrases))
    assert.ok(reasons.every((reason) => reason.trim().split(' ').length >= 3))
    const readIfThere = (file: string): string | undefined => (existsSync(join(root, file)) ? read(file) : undefined)
    assert.deepEqual(unusedAllowances(words, readIfThere), [])
    assert.deepEqual(
      unusedAllowances(sample, () => 'The client.'),
      ['quoted.md: utilize'],
    )
  })
})

describe('the check of prose', () => {
  it('finds a phrase in any case, as whole words, also across lines', () => {
    assert.deepEqual(found('a.md', 'Utilize\nknows. It is\ntold.'), ['1 utilize', '2 is told'])
    assert.deepEqual(found('a.md', 'A utilize-like word, utilizes.'), [])
  })

  it('leaves the code of a page out, except for commands', () => {
    const page = 'Run `utilize`.\n\n```sh\nnpx parley # utilize\n```\n\n[a](utilize.md) <!-- utilize -->\n'
    assert.deepEqual(found('a.md', page), ['4 npx parley'])
    assert.equal(withoutCode(page).length, page.length)
  })

  it('reads the texts of a program: literals, templates and what JSX shows, not names, imports or comments', () => {
    const source =
      "import x from 'utilize is'\n// utilize is\nconst a = 'utilize'\nconst b = 'utilize is'\nconst c = `${x} utilize is`\n"
    assert.deepEqual(found('a.ts', source), ['4 utilize', '5 utilize'])
    assert.deepEqual(found('a.tsx', 'const d = <p title="x is told y">utilize{\'utilize\'}</p>\n'), [
      '1 is told',
      '1 utilize',
      '1 utilize',
    ])
    assert.deepEqual(
      textsOf('a.ts', 'const a = "one two"').map(({ text }) => text),
      ['one two'],
    )
  })

  it('allows a phrase in the files that have a reason', () => {
    assert.deepEqual(found('quoted.md', 'utilize, and it is told'), ['1 is told'])
  })
})
