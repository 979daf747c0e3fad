/**
 * A configuration for people to read: everything that holds, also what nobody wrote, and nothing that is secret. What came
 * out of the environment is shown as the reference it was; what is a secret by its schema or by its name is not shown.
 */
import { stringify } from 'yaml'
import type { AgentKind } from '../agents/kind.ts'
import { pathText } from './path.ts'
import type { Path } from './path.ts'
import { configSchema } from './json-schema.ts'
import type { JsonSchema } from './json-schema.ts'
import { hideInArguments, hideInCommand, hideInUrls } from './secret-text.ts'

export const hidden = '(not shown)'

/** Fields of kinds that come from elsewhere may not say that they are secret. */
const secretName =
  /(^|[^a-z])(secret|token|password|passwd|credentials?|authorization|cookie|api-?key|private-?key|key)$/i
/** What is run: a text, or a list of words. */
const commandName = /^(command|cmd|args?|arguments|argv|program|exec|run)$/i
/** Maps whose values are nobody's business. */
const secretMap = /^(headers|env|environment)$/i

export interface Printable {
  readonly tree: unknown
  readonly references: ReadonlyMap<string, string>
}

export function printConfig(printable: Printable, kinds: readonly AgentKind[]): string {
  return stringify(shownTree(printable, kinds), { lineWidth: 0 })
}

/** What `printConfig` prints. */
export function shownTree({ tree, references }: Printable, kinds: readonly AgentKind[]): unknown {
  return shown(tree, { schema: configSchema(kinds), path: [], isSecret: false, references })
}

interface Place {
  readonly schema: JsonSchema | undefined
  readonly path: Path
  /** Whether everything from here on is. */
  readonly isSecret: boolean
  readonly references: Printable['references']
}

function shown(value: unknown, place: Place): unknown {
  const { schema, path, references } = place
  const reference = references.get(pathText(path))
  // A value with a reference may also contain a literal secret.
  if (reference !== undefined) return typeof value === 'string' ? plain(reference, path) : value
  const name = String(path.at(-1) ?? '')
  const isSecret = place.isSecret || schema?.writeOnly === true || secretMap.test(name)
  if (typeof value !== 'object' || value === null)
    return isSecret || isSecretName(name) ? hiddenIfText(value) : plain(value, path)
  const shape = pick(schema, value)
  const within = (item: unknown, part: JsonSchema | undefined, step: string | number): unknown =>
    shown(item, { schema: part, path: [...path, step], isSecret, references })
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => within(item, shape?.items, index))
    return !isSecret && commandName.test(name) ? shownCommand(value, items, place) : items
  }
  const show = ([key, item]: [string, unknown]): [string, unknown] => [key, within(item, partOf(shape, key), key)]
  const written = Object.entries(value).map(show)
  const unwritten = defaultsOf(shape).filter(([key]) => !(key in value))
  return Object.fromEntries([...written, ...unwritten.map(show).filter(([, item]) => !isEmpty(item))])
}

function hiddenIfText(value: unknown): unknown {
  return typeof value === 'string' || typeof value === 'number' ? hidden : value
}

function plain(value: unknown, path: Path): unknown {
  if (typeof value !== 'string') return value
  const isCommand = commandName.test(String(path.at(-1) ?? ''))
  return isCommand ? hideInCommand(value, () => hidden) : hideInUrls(value, () => hidden)
}

/** Whether an argument is a secret depends on the one before it. */
function shownCommand(
  written: readonly unknown[],
  items: readonly unknown[],
  { path, references }: Place,
): readonly unknown[] {
  const words = written.map((item, at) =>
    typeof item === 'string' ? (references.get(pathText([...path, at])) ?? item) : '',
  )
  const shownWords = hideInArguments(words, () => hidden)
  return items.map((item, at) => (typeof item === 'string' ? shownWords[at] : item))
}

/** `apiKey` and `API_KEY` alike. */
function isSecretName(name: string): boolean {
  return secretName.test(name.replaceAll(/([a-z])([A-Z])/g, '$1-$2').replaceAll('_', '-'))
}

/** What holds where nothing is written. */
function defaultsOf(shape: JsonSchema | undefined): [string, unknown][] {
  const parts = Object.entries(shape?.properties ?? {})
  return parts.filter(([, part]) => part.default !== undefined).map(([key, part]) => [key, part.default])
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function partOf(shape: JsonSchema | undefined, key: string): JsonSchema | undefined {
  const more = shape?.additionalProperties
  return shape?.properties?.[key] ?? (typeof more === 'object' ? more : undefined)
}

/** Of several shapes, the one that this value is of: by its kind, or by its names. */
function pick(schema: JsonSchema | undefined, value: object): JsonSchema | undefined {
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
