/** How text that arrives in chunks becomes one part: the same in the task of a server and in what a client adds up. */
import type { Part } from './task.ts'

/** Joins text with the text before it, so that a reply of 16,000 tokens is one part. */
export function appendPart(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  if (last !== undefined && isBareText(last) && isBareText(part)) {
    parts[parts.length - 1] = { text: last.text + part.text }
  } else {
    parts.push(part)
  }
}

/** Whether it has nothing but its text: a name, a type or metadata of one chunk would be lost or apply to others. */
export function isBareText(part: Part): part is { readonly text: string } {
  if (!('text' in part)) return false
  for (const key in part) if (key !== 'text' && part[key as keyof Part] !== undefined) return false
  return true
}
