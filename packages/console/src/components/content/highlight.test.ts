import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tokenize } from './highlight.ts'
import { languageNamed, languageOfFile } from './language-names.ts'
import { languages } from './languages.ts'

/** The tokens that are not plain, as `kind:text`. */
function marked(text: string, language: string): readonly string[] {
  return tokenize(text, language).flatMap(({ kind, text: part }) => (kind === 'plain' ? [] : [`${kind}:${part}`]))
}

describe('tokens', () => {
  const examples: readonly (readonly [language: string, code: string, expected: readonly string[]])[] = [
    [
      'javascript',
      'const a = new Map() // all\nreturn `x ${y}` + /[/"]+/g.test(b / 2) + o.delete + 0xff',
      ['keyword:const', 'keyword:new', 'function:Map', 'comment:// all', 'keyword:return', 'string:`x ${y}`'].concat([
        'string:/[/"]+/g',
        'function:test',
        'number:2',
        'number:0xff',
      ]),
    ],
    ['json', '{"a": [1, "b", true]}', ['key:"a"', 'number:1', 'string:"b"', 'literal:true']],
    [
      'yaml',
      'agents: # all\n  my-agent:\n    url: http://host:80/a # b\n    n: -4.5\n    on: [yes, "x: y"]\n    t: &a x',
      ['key:agents', 'comment:# all', 'key:my-agent', 'key:url', 'string:http://host:80/a ', 'comment:# b'].concat([
        'key:n',
        'number:-4.5',
        'key:on',
        'literal:yes',
        'string:"x: y"',
        'key:t',
        'meta:&a',
        'string:x',
      ]),
    ],
    [
      'yaml',
      'a:\n  - text: |\n      one: 1\n\n      two\n    b: 2',
      ['key:a', 'key:text', 'string:|\n      one: 1\n\n      two', 'key:b', 'number:2'],
    ],
    [
      'python',
      "@cached\ndef f(x): # c\n  return f'a' + '''b\nc''' if None else 1.5",
      ['meta:@cached', 'keyword:def', 'function:f', 'comment:# c', 'keyword:return', "string:f'a'"].concat([
        "string:'''b\nc'''",
        'keyword:if',
        'literal:None',
        'keyword:else',
        'number:1.5',
      ]),
    ],
    [
      'bash',
      'curl -s --data "a $b" ${URL} # c',
      ['keyword:curl', 'meta:-s', 'meta:--data', 'string:"a $b"', 'key:${URL}', 'comment:# c'],
    ],
    [
      'markup',
      '<a href="x">b &amp; c</a><!-- d -->',
      ['keyword:<a', 'key:href', 'string:"x"', 'keyword:>', 'literal:&amp;', 'keyword:</a', 'keyword:>'].concat([
        'comment:<!-- d -->',
      ]),
    ],
    ['css', '.a { color: #fff; margin: 2px }', ['type:.a', 'key:color', 'number:#fff', 'key:margin', 'number:2px']],
    [
      'sql',
      "SELECT * FROM t WHERE a = 'it''s' -- b",
      ['keyword:SELECT', 'keyword:FROM', 'keyword:WHERE', "string:'it''s'", 'comment:-- b'],
    ],
    [
      'go',
      'func f() error { return nil }',
      ['keyword:func', 'function:f', 'keyword:error', 'keyword:return', 'literal:nil'],
    ],
    [
      'rust',
      "#[test]\nfn a<'b>(c: &'b str) { println!(\"{}\", 'd') }",
      [
        'meta:#[test]',
        'keyword:fn',
        "meta:'b",
        "meta:'b",
        'keyword:str',
        'function:println!',
        'string:"{}"',
        "string:'d'",
      ],
    ],
    [
      'java',
      '@Override public String a() { /* b */ }',
      ['meta:@Override', 'keyword:public', 'type:String', 'function:a', 'comment:/* b */'],
    ],
    ['c', '#include <a.h>\nint main(void)', ['meta:#include <a.h>', 'keyword:int', 'function:main', 'keyword:void']],
    ['diff', '@@ -1 +1 @@\n-a\n+b\n c', ['meta:@@ -1 +1 @@\n', 'deleted:-a\n', 'inserted:+b\n']],
    ['toml', '[a]\nb = "c" # d', ['meta:[a]', 'key:b', 'string:"c"', 'comment:# d']],
  ]
  for (const [language, code, expected] of examples) {
    it(`of ${language}: ${JSON.stringify(code.slice(0, 30))}`, () => assert.deepEqual(marked(code, language), expected))
  }

  it('of an unknown language are one plain token', () => {
    assert.deepEqual(tokenize('let a', 'brainfuck'), [{ kind: 'plain', text: 'let a' }])
    assert.deepEqual(tokenize('', 'json'), [])
  })

  it('are the whole text when joined, whatever the text', () => {
    const pieces = [
      '"',
      "'",
      '`',
      '/*',
      '*/',
      '//',
      '/',
      '\\',
      '\n',
      '\r',
      '#',
      ': ',
      ':',
      '- ',
      '|\n',
      '  ',
      '<',
      '<!--',
      '>',
      '&',
      '[',
      ']',
      '{',
      '}',
      '${',
      'r#',
      '@',
      '+',
      '9',
      '.',
      'e',
      'if',
      'Ab',
      'é',
      '🙂',
      '\u2028',
    ]
    let seed = 7
    const next = (limit: number): number => (seed = (seed * 48_271) % 2_147_483_647) % limit
    for (const language of languages.keys()) {
      for (let round = 0; round < 200; round += 1) {
        const text = Array.from({ length: next(40) }, () => pieces[next(pieces.length)]).join('')
        const tokens = tokenize(text, language)
        assert.equal(tokens.map((token) => token.text).join(''), text, `${language}: ${JSON.stringify(text)}`)
        assert.ok(tokens.every((token) => token.text !== ''))
      }
    }
  })

  // A rule that takes quadratic time would take minutes.
  for (const [length, mark] of [
    [10_000, ''],
    [100_000, ' [full]'],
  ] as const)
    it(`of hostile texts of ${length} characters take linear time${mark}`, () => {
      for (const language of languages.keys()) {
        for (const piece of ['/[', ' a', '<a ', '\\[', '"', 'a: ', '|\n', '9_']) {
          const text = piece.repeat(length / piece.length)
          assert.equal(
            tokenize(text, language).reduce((sum, token) => sum + token.text.length, 0),
            text.length,
          )
        }
      }
    })
})

describe('a language', () => {
  it('is found by the word after a fence', () => {
    assert.deepEqual(languageNamed('ts title="a.ts"'), { id: 'javascript', title: 'TypeScript' })
    assert.deepEqual(languageNamed('YAML'), { id: 'yaml', title: 'YAML' })
    assert.deepEqual(languageNamed('cobol'), { id: undefined, title: 'cobol' })
    assert.equal(languageNamed(' '), undefined)
  })

  it('is found by the name of a file or its media type', () => {
    assert.equal(languageOfFile('main.rs', '')?.title, 'Rust')
    assert.equal(languageOfFile('', 'text/x-python; charset=utf-8')?.title, 'Python')
    assert.equal(languageOfFile('card', 'application/vnd.card+json')?.title, 'JSON')
    assert.equal(languageOfFile('README', 'text/plain'), undefined)
  })

  it('has a table if it has an id', () => {
    for (const name of [
      'js',
      'ts',
      'json',
      'yaml',
      'py',
      'sh',
      'html',
      'css',
      'sql',
      'go',
      'rs',
      'java',
      'c',
      'diff',
    ]) {
      assert.ok(languages.has(languageNamed(name)?.id ?? ''), name)
    }
  })
})
