import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMarkdownRenderer } from './markdown.ts'

/** Styles as readable marks: `<1>bold<22>`. */
const readable = (text: string): string => text.replaceAll('\u001B[', '<').replaceAll(/<(\d+)m/g, '<$1>')

function render(...chunks: string[]): string {
  const renderer = createMarkdownRenderer()
  return readable(chunks.map((chunk) => renderer.push(chunk)).join('') + renderer.end())
}

describe('Markdown in a terminal', () => {
  it('shows headings, emphasis, code and links', () => {
    assert.equal(render('# Title\n'), '<1><4>Title<24><22>\n')
    assert.equal(render('## Part *one*\n'), '<1>Part <3>one<23><22>\n')
    assert.equal(render('## A **b** c\n'), '<1>A <1>b<22><1> c<22>\n')
    assert.equal(render('a **b** _c_ `d**e`'), 'a <1>b<22> <3>c<23> <36>d**e<39>')
    assert.equal(render('**a *b* c**'), '<1>a <3>b<23> c<22>')
    assert.equal(render('see [the docs](https://x.example/a) now'), 'see the docs (<4>https://x.example/a<24>) now')
  })

  it('shows lists, quotes, rules and code blocks', () => {
    assert.equal(render('- one\n  * two\n1. three\n'), '• one\n  • two\n1. three\n')
    assert.equal(render('> said\n'), '<2>│ <22>said\n')
    assert.equal(render('---\n'), '<2>────────────────────<22>\n')
    assert.equal(render('```ts\nlet a = **1**\n```\nafter'), '<2>ts<22>\n  <36>let a = **1**<39>\n\nafter')
  })

  it('keeps every character of what is no Markdown', () => {
    for (const text of [
      '2 * 3 * 4 = 24',
      'snake_case_name and __init__.py',
      '*required',
      '**open',
      'a `b',
      '[x] done [y](',
      '#hashtag',
      '-5 degrees',
      '1.5 liters',
      '| a | b |\n|---|---|\n',
      'C:\\Users\\me',
    ])
      assert.equal(render(text).replaceAll(/<\d+>/g, ''), text.replace('__init__', 'init'), text)
  })

  it('is the same wherever the text is cut', () => {
    const text =
      '# A *b*\n\nSome **bold `code`** text, [link](http://x) and _more_.\n- one **two**\n> q\n```\ncode *x*\n```\nend *open\n'
    const whole = render(text)
    for (let size = 1; size < 12; size++) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        text.slice(at * size, (at + 1) * size),
      )
      assert.equal(render(...chunks), whole, `chunks of ${size}`)
    }
  })

  it('writes text as soon as its meaning is certain', () => {
    const renderer = createMarkdownRenderer()
    assert.equal(renderer.push('Hello'), 'Hello')
    assert.equal(renderer.push(' you **b'), ' you ')
    assert.equal(readable(renderer.push('old** and')), '<1>bold<22> and')
    assert.equal(renderer.push('\n'), '\n')
    assert.equal(renderer.push('-'), '')
    assert.equal(renderer.push(' x'), '• x')
  })

  it('takes linear time, whatever an agent writes', () => {
    for (const text of ['*a ', '[a ', '__a ', '_a ', 'a*b ', '`a ']) {
      const before = process.threadCpuUsage()
      const renderer = createMarkdownRenderer()
      renderer.push(text.repeat(20_000))
      renderer.end()
      assert.ok(process.threadCpuUsage(before).user < 2_500_000, text)
    }
  })
})
