/**
 * The languages that can be highlighted. Each rule matches at the current position only, and never fails after a long search: what
 * is not closed extends to the end of its line or of the text.
 */

export type TokenKind =
  | 'plain'
  | 'comment'
  | 'string'
  | 'number'
  | 'keyword'
  | 'literal'
  | 'function'
  | 'type'
  | 'key'
  | 'meta'
  | 'inserted'
  | 'deleted'

export interface Rule {
  /** `word`: by the language's lists of words. */
  readonly kind: TokenKind | 'word'
  /** A sticky pattern; or a function that returns the end of the match. */
  readonly match: RegExp | ((text: string, at: number) => number | undefined)
  /** The state after the match. */
  readonly next?: string
  /** Matches only if the last visible character before it does. */
  readonly after?: RegExp
}

export interface Language {
  readonly states: Readonly<Record<string, readonly Rule[]>>
  readonly keywords?: ReadonlySet<string>
  readonly literals?: ReadonlySet<string>
  readonly ignoresCase?: boolean
}

const words = (text: string): ReadonlySet<string> => new Set(text.split('|'))

const space: Rule = { kind: 'plain', match: /\s+/y }
const name: Rule = { kind: 'word', match: /[\p{L}_$][\p{L}\p{N}_$]*/uy }
const number: Rule = {
  kind: 'number',
  match: /0[xob][\da-f_]+n?|(?:\d[\d_]*(?:\.\d[\d_]*)?|\.\d[\d_]*)(?:e[+-]?\d+)?[a-z%]{0,4}/iy,
}
const doubleQuoted: Rule = { kind: 'string', match: /"(?:\\[^]|[^"\\\n])*"?/y }
const singleQuoted: Rule = { kind: 'string', match: /'(?:\\[^]|[^'\\\n])*'?/y }
const slashComment: Rule = { kind: 'comment', match: /\/\/.*/y }
const blockComment: Rule = { kind: 'comment', match: /\/\*[^]*?(?:\*\/|$)/y }
const hashComment: Rule = { kind: 'comment', match: /(?<!\S)#.*/y }

function code(rules: readonly Rule[], about: Omit<Language, 'states'> = {}): Language {
  return { states: { root: [space, ...rules, name, number] }, ...about }
}

const cLike = [slashComment, blockComment, doubleQuoted]
const commonLiterals = 'true|false|null'

const javascript = code(
  [
    ...cLike,
    singleQuoted,
    { kind: 'string', match: /`(?:\\[^]|[^`\\])*`?/y },
    // A slash that follows an operand divides.
    {
      kind: 'string',
      after: /^[^\w$)\]}.<]?$/,
      match: /\/(?![*/ ])(?:\\.|\[(?:\\.|[^\]\\\n])*(?:\]|\\?$)|[^/\\\n[])*(?:\/[a-z]*|\\?$)/my,
    },
    { kind: 'meta', match: /@[\w$.]+|#![^\n]*/y },
  ],
  {
    keywords: words(
      'abstract|as|async|await|break|case|catch|class|const|continue|debugger|declare|default|delete|do|else|enum|export|extends|finally|for|from|function|get|if|implements|import|in|infer|instanceof|interface|is|keyof|let|namespace|new|of|override|private|protected|public|readonly|return|satisfies|set|static|super|switch|this|throw|try|type|typeof|unique|using|var|void|while|with|yield|any|boolean|never|number|object|string|symbol|unknown|bigint',
    ),
    literals: words(`${commonLiterals}|undefined|NaN|Infinity`),
  },
)

const json = code(
  [
    { kind: 'key', match: /"(?:\\[^]|[^"\\\n])*"(?=\s{0,64}:)/y },
    doubleQuoted,
    slashComment,
    blockComment,
    { kind: 'number', match: /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/iy },
  ],
  { literals: words(commonLiterals) },
)

/** Text that the indicator before it starts: all lines that are indented deeper than the line of the indicator. */
function blockScalar(text: string, at: number): number | undefined {
  const indicator = /[|>][-+\d]{0,3}[ \t]*(?:#.*)?$/my
  indicator.lastIndex = at
  if (!indicator.test(text)) return undefined
  const indentAt = (start: number): number => {
    let end = start
    while (text[end] === ' ') end += 1
    return end - start
  }
  const line = text.lastIndexOf('\n', at) + 1
  let outer = indentAt(line)
  // In `- key: |`, the dashes indent the key as spaces do.
  while (text.startsWith('- ', line + outer) && line + outer + 2 < at) outer += 2 + indentAt(line + outer + 2)
  let end = indicator.lastIndex
  while (end < text.length) {
    const start = end + 1
    const indent = indentAt(start)
    const isBlank = text[start + indent] === '\n' || text[start + indent] === '\r' || start + indent >= text.length
    if (!isBlank && indent <= outer) break
    const lineEnd = text.indexOf('\n', start)
    end = lineEnd < 0 ? text.length : lineEnd
  }
  return end
}

const yaml: Language = {
  states: {
    root: [
      { kind: 'meta', match: /^(?:---|\.\.\.|%).*/my },
      space,
      hashComment,
      { kind: 'key', match: /(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*'|<<)(?=:(?:\s|$))/y },
      {
        kind: 'key',
        match: /(?:[^\s#:'"[\]{},&*!|>%@`?-]|[-?](?=\S))(?:[^\n:#,[\]{}]|:(?=\S)|(?<=\S)#)*(?=:(?:\s|$))/y,
      },
      { kind: 'string', match: /"(?:\\[^]|[^"\\])*"?|'(?:''|[^'])*'?/y },
      { kind: 'string', match: blockScalar },
      { kind: 'meta', match: /[&*!][^\s,[\]{}]*/y },
      {
        kind: 'number',
        match: /[-+]?(?:0x[\da-f]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)(?=[ \t]{0,64}(?:$|[\r\n,\]}#]))/iy,
      },
      { kind: 'literal', match: /(?:true|false|null|yes|no|on|off|~)(?=[ \t]{0,64}(?:$|[\r\n,\]}#]))/iy },
      { kind: 'string', match: /(?:[^\s#:'"[\]{},&*!|>%@`?-]|[-:?](?=\S))(?:[^\n:#,[\]{}]|:(?=\S)|(?<=\S)#)*/y },
    ],
  },
}

const python = code(
  [
    hashComment,
    { kind: 'string', match: /[rbfu]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$))/iy },
    { kind: 'string', match: /[rbfu]{0,2}(?:"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?)/iy },
    { kind: 'meta', match: /@[\w.]+/y },
  ],
  {
    keywords: words(
      'and|as|assert|async|await|break|case|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|match|nonlocal|not|or|pass|raise|return|try|while|with|yield|self',
    ),
    literals: words('True|False|None'),
  },
)

const bash = code(
  [
    hashComment,
    { kind: 'string', match: /"(?:\\[^]|[^"\\])*"?|'[^']*'?/y },
    { kind: 'key', match: /\$(?:\{[^}\n]*\}?|[\w@*#?$!-])\w*/y },
    { kind: 'meta', match: /(?<!\S)--?[A-Za-z][\w-]*/y },
    { kind: 'word', match: /[A-Za-z_][\w./-]*/y },
  ],
  {
    keywords: words(
      'if|then|else|elif|fi|for|while|until|do|done|case|esac|in|function|return|local|export|source|set|unset|trap|exit|break|continue|shift|readonly|declare|eval|exec|sudo|cd|echo|curl|npm|npx|node|git|docker|cat|grep|sed|awk|mkdir|rm|cp|mv',
    ),
    literals: words('true|false'),
  },
)

const markup: Language = {
  states: {
    root: [
      { kind: 'plain', match: /[^<&]+/y },
      { kind: 'comment', match: /<!--[^]*?(?:-->|$)/y },
      { kind: 'meta', match: /<[!?][^>]*>?/y },
      { kind: 'keyword', match: /<\/?[A-Za-z][\w:.-]*/y, next: 'tag' },
      { kind: 'literal', match: /&#?\w{1,32};/y },
    ],
    tag: [
      space,
      { kind: 'keyword', match: /\/?>/y, next: 'root' },
      { kind: 'key', match: /[^\s"'<>/=]+/y },
      { kind: 'string', match: /"[^"]*"?|'[^']*'?/y },
    ],
  },
}

const css = code([
  blockComment,
  { kind: 'string', match: /"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?/y },
  { kind: 'keyword', match: /@[\w-]+|!important/y },
  { kind: 'number', match: /#[\da-f]{3,8}\b|-?(?:\d+(?:\.\d+)?|\.\d+)[a-z%]{0,4}/iy },
  { kind: 'key', match: /-{0,2}[A-Za-z][\w-]{0,64}(?=\s{0,8}:(?!:|[\w-]{1,64}\s{0,8}[{,]))/y },
  { kind: 'type', match: /[.#&][\w-]+|::?[\w-]+/y },
  { kind: 'function', match: /[A-Za-z-]{1,64}(?=\()/y },
  { kind: 'plain', match: /[\w-]+/y },
])

const sql = code(
  [{ kind: 'comment', match: /--.*/y }, blockComment, { kind: 'string', match: /'(?:''|[^'])*'?/y }, doubleQuoted],
  {
    ignoresCase: true,
    keywords: words(
      'add|all|alter|and|as|asc|begin|between|by|cascade|case|check|column|commit|constraint|create|cross|delete|desc|distinct|drop|else|end|exists|explain|foreign|from|full|group|having|if|in|index|inner|insert|into|is|join|key|left|like|limit|not|offset|on|or|order|outer|over|partition|primary|references|returning|right|rollback|select|set|table|then|union|unique|update|using|values|view|when|where|with|bigint|boolean|char|date|integer|int|json|jsonb|numeric|real|serial|text|timestamp|timestamptz|uuid|varchar',
    ),
    literals: words(commonLiterals),
  },
)

const go = code([...cLike, { kind: 'string', match: /`[^`]*`?/y }, singleQuoted], {
  keywords: words(
    'break|case|chan|const|continue|default|defer|else|fallthrough|for|func|go|goto|if|import|interface|map|package|range|return|select|struct|switch|type|var|any|bool|byte|error|float32|float64|int|int32|int64|rune|string|uint|uint64',
  ),
  literals: words('true|false|nil|iota'),
})

const rust = code(
  [
    ...cLike,
    { kind: 'string', match: /'(?:\\[^']{1,8}|[^'\\\n])'/y },
    { kind: 'meta', match: /#!?\[[^\]\n]*\]?|'[a-z_]\w*/y },
    { kind: 'function', match: /[A-Za-z_]\w{0,64}!(?=[([{ ])/y },
  ],
  {
    keywords: words(
      'as|async|await|break|const|continue|crate|dyn|else|enum|extern|fn|for|if|impl|in|let|loop|match|mod|move|mut|pub|ref|return|self|Self|static|struct|super|trait|type|unsafe|use|where|while|bool|char|f32|f64|i32|i64|isize|str|u8|u16|u32|u64|usize',
    ),
    literals: words('true|false'),
  },
)

const java = code([...cLike, singleQuoted, { kind: 'meta', match: /@\w+/y }], {
  keywords: words(
    'abstract|assert|async|await|boolean|break|byte|case|catch|char|class|const|continue|default|do|double|else|enum|extends|final|finally|float|for|foreach|fun|func|guard|if|implements|import|in|instanceof|int|interface|internal|is|let|long|namespace|new|object|open|operator|out|override|package|private|protected|public|readonly|record|return|sealed|short|static|string|struct|super|switch|synchronized|this|throw|throws|transient|try|using|val|var|virtual|void|volatile|when|where|while|yield',
  ),
  literals: words(`${commonLiterals}|nil`),
})

const c = code([...cLike, singleQuoted, { kind: 'meta', match: /#[ \t]*[a-z]+(?:[ \t]*<[^>\n]{0,256}>)?/y }], {
  keywords: words(
    'alignas|auto|bool|break|case|catch|char|class|concept|const|constexpr|continue|default|delete|do|double|else|enum|explicit|extern|final|float|for|friend|goto|if|inline|int|long|mutable|namespace|new|noexcept|operator|override|private|protected|public|register|requires|return|short|signed|sizeof|static|struct|switch|template|this|throw|try|typedef|typename|union|unsigned|using|virtual|void|volatile|while|size_t|uint8_t|uint32_t|uint64_t|int32_t|int64_t',
  ),
  literals: words('true|false|NULL|nullptr'),
})

const diff: Language = {
  states: {
    root: [
      { kind: 'meta', match: /(?:diff |index |--- |\+\+\+ |@@).*\n?/y },
      { kind: 'inserted', match: /\+.*\n?/y },
      { kind: 'deleted', match: /-.*\n?/y },
      { kind: 'plain', match: /.*\n?/y },
    ],
  },
}

const toml: Language = {
  states: {
    root: [
      { kind: 'meta', match: /^[ \t]{0,16}\[[^\]\n]*\]{0,2}/my },
      { kind: 'key', match: /^[ \t]{0,16}[\w."-]{1,128}(?=[ \t]{0,16}=)/my },
      space,
      { kind: 'comment', match: /[#;].*/y },
      { kind: 'string', match: /"""[^]*?(?:"""|$)|"(?:\\[^]|[^"\\\n])*"?|'[^'\n]*'?/y },
      name,
      number,
    ],
  },
  literals: words('true|false'),
}

/** By id. */
export const languages: ReadonlyMap<string, Language> = new Map(
  Object.entries({ javascript, json, yaml, python, bash, markup, css, sql, go, rust, java, c, diff, toml }),
)
