/** Colours of YAML: the tokens of each line. Pure and tolerant, because a text is coloured while it is typed. */

export type YamlTokenKind = 'key' | 'string' | 'number' | 'word' | 'comment' | 'mark' | 'variable' | 'text'

export interface YamlToken {
  readonly kind: YamlTokenKind
  readonly text: string
}

export type YamlTokenLine = readonly YamlToken[]

/** Quoted text, comments, variables, marks and plain text, in one pass. */
const pieces =
  /(?<space>\s+)|(?<comment>(?<=^|\s)#.*$)|(?<quoted>"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)|(?<mark>[{}[\],]|(?<=^|\s)[-?](?=\s|$)|:(?=\s|$|[{[])|[&*!][\w-]+|[|>][+-]?(?=\s*(?:#|$)))|(?<plain>(?:[^\s{}[\],:#"']|:(?!\s|$)|(?<=\S)#|["'])(?:[^{}[\],:#]|:(?!\s|$)|(?<=\S)#)*)/gy

export function tokenizeYaml(text: string): readonly YamlTokenLine[] {
  /** The indentation of a key whose block scalar (`|`, `>`) continues. */
  let block: number | undefined
  return text.split('\n').map((line) => {
    const indent = /^ */.exec(line)?.[0].length ?? 0
    if (block !== undefined) {
      if (line.trim() === '' || indent > block) return line === '' ? [] : [{ kind: 'string', text: line }]
      block = undefined
    }
    const tokens = tokenizeLine(line)
    const last = tokens.findLast(({ kind, text: piece }) => kind !== 'comment' && piece.trim() !== '')
    if (last?.kind === 'mark' && /^[|>]/.test(last.text)) block = indent
    return tokens
  })
}

function tokenizeLine(line: string): YamlTokenLine {
  const tokens: YamlToken[] = []
  pieces.lastIndex = 0
  while (pieces.lastIndex < line.length) {
    const at = pieces.lastIndex
    const found = pieces.exec(line)
    if (found === null) {
      tokens.push({ kind: 'text', text: line.slice(at) })
      break
    }
    const { space, comment, quoted, mark, plain } = found.groups ?? {}
    if (space !== undefined) tokens.push({ kind: 'text', text: space })
    else if (comment !== undefined) tokens.push({ kind: 'comment', text: comment })
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark })
    else {
      const piece = quoted ?? plain ?? ''
      const isKey = /^\s*:(\s|$)/.test(line.slice(pieces.lastIndex))
      tokens.push(...(isKey ? [{ kind: 'key', text: piece } as const] : valueTokens(piece, quoted !== undefined)))
    }
  }
  return tokens
}

function valueTokens(piece: string, isQuoted: boolean): readonly YamlToken[] {
  if (!isQuoted && /^(true|false|null|yes|no|on|off|~)\s*$/i.test(piece)) return [{ kind: 'word', text: piece }]
  if (!isQuoted && /^[-+]?(\d[\d_]*(\.\d+)?|0x[\da-f]+)(ms|s|m|h|d|B|kB|MB|GB)?\s*$/i.test(piece)) {
    return [{ kind: 'number', text: piece }]
  }
  return piece
    .split(/(\$\{[^}]*\})/)
    .flatMap((text, index): readonly YamlToken[] =>
      text === '' ? [] : [{ kind: index % 2 === 1 ? 'variable' : 'string', text }],
    )
}
