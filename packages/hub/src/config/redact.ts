/**
 * The text of a configuration as it may be shown to whoever edits it: as it is written, comments and all, but without its
 * secrets; and back again, with the secrets in their places that were left as they were shown.
 */
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { AgentKind } from '../agents/kind.ts'
import { readDocument } from './document.ts'
import { pathText } from './path.ts'
import type { Path } from './path.ts'
import { hidden, shownTree } from './print.ts'
import type { Problem } from './problem.ts'

/** A value as it stands in the text. */
interface Written {
  readonly path: Path
  readonly start: number
  readonly end: number
  readonly value: unknown
}

export function redactText(text: string, kinds: readonly AgentKind[]): string {
  const shown = shownOf(text, kinds)
  const secrets = writtenIn(text).flatMap((one) => {
    const value = valueAt(shown, one.path)
    return typeof value === 'string' && value.includes(hidden) && value !== one.value
      ? [{ ...one, by: quoted(value) }]
      : []
  })
  return splice(text, secrets)
}

/** To find the line of each takes a look through the text, and nobody reads more. */
const mostProblems = 100

export type Restored = { readonly text: string } | { readonly problems: readonly Problem[] }

/** `current` is the text with the secrets that `edited` was shown without. */
export function restoreText(edited: string, current: string, kinds: readonly AgentKind[]): Restored {
  const hiddenOnes = writtenIn(edited).filter(({ value }) => typeof value === 'string' && value.includes(hidden))
  if (hiddenOnes.length === 0) return { text: edited }
  const known = new Map(writtenIn(current).map((one) => [pathText(one.path), one]))
  const [before, after] = [shownOf(current, kinds), treeOf(edited)]
  const problems: Problem[] = []
  const replaced = hiddenOnes.flatMap((one) => {
    const secret = known.get(pathText(one.path))
    const isSame = secret !== undefined && valueAt(before, one.path) === one.value && isInPlace(one.path, before, after)
    if (isSame) return [{ ...one, by: sourceOf(secret, current) }]
    if (problems.length >= mostProblems) return []
    problems.push({
      path: one.path,
      line: lineOf(edited, one.start),
      message: 'say the secret again: it was not here before',
    })
    return []
  })
  return problems.length > 0 ? { problems } : { text: splice(edited, replaced) }
}

/** What is in a list is known by its place: if anything else in the item is otherwise, it may be another one. */
function isInPlace(path: Path, before: unknown, after: unknown): boolean {
  const lists = path.flatMap((step, at) => (typeof step === 'number' ? [path.slice(0, at)] : []))
  return lists.every((list) => JSON.stringify(valueAt(before, list)) === JSON.stringify(valueAt(after, list)))
}

function shownOf(text: string, kinds: readonly AgentKind[]): unknown {
  const { tree, references } = readDocument(text, {})
  // What nobody wrote is no secret either.
  return withoutDefaults(shownTree({ tree, references }, kinds), tree)
}

/** Nothing for a text that is no tree, which is told when it is loaded. */
function treeOf(text: string): unknown {
  try {
    return parseDocument(text, { merge: true, uniqueKeys: false }).toJS() as unknown
  } catch {
    return undefined
  }
}

function withoutDefaults(shown: unknown, written: unknown): unknown {
  if (Array.isArray(shown) && Array.isArray(written)) {
    return shown.map((item: unknown, at) => withoutDefaults(item, written[at]))
  }
  if (typeof shown !== 'object' || shown === null || typeof written !== 'object' || written === null) return shown
  const kept = Object.entries(shown).filter(([name]) => name in written)
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutDefaults(part, Reflect.get(written, name))]))
}

function writtenIn(text: string): readonly Written[] {
  const found: Written[] = []
  const walk = (node: unknown, path: Path): void => {
    if (isMap(node)) {
      for (const { key, value } of node.items) walk(value, [...path, String(isScalar(key) ? key.value : key)])
    } else if (isSeq(node)) node.items.forEach((item, at) => walk(item, [...path, at]))
    else if (isScalar(node) && node.range) {
      const [start, end] = node.range
      found.push({ path, start, end, value: node.value })
    }
  }
  walk(parseDocument(text, { merge: true, uniqueKeys: false }).contents, [])
  return found
}

/** As it is written, if it fits into one line wherever that stands. */
function sourceOf({ start, end, value }: Written, text: string): string {
  const source = text.slice(start, end)
  return source.includes('\n') ? quoted(String(value)) : source
}

function quoted(value: string): string {
  return JSON.stringify(value)
}

function splice(text: string, changes: readonly (Written & { readonly by: string })[]): string {
  let made = ''
  let at = 0
  for (const { start, end, by } of changes.toSorted((a, b) => a.start - b.start)) {
    // The line that a block ends with is not part of what is in it.
    const tail = /\n\s*$/.exec(text.slice(start, end))?.[0] ?? ''
    made += text.slice(at, start) + by + tail
    at = end
  }
  return made + text.slice(at)
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

function valueAt(tree: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined | null)?.[step], tree)
}
