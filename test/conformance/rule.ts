/** The shape of the rule book: what docs/contributing/conformance is made from and what test names may cite. */

export type Level = 'must' | 'should' | 'may' | 'decision' | 'practice'
export type Version = '0.2' | '0.3' | '1.0'

export interface Rule {
  readonly id: string
  readonly level: Level
  readonly versions: readonly Version[]
  readonly text: string
  /** Why no test covers this rule yet. Every other rule needs at least one. */
  readonly open?: string
}

export interface Section {
  readonly title: string
  /** One or two sentences for a reader who does not know the protocol. */
  readonly about: string
  readonly rules: readonly Rule[]
}

export const allVersions: readonly Version[] = ['0.2', '0.3', '1.0']
export const legacyVersions: readonly Version[] = ['0.2', '0.3']
export const v0_3: readonly Version[] = ['0.3']
export const v1: readonly Version[] = ['1.0']

const ruleOf =
  (level: Level) =>
  (id: string, versions: readonly Version[], text: string, options: { readonly open?: string } = {}): Rule => ({
    id,
    level,
    versions,
    text,
    ...options,
  })

/** From the specification. */
export const must = ruleOf('must')
export const should = ruleOf('should')
export const may = ruleOf('may')
/** The specification is silent or contradicts itself; this is our choice. */
export const decision = ruleOf('decision')
/** Not specified, but existing peers do it and rely on it. */
export const practice = ruleOf('practice')
