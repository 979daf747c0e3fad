/**
 * Reads a configuration of deploy/ with the addresses and files of this machine. A test that changed anything else would not test
 * the file that users get, so only values of these kinds are replaced, and the rest is compared with the file.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Substitution = readonly [printed: string, own: string]

/** A port to listen on, an address of a hub, a host name, the place of a certificate, and a line with one that is optional. */
const replaceable = [
  /^listen \d+$/,
  /^\d+\.\d+\.\d+\.\d+:\d+$/,
  /^hub\.example\.com$/,
  /^\/etc\/[\w./-]+\/hub\.example\.com$/,
  /^# tls \S+ \S+$/,
]

export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

export function readDeployFile(file: string): string {
  return readFileSync(join(import.meta.dirname, '../../../deploy', file), 'utf8')
}

export function substitute(file: string, substitutions: readonly Substitution[]): string {
  return substituteText(readDeployFile(file), substitutions)
}

export function substituteText(printed: string, substitutions: readonly Substitution[]): string {
  for (const [value] of substitutions) {
    assert.ok(
      replaceable.some((kind) => kind.test(value)),
      `a test must not replace ${value}`,
    )
    assert.ok(printed.includes(value), `the file does not have ${value}`)
  }
  // The longest first: a path may contain the host name.
  const sorted = [...substitutions].sort(([a], [b]) => b.length - a.length)
  const pattern = new RegExp(sorted.map(([value]) => escapePattern(value)).join('|'), 'g')
  const own = new Map(substitutions)
  const result = printed.replaceAll(pattern, (value) => own.get(value) ?? value)
  assertSameRest(printed, result, pattern)
  return result
}

/** Line by line: what is around the replaced values stayed as it was. */
function assertSameRest(printed: string, result: string, pattern: RegExp): void {
  const lines = result.split('\n')
  printed.split('\n').forEach((line, index) => {
    let rest = lines[index] ?? ''
    for (const piece of line.split(pattern)) {
      const at = rest.indexOf(piece)
      assert.ok(at >= 0, `line ${index + 1} of the file became ${lines[index]}`)
      rest = rest.slice(at + piece.length)
    }
  })
  assert.equal(lines.length, printed.split('\n').length)
}
