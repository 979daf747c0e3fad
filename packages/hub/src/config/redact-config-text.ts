/**
 * The text of a configuration for editing: as written, comments included, with secrets redacted. The reverse direction puts secrets
 * back where their placeholders are unchanged.
 */
import { isMap, isScalar, isSeq } from 'yaml'
import type { AgentKind } from '../agents/kind.ts'
import { RouteError } from '../http/json-response.ts'
import { parseConfigDocument, parseYaml, toTree } from './config-document.ts'
import { formatPath, type ConfigPath, type ConfigProblem } from './config-problem.ts'
import { hiddenText, redactTree } from './print-config.ts'

/** A scalar and its position in the text. */
interface ScalarNode {
  readonly path: ConfigPath
  readonly start: number
  readonly end: number
  readonly value: unknown
}

/** Throws RouteError for a text that cannot be parsed: its secrets are not known. */
export function redactConfigText(text: string, kinds: readonly AgentKind[]): string {
  const { problems } = parseConfigDocument(text, {})
  if (problems.length > 0) {
    const reason = problems.map(({ line, message }) => (line === undefined ? message : `line ${line}: ${message}`))[0]
    throw new RouteError('CONFLICT', `The configuration file cannot be shown without its secrets: ${reason}`)
  }
  const shown = redactedTree(text, kinds)
  const secrets = scalarsIn(text).flatMap((one) => {
    const value = valueAt(shown, one.path)
    return typeof value === 'string' && value.includes(hiddenText) && value !== one.value
      ? [{ ...one, by: quoted(value) }]
      : []
  })
  return replaceRanges(text, secrets)
}

/** Finding the line of each problem scans the text, so the list is limited. */
const maxProblems = 100

export type RestoreResult = { readonly text: string } | { readonly problems: readonly ConfigProblem[] }

/** `current` is the text with secrets, of which `edited` is a redacted and edited copy. */
export function restoreConfigText(edited: string, current: string, kinds: readonly AgentKind[]): RestoreResult {
  // Without the start of a placeholder there is none, unless it is escaped. A folded scalar may break the line within it.
  if (!edited.includes(hiddenText.slice(0, 4)) && !edited.includes('\\')) return { text: edited }
  const hiddenScalars = scalarsIn(edited).filter(({ value }) => typeof value === 'string' && value.includes(hiddenText))
  if (hiddenScalars.length === 0) return { text: edited }
  const known = new Map(scalarsIn(current).map((one) => [formatPath(one.path), one]))
  const [before, after] = [redactedTree(current, kinds), parseTree(edited)]
  const problems: ConfigProblem[] = []
  const replaced = hiddenScalars.flatMap((one) => {
    const secret = known.get(formatPath(one.path))
    const isSame =
      secret !== undefined && valueAt(before, one.path) === one.value && isListUnchanged(one.path, before, after)
    if (isSame) return [{ ...one, by: sourceOf(secret, current) }]
    if (problems.length >= maxProblems) return []
    problems.push({
      path: one.path,
      line: lineOf(edited, one.start),
      message: 'enter the secret again: there is no stored value here',
    })
    return []
  })
  return problems.length > 0 ? { problems } : { text: replaceRanges(edited, replaced) }
}

/** List items are identified by index: if any other part of an item changed, it may be a different item. */
function isListUnchanged(path: ConfigPath, before: unknown, after: unknown): boolean {
  const lists = path.flatMap((step, at) => (typeof step === 'number' ? [path.slice(0, at)] : []))
  return lists.every((list) => JSON.stringify(valueAt(before, list)) === JSON.stringify(valueAt(after, list)))
}

function redactedTree(text: string, kinds: readonly AgentKind[]): unknown {
  const { tree, references } = parseConfigDocument(text, {})
  // Defaults that are not in the text contain no secret.
  return withoutDefaults(redactTree({ tree, references }, kinds), tree)
}

/** Returns `undefined` for a text that does not parse; loading it reports the error. */
function parseTree(text: string): unknown {
  const parsed = toTree(parseYaml(text, { merge: true }))
  return 'tree' in parsed ? parsed.tree : undefined
}

function withoutDefaults(shown: unknown, written: unknown): unknown {
  if (Array.isArray(shown) && Array.isArray(written)) {
    return shown.map((item: unknown, at) => withoutDefaults(item, written[at]))
  }
  if (typeof shown !== 'object' || shown === null || typeof written !== 'object' || written === null) return shown
  const kept = Object.entries(shown).filter(([name]) => name in written)
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutDefaults(part, Reflect.get(written, name))]))
}

function scalarsIn(text: string): readonly ScalarNode[] {
  const found: ScalarNode[] = []
  const walk = (node: unknown, path: ConfigPath): void => {
    if (isMap(node)) {
      for (const { key, value } of node.items) walk(value, [...path, String(isScalar(key) ? key.value : key)])
    } else if (isSeq(node)) node.items.forEach((item, at) => walk(item, [...path, at]))
    else if (isScalar(node) && node.range) {
      const [start, end] = node.range
      found.push({ path, start, end, value: node.value })
    }
  }
  walk(parseYaml(text, { merge: true }).contents, [])
  return found
}

/** Returns the source text, if it fits on one line in any position. */
function sourceOf({ start, end, value }: ScalarNode, text: string): string {
  const source = text.slice(start, end)
  return source.includes('\n') ? quoted(String(value)) : source
}

function quoted(value: string): string {
  return JSON.stringify(value)
}

function replaceRanges(text: string, changes: readonly (ScalarNode & { readonly by: string })[]): string {
  let result = ''
  let at = 0
  for (const { start, end, by } of changes.toSorted((a, b) => a.start - b.start)) {
    // The line break that ends a block is not part of its value.
    const tail = /\n\s*$/.exec(text.slice(start, end))?.[0] ?? ''
    result += text.slice(at, start) + by + tail
    at = end
  }
  return result + text.slice(at)
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

function valueAt(tree: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined | null)?.[step], tree)
}
