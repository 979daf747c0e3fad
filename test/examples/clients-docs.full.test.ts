/** The guides on calling an agent are correct: every program on the pages runs, and so does the client of the README. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { root, runToEnd } from './program.ts'

const guides = ['clients', 'client-streams', 'client-auth', 'conversations', 'webhook-receiver', 'client-http']
const pages = await Promise.all(guides.map((name) => readFile(join(root, `docs/guides/${name}.md`), 'utf8')))
const readme = await readFile(join(root, 'README.md'), 'utf8')

interface Snippet {
  readonly chapter: string
  readonly code: string
}
const snippetsIn = (text: string): Snippet[] =>
  [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(({ 1: code = '', index }) => {
    const chapter = /.*^#+ (.*?)$/ms.exec(text.slice(0, index))?.[1] ?? ''
    return { chapter, code }
  })
const snippets = [
  ...pages.flatMap(snippetsIn),
  ...snippetsIn(readme).filter(({ code }) => code.includes('@parley/a2a/client')),
]

/** The output of the programs, where it is predictable. */
const printed: Readonly<Record<string, RegExp>> = {
  'Finding an agent': /^\[ 'Example' \]$/,
  'Versions and bindings': /^HTTP\+JSON 1\.0 Number \d of 4 on the card, in a binding the caller prefers$/,
  Calls: /^task$/,
  Streams: /TASK_STATE_COMPLETED|artifactUpdate/,
  'Resume a stream in another process': /TASK_STATE_COMPLETED|artifactUpdate/,
  Errors: /^gone$/,
  'OAuth 2': /^$/,
  invoke: /^You said Summarise this$/,
  'Interceptors, traces, logs': /^SendMessage, try 1: \d+ ms$/,
  'Block private addresses (SSRF)': /^[A-Z_]+$/,
  RxJS: /^You \nsaid \nCount$/,
  Testing: /^Hello$/,
  'Signed cards': /^unsigned$/,
}

/** The variables of the first program of the pages. */
function whole(code: string): string {
  const connects = /\bconnect\(/.test(code) || /\bagent\./.test(code)
  const imports = /import \{.*\bconnect\b.*\} from/.test(code)
  const held = /\b(const|let) agent\b/.test(code) || !/\bagent\./.test(code)
  return [
    connects && !imports ? `import { connect } from '@parley/a2a/client'\n` : '',
    held ? '' : `const agent = await connect('https://agent.example.com')\n`,
    code,
  ].join('')
}

describe('the guides on calling an agent', { concurrency: 2 }, async () => {
  // Inside the repository, so that imports find the packages.
  const folder = await mkdtemp(join(root, 'test/examples/.clients-'))
  after(() => rm(folder, { recursive: true }))
  const world = join(import.meta.dirname, 'clients-docs-preload.ts')

  it('has the programs that this test expects', () => {
    const chapters = snippets.map(({ chapter }) => chapter)
    assert.ok(chapters.length >= 15, chapters.join(', '))
    for (const chapter of Object.keys(printed)) assert.ok(chapters.includes(chapter), chapter)
  })

  for (const [index, { chapter, code }] of snippets.entries()) {
    it(`runs number ${index + 1}: ${chapter}`, async () => {
      await mkdir(join(folder, String(index)))
      const file = join(folder, String(index), 'main.ts')
      await writeFile(file, whole(code))
      const output = await runToEnd(file, world)
      assert.match(output.join('\n'), printed[chapter] ?? /(?:)/)
    })
  }
})
