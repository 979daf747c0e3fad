/**
 * Placeholders in generated requests for what only a running server or the text itself can
 * hold: the ids of real tasks, a fresh id, a key that no object literal takes, nesting
 * deeper than a serializer goes. So a failed plan can be printed and sent again.
 */
export const taskTokens = ['~working~', '~asking~', '~signing~', '~done~', '~failed~', '~canceled~'] as const
export type TaskToken = (typeof taskTokens)[number]

export interface ServerFacts {
  readonly tasks: Readonly<Record<TaskToken, string>>
  /** A context that has tasks, and a page token that the server issued. */
  readonly context: string
  readonly page: string
  newId(): string
}

/** Levels of nesting that a body may try. */
export const depth = 5_000
/** More than the servers of the fuzz accept. */
export const tooManyBytes = 1_100_000
export const bodyBytes = 1_000_000

const deepArray = `${'['.repeat(depth)}${']'.repeat(depth)}`
const deepObject = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

/** In a path, a header or a body. */
export function replaceTokens(text: string, facts: ServerFacts): string {
  if (!text.includes('~')) return text
  return text
    .replaceAll(/~(?:working|asking|signing|done|failed|canceled)~/g, (token) => facts.tasks[token as TaskToken])
    .replaceAll('~context~', facts.context)
    .replaceAll('~page~', facts.page)
    .replaceAll('~new~', () => facts.newId())
    .replaceAll('"~deep array~"', deepArray)
    .replaceAll('"~deep object~"', deepObject)
    .replaceAll('~proto~', '__proto__')
    .replaceAll('~long~', 'x'.repeat(20_000))
    .replaceAll('~too long~', 'x'.repeat(tooManyBytes))
}
