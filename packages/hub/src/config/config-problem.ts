/** Problems of a configuration as messages with a suggested fix. All problems are reported together, each with its location. */
import { z } from 'zod'
import { nearestName } from '@parley/a2a/command-line'

export interface ConfigProblem {
  readonly path: ConfigPath
  readonly line?: number
  readonly message: string
}

type Issue = z.core.$ZodIssue
type RawIssue = Parameters<z.core.$ZodErrorMap>[0]

const expectedByType: Readonly<Record<string, string>> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be a mapping',
  record: 'must be a mapping',
}

/** The zod error messages for schemas that define none. `alsoKnown`: valid names beside those of the schema in question. */
export function configErrorMap(alsoKnown: readonly string[] = []): z.core.$ZodErrorMap {
  return (issue: RawIssue) => {
    const missing = issue.input === undefined ? 'is missing: ' : ''
    switch (issue.code) {
      case 'invalid_type':
        return `${missing}${expectedByType[issue.expected] ?? `must be ${issue.expected}`}`
      case 'invalid_value':
        return `${missing}must be ${joinWithOr(issue.values.map(String))}`
      case 'too_small':
        return issue.origin === 'array' ? 'is empty' : `must be at least ${issue.minimum}`
      case 'too_big':
        return `must be at most ${issue.maximum}`
      case 'unrecognized_keys':
        return JSON.stringify(unknownKeys(issue.keys, [...keysOfSchema(issue.inst), ...alsoKnown]))
      default:
        return undefined
    }
  }
}

/** Finding similar names takes 100 µs, so suggestions stop after this many keys. */
const maxSuggestions = 100

function unknownKeys(keys: readonly string[], known: readonly string[]): readonly string[] {
  return keys.map((key, index) => (index < maxSuggestions ? unknownKey(key, known) : 'unknown setting'))
}

function unknownKey(key: string, known: readonly string[]): string {
  const suggestion = nearestName(key, known)
  if (suggestion !== undefined) return `unknown setting: did you mean ${suggestion}?`
  return known.length === 0 ? 'unknown setting' : `unknown setting: use one of ${known.toSorted().join(', ')}`
}

function keysOfSchema(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

export function joinWithOr(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** Returns one problem per fix that the operator has to make. */
export function toProblems(issues: readonly Issue[], base: ConfigPath = []): readonly ConfigProblem[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path.map(stepOf)]
    switch (issue.code) {
      case 'unrecognized_keys': {
        const messages = JSON.parse(issue.message) as readonly string[]
        return issue.keys.map((key, index) => ({ path: [...path, key], message: messages[index] ?? 'unknown setting' }))
      }
      case 'invalid_union':
        return unionProblems(issue, path)
      case 'invalid_key':
        return toProblems(issue.issues, path)
      default:
        return [{ path, message: issue.message }]
    }
  })
}

/** Reports the alternative that matches furthest, most likely the intended one. If none matches at all, names all of them. */
function unionProblems(issue: Extract<Issue, { code: 'invalid_union' }>, path: ConfigPath): readonly ConfigProblem[] {
  const branches = issue.errors.filter((errors) => errors.length > 0)
  const inside = branches.filter((errors) => !errors.some((one) => one.path.length === 0 && concernsWholeValue(one)))
  const [best] = inside.toSorted((a, b) => branchCost(a) - branchCost(b))
  if (best !== undefined) return toProblems(best, path)
  if (issue.message !== 'Invalid input') return [{ path, message: issue.message }]
  const messages = new Set(branches.flatMap((errors) => toProblems(errors).map(({ message }) => message)))
  return [{ path, message: [...messages].join(', or ') || issue.message }]
}

function concernsWholeValue({ code }: Issue): boolean {
  return code !== 'unrecognized_keys'
}

/** An unknown name counts more against an alternative than an invalid value. */
function branchCost(errors: readonly Issue[]): number {
  return errors.reduce((sum, one) => sum + (one.code === 'unrecognized_keys' ? 10 * one.keys.length : 1), 0)
}

function stepOf(step: PropertyKey): string | number {
  return typeof step === 'symbol' ? String(step) : step
}

/** A path in a configuration and its text form. */

export type ConfigPath = readonly (string | number)[]

/** `agents.gpt.tools[0].mcp` */
export function formatPath(path: ConfigPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    const word = /^[\w~-]+$/.test(step) ? step : JSON.stringify(step)
    return text === '' ? word : `${text}.${word}`
  }, '')
}
