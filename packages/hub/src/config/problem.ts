/** What is wrong with a configuration, in sentences that say how to mend it: all of it at once, each with its place. */
import { z } from 'zod'
import type { Path } from './path.ts'
import { nearest } from './nearest.ts'

export interface Problem {
  readonly path: Path
  readonly line?: number
  readonly message: string
}

type Issue = z.core.$ZodIssue
type RawIssue = Parameters<z.core.$ZodErrorMap>[0]

const wanted: Readonly<Record<string, string>> = {
  string: 'give a text',
  number: 'give a number',
  int: 'give a whole number',
  boolean: 'say true or false',
  array: 'give a list',
  object: 'give settings: names with values',
  record: 'give names with values',
}

/**
 * What zod says where a schema says nothing of its own. `alsoKnown`: names that would be right beside those of the schema
 * that is asked.
 */
export function sentences(alsoKnown: readonly string[] = []): z.core.$ZodErrorMap {
  return (issue: RawIssue) => {
    const missing = issue.input === undefined ? 'is missing: ' : ''
    switch (issue.code) {
      case 'invalid_type':
        return `${missing}${wanted[issue.expected] ?? `give ${issue.expected}`}`
      case 'invalid_value':
        return `${missing}say ${listed(issue.values.map(String))}`
      case 'too_small':
        return issue.origin === 'array' ? 'is empty' : `give at least ${issue.minimum}`
      case 'too_big':
        return `give at most ${issue.maximum}`
      case 'unrecognized_keys':
        return JSON.stringify(unknownKeys(issue.keys, [...shapeOf(issue.inst), ...alsoKnown]))
      default:
        return undefined
    }
  }
}

/** To look for similar names takes 100 µs: of more keys than this, nobody reads what is said of the last. */
const mostSuggestions = 100

function unknownKeys(keys: readonly string[], known: readonly string[]): readonly string[] {
  return keys.map((key, index) => (index < mostSuggestions ? unknownKey(key, known) : 'is no setting'))
}

function unknownKey(key: string, known: readonly string[]): string {
  const near = nearest(key, known)
  if (near !== undefined) return `is no setting: did you mean ${near}?`
  return known.length === 0 ? 'is no setting' : `is no setting here: there are ${known.toSorted().join(', ')}`
}

function shapeOf(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** One problem for each thing that is to be mended. */
export function problemsOf(issues: readonly Issue[], base: Path = []): readonly Problem[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path.map(stepOf)]
    switch (issue.code) {
      case 'unrecognized_keys': {
        const said = JSON.parse(issue.message) as readonly string[]
        return issue.keys.map((key, index) => ({ path: [...path, key], message: said[index] ?? 'is no setting' }))
      }
      case 'invalid_union':
        return unionProblems(issue, path)
      case 'invalid_key':
        return problemsOf(issue.issues, path)
      default:
        return [{ path, message: issue.message }]
    }
  })
}

/** What whoever wrote it most likely meant: the alternative that got furthest. Where none got anywhere, all are named. */
function unionProblems(issue: Extract<Issue, { code: 'invalid_union' }>, path: Path): readonly Problem[] {
  const branches = issue.errors.filter((errors) => errors.length > 0)
  const inside = branches.filter((errors) => !errors.some((one) => one.path.length === 0 && isOfWhole(one)))
  const [best] = inside.toSorted((a, b) => costOf(a) - costOf(b))
  if (best !== undefined) return problemsOf(best, path)
  if (issue.message !== 'Invalid input') return [{ path, message: issue.message }]
  const said = new Set(branches.flatMap((errors) => problemsOf(errors).map(({ message }) => message)))
  return [{ path, message: [...said].join(', or ') || issue.message }]
}

function isOfWhole({ code }: Issue): boolean {
  return code !== 'unrecognized_keys'
}

/** A name that an alternative does not know speaks more against it than a value it does not like. */
function costOf(errors: readonly Issue[]): number {
  return errors.reduce((sum, one) => sum + (one.code === 'unrecognized_keys' ? 10 * one.keys.length : 1), 0)
}

function stepOf(step: PropertyKey): string | number {
  return typeof step === 'symbol' ? String(step) : step
}
