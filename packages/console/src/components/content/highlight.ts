/**
 * Splits code into tokens for highlighting: one lexer, driven by the tables of languages.ts. It takes linear time and never fails,
 * whatever the text: at every position either a rule matches at least one character, or the character is plain.
 */
import { languages, type Language, type Rule, type TokenKind } from './languages.ts'

export type { TokenKind } from './languages.ts'

export interface Token {
  readonly kind: TokenKind
  readonly text: string
}

/** The tokens of a text. Joined, they are the text. An unknown language gives one plain token. */
export function tokenize(text: string, language: string): readonly Token[] {
  return [...readTokens(text, language)]
}

/** The same, one by one, so that a long text can be read in slices. */
export function* readTokens(text: string, language: string): Generator<Token, void, undefined> {
  const table = languages.get(language)
  let plainFrom = 0
  let state = 'root'
  let at = table === undefined ? text.length : 0
  while (table !== undefined && at < text.length) {
    const found = matchRule(table, state, text, at)
    if (found === undefined) {
      at += 1
      continue
    }
    const [kind, end, next] = found
    state = next ?? state
    if (kind !== 'plain') {
      if (plainFrom < at) yield { kind: 'plain', text: text.slice(plainFrom, at) }
      yield { kind, text: text.slice(at, end) }
      plainFrom = end
    }
    at = end
  }
  if (plainFrom < text.length) yield { kind: 'plain', text: text.slice(plainFrom) }
}

type Match = readonly [kind: TokenKind, end: number, next: string | undefined]

function matchRule(table: Language, state: string, text: string, at: number): Match | undefined {
  for (const rule of table.states[state] ?? []) {
    const end = endOfMatch(rule, text, at)
    if (end === undefined || end <= at) continue
    return [rule.kind === 'word' ? kindOfWord(table, text, at, end) : rule.kind, end, rule.next]
  }
  return undefined
}

function endOfMatch({ match, after }: Rule, text: string, at: number): number | undefined {
  if (typeof match === 'function') return match(text, at)
  if (after !== undefined && !after.test(lastVisible(text, at))) return undefined
  match.lastIndex = at
  return match.test(text) ? match.lastIndex : undefined
}

/** How far `after` looks back: a longer gap counts as none. */
const maxGap = 64

/** The last character before a position that is not whitespace. Empty at the start. */
function lastVisible(text: string, at: number): string {
  return text
    .slice(Math.max(0, at - maxGap), at)
    .trimEnd()
    .slice(-1)
}

function kindOfWord(
  { keywords, literals, ignoresCase = false }: Language,
  text: string,
  at: number,
  end: number,
): TokenKind {
  const written = text.slice(at, end)
  const word = ignoresCase ? written.toLowerCase() : written
  // What follows a dot is a member, whatever its name.
  const isMember = text[at - 1] === '.'
  if (!isMember && keywords?.has(word) === true) return 'keyword'
  if (!isMember && literals?.has(word) === true) return 'literal'
  if (text[end] === '(') return 'function'
  return !ignoresCase && /^[A-Z][A-Za-z\d]*[a-z]/.test(written) ? 'type' : 'plain'
}
