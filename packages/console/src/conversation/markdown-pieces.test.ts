import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { splitMarkdown, emptyMarkdownPieces } from './markdown-pieces.ts'

const paragraph = `${'word '.repeat(450)}\n\n`
const code = `\`\`\`js\n${'let x = 1\n\n'.repeat(400)}\`\`\`\n\n`

describe('a growing text', () => {
  it('is split into pieces that never change', () => {
    const whole = paragraph.repeat(5)
    let pieces = emptyMarkdownPieces
    const seen: string[][] = []
    for (let end = 0; end <= whole.length; end += 97) {
      pieces = splitMarkdown(whole.slice(0, end), pieces)
      assert.equal([...pieces.whole, pieces.rest].join(''), whole.slice(0, end))
      const before = seen.at(-1) ?? []
      assert.deepEqual(pieces.whole.slice(0, before.length), before)
      seen.push([...pieces.whole])
    }
    assert.ok(pieces.whole.length >= 3)
  })

  it('is not split within code, lists or tables', () => {
    const { whole } = splitMarkdown(`${code}Behind it\n`)
    assert.deepEqual(whole, [code])
    assert.deepEqual(splitMarkdown(`${paragraph}- one\n\n- two\n`).whole, [])
    assert.deepEqual(splitMarkdown(`${paragraph}| a |\n`).whole, [])
  })

  it('starts over with another text', () => {
    const before = splitMarkdown(paragraph.repeat(3))
    assert.equal(before.whole.length, 2)
    assert.deepEqual(splitMarkdown('short', before), { whole: [], rest: 'short' })
    assert.deepEqual(splitMarkdown(`Another ${paragraph}`, before).whole, [])
  })
})
