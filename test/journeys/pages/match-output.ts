/** Compares what a command printed with what a page shows. `…` on a page stands for anything: ids, times, lines left out. */
import assert from 'node:assert/strict'
import type { ExpectedOutput } from './page-steps.ts'

/** Throws unless `actual` is what the page shows. */
export function assertOutput(actual: string, { format, content }: ExpectedOutput): void {
  if (format === 'text') return assert.match(tidy(actual), textPattern(content, 'whole'))
  let value: unknown
  try {
    value = JSON.parse(actual)
  } catch {
    assert.fail(`the page shows JSON, and the command printed:\n${actual}`)
  }
  const expected = JSON.parse(content) as unknown
  if (!matchesJson(value, expected)) assert.deepEqual(value, expected)
}

/** Whether a program that keeps running has printed all the lines that the page shows, possibly between others. */
export function hasPrinted(actual: string, { content }: ExpectedOutput): boolean {
  return textPattern(content, 'part').test(tidy(actual))
}

const tidy = (text: string): string => text.replaceAll(/[ \t]+$/gm, '').trim()

function textPattern(expected: string, extent: 'whole' | 'part'): RegExp {
  const lines = tidy(expected).split('\n')
  const source = lines
    .map((line, at) => {
      const end = at === lines.length - 1 ? '' : '\\n'
      if (line.trim() === '…') return at === lines.length - 1 ? '[\\s\\S]*' : '(?:.*\\n)*?'
      return line.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*') + end
    })
    .join(extent === 'whole' ? '' : '(?:.*\\n)*?')
  return extent === 'whole' ? new RegExp(`^${source}$`) : new RegExp(`^${source}$`, 'm')
}

/** Equal, apart from strings with `…`. A member `"…": "…"` allows further members. */
export function matchesJson(actual: unknown, expected: unknown): boolean {
  if (typeof expected === 'string') {
    if (!expected.includes('…')) return actual === expected
    return expected === '…' || (typeof actual === 'string' && textPattern(expected, 'whole').test(actual))
  }
  if (typeof expected !== 'object' || expected === null) return actual === expected
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual) !== Array.isArray(expected)) return false
  const isOpen = '…' in expected
  const names = Object.keys(expected).filter((name) => name !== '…')
  if (!isOpen && Object.keys(actual).length !== names.length) return false
  const members = actual as Record<string, unknown>
  return names.every(
    (name) => name in members && matchesJson(members[name], (expected as Record<string, unknown>)[name]),
  )
}
