/** The troubleshooting tables of the docs quote messages that exist in the source, so that a search for a message finds its remedy. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '..')

/** The messages that a page quotes in the first column of its tables under "Troubleshooting". */
function quotedMessages(page: string): readonly string[] {
  const sections = page.split(/^(?=## )/m).filter((section) => section.startsWith('## Troubleshooting'))
  return sections
    .flatMap((section) => [...section.matchAll(/^\| (.*?) \|/gm)])
    .flatMap(([, cell = '']) => [...cell.matchAll(/"([^"]+)"/g)])
    .map(([, message]) => message as string)
}

/** A message in pieces: `…` stands for what the code inserts. */
const piecesOf = (message: string): readonly string[] =>
  message.split('…').flatMap((piece) => (piece.trim() === '' ? [] : [piece.trim()]))

/** The source without the breaks of long strings, so that a message is found whole. */
function readSources(): string {
  const files = globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root }).filter((file) => !/\.test\.tsx?$/.test(file))
  return files
    .map((file) => readFileSync(join(root, file), 'utf8').replaceAll(/['"`] \+\n\s+['"`]/g, ''))
    .join('\n')
    .replaceAll("\\'", "'")
}

describe('the troubleshooting tables', () => {
  const source = readSources()
  const pages = globSync('docs/{guides,reference,explanation}/**/*.md', { cwd: root })
  const quotes = pages.flatMap((page) =>
    quotedMessages(readFileSync(join(root, page), 'utf8')).map((message) => ({ page, message })),
  )

  it('quote messages that the source has', () => {
    assert.ok(quotes.length > 40, String(quotes.length))
    const unknown = quotes.filter(({ message }) => piecesOf(message).some((piece) => !source.includes(piece)))
    assert.deepEqual(unknown, [])
  })

  it('would be reported with a message that the source does not have', () => {
    const [message = ''] = quotedMessages('## Troubleshooting\n\n| you see | do |\n|---|---|\n| "Never … so" | x |\n')
    assert.deepEqual(piecesOf(message), ['Never', 'so'])
    assert.deepEqual(quotedMessages('## Limits\n\n| "Never" | x |\n'), [])
  })
})
