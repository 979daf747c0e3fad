/** The TypeScript of the docs that no other test runs compiles against the SDK and the hub. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { fencedBlocks } from '../journeys/pages/page-steps.ts'
import { root } from './program.ts'

/** clients-docs.full.test.ts and simple-docs.test.ts run the programs of these pages. */
const running = new Set(
  ['clients', 'client-streams', 'client-auth', 'conversations', 'webhook-receiver', 'client-http', 'simple'].map(
    (name) => `docs/guides/${name}.md`,
  ),
)

const config = {
  extends: '../../../tsconfig.base.json',
  // A snippet may declare names only to show them.
  compilerOptions: {
    noEmit: true,
    emitDeclarationOnly: false,
    composite: false,
    declaration: false,
    declarationMap: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
  },
  include: ['*.ts'],
}

describe('the snippets of the docs', () => {
  it('compile', { timeout: 300_000 }, async () => {
    // Inside the repository, so that imports find the packages.
    const folder = await mkdtemp(join(import.meta.dirname, '.snippets-'))
    after(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    await copyFile(join(import.meta.dirname, 'snippet-globals.d.ts'), join(folder, 'snippet-globals.d.ts'))
    const count = await writeSnippets(folder)
    assert.ok(count >= 25, String(count))

    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', folder]).catch(
      (failure: { stdout: string }) => failure,
    )
    assert.equal(stdout, '')
  })
})

/** One file per snippet, named by its page, so that an error of the compiler names it too. */
async function writeSnippets(folder: string): Promise<number> {
  const pages = globSync('docs/{guides,reference,explanation}/**/*.md', { cwd: root }).filter(
    (page) => !running.has(page),
  )
  let count = 0
  for (const page of pages) {
    const text = await readFile(join(root, page), 'utf8')
    for (const [, code = ''] of text.matchAll(/^```ts\n([\s\S]*?)^```/gm)) {
      count += 1
      const name = page.replaceAll('/', '_').replace('.md', '')
      await writeFile(join(folder, `${name}-${count}.ts`), `${code}\nexport {}\n`)
    }
  }
  const guide = await readFile(join(root, 'docs/guides/write-a-store.md'), 'utf8')
  for (const { title, language, content } of fencedBlocks(guide)) {
    // The test of the page needs a database of the reader.
    if (language !== 'ts' || title === undefined || title.endsWith('.test.ts')) continue
    count += 1
    await writeFile(join(folder, title), content)
  }
  return count
}
