/** The coloured lines of a YAML text: tokens split at line ends, with references to the environment in a colour of their own. */
import { tokenize, type Token } from '../content/highlight.ts'

export type TokenLine = readonly Token[]

export function yamlLines(text: string): readonly TokenLine[] {
  const lines: Token[][] = [[]]
  for (const { kind, text: whole } of tokenize(text, 'yaml')) {
    for (const [index, piece] of whole.split('\n').entries()) {
      if (index > 0) lines.push([])
      if (piece !== '') lines.at(-1)?.push(...(kind === 'string' ? withVariables(piece) : [{ kind, text: piece }]))
    }
  }
  return lines
}

function withVariables(text: string): readonly Token[] {
  return text
    .split(/(\$\{[^}]*\})/)
    .flatMap((piece, index): readonly Token[] =>
      piece === '' ? [] : [{ kind: index % 2 === 1 ? 'keyword' : 'string', text: piece }],
    )
}
