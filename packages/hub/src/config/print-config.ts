/**
 * Prints a configuration: all effective values, including defaults, and no secrets. Values from the environment are printed as
 * their references. Values that are secret by schema or by name are redacted.
 */
import { stringify } from 'yaml'
import type { AgentKind } from '../agents/kind.ts'
import { formatPath, type ConfigPath } from './config-problem.ts'
import { configSchema, type JsonSchema } from './json-schema.ts'
import { hiddenText, hideInArguments, hideInCommand, hideInUrls } from './secret-text.ts'

export { hiddenText } from './secret-text.ts'

/** Fields of external agent kinds may not be marked as secret, so names are matched too. */
const secretName =
  /(^|[^a-z])(secret|token|password|passwd|credentials?|authorization|cookie|api-?key|private-?key|key)$/i
/** A command to run: a string, or a list of arguments. */
const commandName = /^(command|cmd|args?|arguments|argv|program|exec|run)$/i
/** Maps whose values are always redacted. */
const secretMap = /^(headers|env|environment)$/i

export interface PrintableConfig {
  readonly tree: unknown
  readonly references: ReadonlyMap<string, string>
}

export function printConfig(printable: PrintableConfig, kinds: readonly AgentKind[]): string {
  return stringify(redactTree(printable, kinds), { lineWidth: 0 })
}

/** Returns the tree that `printConfig` prints. */
export function redactTree({ tree, references }: PrintableConfig, kinds: readonly AgentKind[]): unknown {
  return redactValue(tree, { schema: configSchema(kinds), path: [], isSecret: false, references })
}

interface RedactContext {
  readonly schema: JsonSchema | undefined
  readonly path: ConfigPath
  /** Whether everything below is secret. */
  readonly isSecret: boolean
  readonly references: PrintableConfig['references']
}

function redactValue(value: unknown, context: RedactContext): unknown {
  const { schema, path, references } = context
  const reference = references.get(formatPath(path))
  // A value with a reference may also contain a literal secret.
  if (reference !== undefined) return typeof value === 'string' ? redactPlain(reference, path) : value
  const name = String(path.at(-1) ?? '')
  const isSecret = context.isSecret || schema?.writeOnly === true || secretMap.test(name)
  if (typeof value !== 'object' || value === null)
    return isSecret || isSecretName(name) ? hideScalar(value) : redactPlain(value, path)
  const shape = pickAlternative(schema, value)
  const redactChild = (item: unknown, part: JsonSchema | undefined, step: string | number): unknown =>
    redactValue(item, { schema: part, path: [...path, step], isSecret, references })
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => redactChild(item, shape?.items, index))
    return !isSecret && commandName.test(name) ? redactCommand(value, items, context) : items
  }
  const redactProperty = ([key, item]: [string, unknown]): [string, unknown] => [
    key,
    redactChild(item, propertySchema(shape, key), key),
  ]
  const written = Object.entries(value).map(redactProperty)
  const unwritten = defaultsOf(shape).filter(([key]) => !(key in value))
  return Object.fromEntries([...written, ...unwritten.map(redactProperty).filter(([, item]) => !isEmpty(item))])
}

function hideScalar(value: unknown): unknown {
  return typeof value === 'string' || typeof value === 'number' ? hiddenText : value
}

function redactPlain(value: unknown, path: ConfigPath): unknown {
  if (typeof value !== 'string') return value
  const isCommand = commandName.test(String(path.at(-1) ?? ''))
  return isCommand ? hideInCommand(value, () => hiddenText) : hideInUrls(value, () => hiddenText)
}

/** Whether an argument is secret depends on the one before it. */
function redactCommand(
  written: readonly unknown[],
  items: readonly unknown[],
  { path, references }: RedactContext,
): readonly unknown[] {
  const words = written.map((item, at) =>
    typeof item === 'string' ? (references.get(formatPath([...path, at])) ?? item) : '',
  )
  const shownWords = hideInArguments(words, () => hiddenText)
  return items.map((item, at) => (typeof item === 'string' ? shownWords[at] : item))
}

/** Matches `apiKey` and `API_KEY` alike, and not `perKey`, which is a rate. */
function isSecretName(name: string): boolean {
  const words = name.replaceAll(/([a-z])([A-Z])/g, '$1-$2').replaceAll('_', '-')
  return secretName.test(words) && !/^per-/i.test(words)
}

/** Returns the defaults of a shape. */
function defaultsOf(shape: JsonSchema | undefined): [string, unknown][] {
  const parts = Object.entries(shape?.properties ?? {})
  return parts.filter(([, part]) => part.default !== undefined).map(([key, part]) => [key, part.default])
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function propertySchema(shape: JsonSchema | undefined, key: string): JsonSchema | undefined {
  const more = shape?.additionalProperties
  return shape?.properties?.[key] ?? (typeof more === 'object' ? more : undefined)
}

/** Of several shapes, returns the one that the value has, by its kind or by its field names. */
function pickAlternative(schema: JsonSchema | undefined, value: object): JsonSchema | undefined {
  const shapes = schema?.anyOf ?? schema?.oneOf
  if (shapes === undefined) return schema
  const fits = (shape: JsonSchema): boolean => {
    if (Array.isArray(value)) return shape.type === 'array'
    const keys = Object.entries(value)
    return (
      shape.properties !== undefined &&
      keys.every(([key, item]) => {
        const part = shape.properties?.[key]
        return part !== undefined && (part.const === undefined || part.const === item)
      })
    )
  }
  return shapes.find(fits)
}
