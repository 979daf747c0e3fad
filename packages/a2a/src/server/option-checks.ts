/**
 * Checks option objects when a program starts. An option that nobody reads, such as `authentcate`, must not start an open server, and
 * a wrong value must not wait for the first request. All problems are reported together.
 */
import { nearestName } from '../model/command-line.ts'
import { isStruct } from '../model/struct.ts'
import { ConfigError } from './config-error.ts'

export interface OptionProblem {
  readonly path: string
  readonly message: string
}

/** Called with values other than `undefined`. */
export type OptionCheck = (value: unknown, path: string) => readonly OptionProblem[]
export type ChecksOf<Name extends PropertyKey> = Readonly<Record<Name, OptionCheck>>
export type OptionChecks = ChecksOf<string>

export function throwConfigError([first, ...others]: readonly OptionProblem[]): void {
  if (first === undefined) return
  const lines = [first.message, ...others.map(({ path, message }) => `${path}: ${message}`)]
  throw new ConfigError(first.path, lines.join('\n'))
}

/** For values that are checked where they are used, or that are only passed on. */
export const unchecked: OptionCheck = () => []

function must(isValid: (value: unknown) => boolean, what: string): OptionCheck {
  return (value, path) => (isValid(value) ? [] : [{ path, message: `must be ${what}` }])
}

/** For options that hold no secret: the message shows a number or a short text. */
function mustAndShow(isValid: (value: unknown) => boolean, what: string): OptionCheck {
  return (value, path) => must(isValid, `${what}${valueText(value)}`)(value, path)
}

function valueText(value: unknown): string {
  if (typeof value === 'number') return `; it is ${value}`
  return typeof value === 'string' && value.length < 20 ? `; it is '${value}'` : ''
}

const isNumberFrom = (value: unknown, least: number): boolean => typeof value === 'number' && value >= least
const isListOf = (isValid: (one: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every((one) => isValid(one))
const isText = (value: unknown): boolean => typeof value === 'string'

export const isBoolean = must((value) => typeof value === 'boolean', 'true or false')
export const isFunction = must((value) => typeof value === 'function', 'a function')
export const isString = must(isText, 'a string')
export const isList = must(Array.isArray, 'a list')
export const isStringList = must(isListOf(isText), "a list of strings, such as ['a']")
export const isLimit = mustAndShow((value) => isNumberFrom(value, 0), 'a number, 0 or more')
/** `Infinity`: no limit. */
export const isDuration = mustAndShow((value) => isNumberFrom(value, 0), 'a number of milliseconds, such as 60_000')
export const isPositiveDuration = mustAndShow(
  (value) => isNumberFrom(value, Number.MIN_VALUE),
  'a number of milliseconds above 0, such as 60_000',
)
/** For timers of Node, which take no other number. */
export const isTimerDuration = mustAndShow(
  (value) => isNumberFrom(value, 0) && Number(value) < 2 ** 31,
  'a number of milliseconds below 25 days, such as 60_000',
)
export const isPort = mustAndShow(
  (value) => Number.isInteger(value) && isNumberFrom(value, 0) && Number(value) <= 65_535,
  'a whole number from 0 to 65535, where 0 picks a free port',
)
export const isLog = must(
  (value) => typeof (value as { readonly warn?: unknown } | null)?.warn === 'function',
  'an object with debug, info, warn and error, such as console',
)

export function isOneOf(...values: readonly string[]): OptionCheck {
  return mustAndShow((value) => isText(value) && values.includes(String(value)), `one of ${values.join(', ')}`)
}

export function isListOfAny(...values: readonly string[]): OptionCheck {
  return must(
    isListOf((one) => values.includes(String(one))),
    `a list of ${values.join(', ')}`,
  )
}

/** The first check applies to `value`, the other one to everything else: `true` or an object. */
export const eitherOf =
  (values: readonly unknown[], other: OptionCheck): OptionCheck =>
  (value, path) =>
    values.includes(value) ? [] : other(value, path)

export const eachOf =
  (check: OptionCheck): OptionCheck =>
  (value, path) =>
    Array.isArray(value) ? value.flatMap((one, index) => check(one, `${path}[${index}]`)) : isList(value, path)

/** An object with these options and no others; `explain` as for `checkNames`. */
export const isClosed =
  (checks: OptionChecks, explain?: (name: string) => string | undefined): OptionCheck =>
  (value, path) =>
    isStruct(value) ? checkNames(value, checks, `${path}.`, explain) : [{ path, message: 'must be an object' }]

/** `explain` may say why an option that has no check does not belong here. */
export function checkNames(
  options: object,
  checks: OptionChecks,
  prefix: string,
  explain: (name: string) => string | undefined = () => undefined,
): readonly OptionProblem[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const path = `${prefix}${name}`
    if (Object.hasOwn(checks, name)) return value === undefined ? [] : (checks[name]?.(value, path) ?? [])
    const explanation = explain(name)
    // An option that exists, and that the caller leaves out.
    if (explanation !== undefined && value === undefined) return []
    return [{ path, message: explanation ?? unknownOption(name, Object.keys(checks)) }]
  })
}

function unknownOption(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  return nearest === undefined ? 'unknown option' : `unknown option: did you mean \`${nearest}\`?`
}
